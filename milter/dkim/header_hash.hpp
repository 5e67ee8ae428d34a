// The hash that a signature signs of the header (RFC 6376 sections 3.4.1, 3.4.2 and 3.7). libopendkim makes it itself,
// but not of a DKIM-Signature field with white space between `b` and `=`: it then leaves the signature in the text that
// it hashes. Only such a field needs this.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bloomgate {

using HeaderHash = std::array<std::uint8_t, 32>;  // SHA-256

// Whether libopendkim does not find the signature in that field, given as in VerifyRequest.
bool needs_own_hash(std::string_view signature_field);

// `header` as in VerifyRequest, and which of its fields is the signature.
HeaderHash header_hash(std::span<const std::string_view> header, std::size_t signature_field);

}  // namespace bloomgate
