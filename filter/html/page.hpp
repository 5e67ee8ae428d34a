// The parts of an HTML page for a person: one page without a part from elsewhere and without a script, light or dark as
// the reader's machine is, and as wide as a telephone's screen at least. The daemon's status page and the page of
// `bloomgate report` are made of them. Every text that is not the page's own goes through escaped(). Pure; safe from
// any thread. All throw std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// Text for HTML, between tags and in quoted attributes.
std::string escaped(std::string_view text);

// The start of a page with that title, up to its body: `</body></html>` ends it.
std::string page_head(std::string_view title);

// A figure with its caption, for a `<div class="row">`. `text` must be HTML.
std::string fact(std::string_view text, std::string_view caption);

}  // namespace bloomgate
