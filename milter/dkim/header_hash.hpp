// The header hash that a signature signs (RFC 6376 sections 3.4.1, 3.4.2 and 3.7). libopendkim computes it itself, but
// wrongly for a DKIM-Signature field with white space between `b` and `=`: it then leaves the signature in the text
// that it hashes. Only such a field needs this code.
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

// Whether libopendkim fails to find the signature in that field, which has the form of VerifyRequest.
bool needs_own_hash(std::string_view signature_field);

// `header` has the form of VerifyRequest; `signature_field` is the index of the signature's field in it.
HeaderHash header_hash(std::span<const std::string_view> header, std::size_t signature_field);

}  // namespace bloomgate
