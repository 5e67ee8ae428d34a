// The files of a folder in which a host shares what it has learned (shared_pairs.hpp), as its manifest names them. Pure
// except reading; safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "filter/keep/manifest.hpp"

namespace bloomgate {

// The most bytes of one file; 10^7 pairs have 240 MB.
inline constexpr std::uint64_t kMostSharedFileBytes = std::uint64_t{1} << 28;

// Throws BloomgateError{bad_input} if the manifest at `path` names files of any other kind, or if they have more than
// twice as many bytes together as one may have.
void require_shared(const Manifest& manifest, const std::string& path);

// A number for a host, made of the key with which it signs; and one for the forgets of its database. A host cannot
// forge the numbers of another host: they are parts of digests.
std::uint64_t host_id(const PublicKey& key) noexcept;
std::uint64_t forgets_id(std::uint64_t host, std::uint64_t source) noexcept;

// The bytes of a file, whole and as it was published. Throws BloomgateError{bad_input}, with the remedy, if it differs,
// {cannot_open, cannot_read, not_a_regular_file}.
std::string read_shared_file(const std::string& folder, const PublishedFile& file);

}  // namespace bloomgate
