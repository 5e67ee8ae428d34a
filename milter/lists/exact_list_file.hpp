// Reads an exact list (policy/exact_list.hpp) from its file. The supervisor calls it at the start and at each reload;
// the result replaces the old list as a whole, or not at all.
#pragma once

#include <cstdint>
#include <string>

#include "milter/policy/exact_list.hpp"

namespace bloomgate {

inline constexpr std::uint64_t kMostExactListBytes = std::uint64_t{256} << 20;  // some 12 million entries

// Reads the whole file and makes the list. Invalid lines are skipped and reported in the result; an empty file is an
// empty list.
//
// A file that is still being written must not be used: half of a line may be another entry, `joe@example.co` instead of
// `joe@example.com`. So a file that changes while it is read is read again, and so is one that was changed in the last
// 0.3 s and whose last line has no line end.
//
// Throws BloomgateError: cannot_open; not_a_regular_file (never blocks on a FIFO); cannot_read, also if the file is
// still changing after half a second; bad_input if the file is larger than `most_bytes`, or has lines that are not
// text; and std::bad_alloc. While it reads, it takes as much memory as the file's size.
ExactListReading load_exact_list(const std::string& path, ListOf of = ListOf::senders,
                                 std::uint64_t most_bytes = kMostExactListBytes);

// The text of such a list, read as by load_exact_list(), with the same errors for the file.
std::string read_list_text(const std::string& path, std::uint64_t most_bytes = kMostExactListBytes);

// The list of that text, added to `beside`. `path` is for the error: BloomgateError{bad_input} if the text has lines
// that are not text.
ExactListReading read_exact_list(const std::string& path, std::string_view text, ListOf of, ExactList beside = {});

}  // namespace bloomgate
