// Finds out before a long build whether its result can be written. `bloomgate build` and `update-store` call it before
// they read their lists; FilterWriter makes the final check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filter/base/error.hpp"
#include "filter/file/header_fields.hpp"

namespace bloomgate {

// Tries in the folder of `path`, with a nameless file, what FilterWriter will do: to create a file, and to reserve
// `bytes` for it (0: the size is not known yet). This also finds a quota. Leaves nothing behind. Throws
// BloomgateError{cannot_write} with the remedy, also if an existing file does not begin with `own`: a filter does not
// replace a store. Throws {not_a_regular_file} if `path` is something else, and {bad_argument} if it is `-`.
void require_can_write(const std::string& path, std::uint64_t bytes, const Magic& own = kFilterMagic);

// The check of an existing file alone, where no link is followed: also for the further names of a file that is kept.
void require_may_replace(const std::string& path, const Magic& own = kFilterMagic);

// Throws BloomgateError{cannot_write} if `path` is a file with content for which `is_own`, called with its start, is
// false: a text replaces only another one that Bloomgate wrote. `content` is what the new file will have, and `option`
// names it. A pipe, a terminal or /dev/null may always be written to.
using IsOwnText = bool (*)(std::string_view start);
void require_own_text(const std::string& path, IsOwnText is_own, const std::string& content, const std::string& option);

// Whether the file system reports less than `bytes` free. Ask before you reserve space: ext4 takes all free space
// before it finds that this is not enough, and meanwhile other writers, such as a mail queue, meet a full disk.
bool surely_lacks_room(const std::string& folder, std::uint64_t bytes) noexcept;

// Whether temporary files can be made in the folder of --scratch. Throws BloomgateError{cannot_write}.
void require_scratch(const std::string& folder);

// The error for a folder in which no file can be made, with what to do about it. `error` is the errno.
BloomgateError folder_error(const std::string& folder, const std::string& path, int error);

// The target of `path` if it is a symbolic link (so that the link stays), otherwise `path`. Throws
// BloomgateError{cannot_write}.
std::string resolve_link(const std::string& path);

}  // namespace bloomgate
