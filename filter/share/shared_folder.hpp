// The files of a folder in which a host shares what it has learned (shared_pairs.hpp), as its manifest names them. Pure
// but for reading; safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "filter/keep/manifest.hpp"

namespace bloomgate {

// Of one file: with 10^7 pairs it has 240 MB.
inline constexpr std::uint64_t kMostSharedFileBytes = std::uint64_t{1} << 28;

// Throws BloomgateError{bad_input} where the manifest at `path` names anything else than such files, or twice as much
// of them all as one may have.
void require_shared(const Manifest& manifest, const std::string& path);

// A number for a host, by the key with which it signs; and one for the forgets of its database. No host can make the
// numbers of another one: they are parts of digests.
std::uint64_t host_id(const PublicKey& key) noexcept;
std::uint64_t forgets_id(std::uint64_t host, std::uint64_t source) noexcept;

// The bytes of a file, whole and as it is published. Throws BloomgateError{bad_input} with the remedy for another one,
// {cannot_open, cannot_read, not_a_regular_file}.
std::string read_shared_file(const std::string& folder, const PublishedFile& file);

}  // namespace bloomgate
