// Finds out before a long build whether its result can be written at all. Called by `bloomgate build` and `update`
// before they read their lists; FilterWriter has the last word.
#pragma once

#include <cstdint>
#include <string>

#include "filter/base/error.hpp"
#include "filter/file/header_fields.hpp"

namespace bloomgate {

// Tries in the folder of `path`, under no name, what FilterWriter will do: to create a file, and to reserve `bytes`
// for it (0: the size is not known yet). A quota is seen, too. Leaves nothing behind. Throws
// BloomgateError{cannot_write} with the remedy, also if there is a file that does not begin with `own`: a filter does
// not replace a store. Throws {not_a_regular_file} if `path` is something else.
void require_can_write(const std::string& path, std::uint64_t bytes, const Magic& own = kFilterMagic);

// Whether the file system has less than `bytes` left, as far as it tells. To be asked before space is reserved: ext4
// takes all that there is before it finds out that it is not enough, and who else writes to the disk, a mail queue
// perhaps, meets a full one meanwhile.
bool surely_lacks_room(const std::string& folder, std::uint64_t bytes) noexcept;

// Whether temporary files can be made in the folder of --scratch. Throws BloomgateError{cannot_write}.
void require_scratch(const std::string& folder);

// Why no file can be made in `folder`, with what to do about it: errno was `error`.
BloomgateError folder_error(const std::string& folder, const std::string& path, int error);

// Where `path` leads to if it is a symbolic link, so that the link stays. Throws BloomgateError{cannot_write}.
std::string resolve_link(const std::string& path);

}  // namespace bloomgate
