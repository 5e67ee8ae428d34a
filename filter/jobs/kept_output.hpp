// What becomes of a filter that is replaced, where it is to be kept.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace bloomgate {

// Tries whether the filter, and the store if there is a path for one, can be kept. Throws BloomgateError{cannot_write}.
void require_can_keep_pair(const std::string& path, const std::string& store_path);

// `keep`, or 0 where the filter at `path`, or the store if there is a path for one, is damaged: a bad one would push
// out a good one. Says so with `show`. Reads all of both, with `threads` threads.
unsigned generations_to_keep(const std::string& path, const std::string& store_path, unsigned keep, unsigned threads,
                             const std::function<void(std::string_view)>& show);

}  // namespace bloomgate
