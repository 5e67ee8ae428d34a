// Signs a filter that is there. Used by `bloomgate sign`; what makes a filter can have FilterWriter sign it at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "filter/file/secret_key.hpp"

namespace bloomgate {

enum class Signing : std::uint8_t { done, was_there };

// Checks every byte of the filter at `path`, writes a signed copy, and puts that at `output`, which may be `path`, as
// FilterWriter does: no file is changed in place. Where the one at `path` has this key's signature, and is to stay
// there, nothing is written. `progress`, if given, is called with the bytes that are checked, from one thread at a
// time. Throws what MappedFilter, verify_body() and FilterWriter throw.
Signing sign_filter(const std::string& path, const std::string& output, const SecretKey& key, unsigned threads,
                    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace bloomgate
