// Signs an existing filter. Used by `bloomgate sign`; code that makes a filter can let FilterWriter sign it at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "filter/file/secret_key.hpp"

namespace bloomgate {

enum class Signing : std::uint8_t { done, was_there };

// Checks every byte of the filter at `path`, writes a signed copy, and puts it at `output`, which may be `path`, as
// FilterWriter does: no file is changed in place. If `output` is `path`, and the filter there already has this key's
// signature, nothing is written. Calls `progress`, if given, with the bytes that are checked, from one thread at a
// time. Throws what MappedFilter, verify_body() and FilterWriter throw.
Signing sign_filter(const std::string& path, const std::string& output, const SecretKey& key, unsigned threads,
                    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace bloomgate
