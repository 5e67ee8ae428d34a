// The exception type of both programs, with a closed set of codes.
//
// Thrown while options are read, while a filter is built, written, opened or verified, and while the daemon starts;
// never by a look-up, the canonicaliser or the decision. `what()` is a complete sentence for a person: what was
// expected, what was found, where, and what to do. Programs map `code()` to an exit status; tests compare it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bloomgate {

enum class ErrorCode : std::uint8_t {
  cannot_open,          // open(2), fstat(2) or mmap(2) failed; `what()` has the system's message
  cannot_read,          // reading failed after a successful open
  cannot_write,         // creating, writing, syncing or renaming failed
  not_a_regular_file,   // a directory, FIFO, socket or device where a filter file was expected
  too_short,            // the file is shorter than a header
  bad_magic,            // not a Bloomgate filter
  unsupported_version,  // written by another version of Bloomgate
  bad_header_checksum,  // the header was damaged
  bad_header_field,     // a header field is outside its range
  unsupported_layout,   // a layout that this version does not know
  unsupported_hash,     // a hash family that this version does not know
  unsupported_section,  // a kind of section that this version does not know
  size_overflow,        // the sizes in the header do not fit in 64 bits
  wrong_size,           // the file is not exactly as long as its header says
  bad_table_checksum,   // a checksum table was damaged
  bad_body_checksum,    // a part of a section was damaged
  bad_section,          // the content of a section, or the bytes between two sections, violate the format
  bad_signature,        // not signed, or not by a trusted key, or the signature is for another content
  changed_while_open,   // the file was written to, shrank or became unreadable under a mapping
  bad_argument,         // a size, rate or option of the command line that cannot be honoured
  bad_configuration,    // a setting of a configuration file that cannot be honoured, at all or on this machine
  bad_input,            // an input list that cannot be used: damaged, or not as asked (--strict)
  no_entries,           // a filter without an entry is refused
  out_of_memory,        // the filter does not fit in the memory that may be used
  too_many_mappings,    // more filters open at once than bus_fault.hpp has slots for
  address_in_use,       // another program listens there
  unknown_host,         // a host name that has no address
  not_permitted,        // the user of the process may not do that
  no_system_resource,   // the system has no descriptor, socket or watch left
  no_answer,            // a server cannot be reached, or answers wrongly; a later try may succeed
  library_failed,       // a library failed and does not say why
  interrupted,          // the caller asked for a stop
};

// The code's name as above, for logs and tests. Never fails.
std::string_view error_code_name(ErrorCode code) noexcept;

// The exit status of sysexits(3) with which a program ends for this error; 128 + SIGINT for interrupted. Never fails.
int exit_status(ErrorCode code) noexcept;

class BloomgateError : public std::runtime_error {
 public:
  // Details beside the sentence; the members that do not apply stay empty.
  struct Details {
    std::string path = {};                     // the file concerned
    std::optional<std::uint64_t> offset = {};  // bytes from the start of that file
    std::string expected = {};
    std::string got = {};
  };

  BloomgateError(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  BloomgateError(ErrorCode code, const std::string& what, Details details)
      : std::runtime_error(what), code_(code), details_(std::move(details)) {}

  ErrorCode code() const noexcept { return code_; }
  const Details& details() const noexcept { return details_; }

 private:
  ErrorCode code_;
  Details details_;
};

// `what`, followed by the system's description of `errno_value`: "open whitelist.bloom: No such file or directory".
BloomgateError system_error(ErrorCode code, const std::string& what, const std::string& path, int errno_value);

// Why the system refused a file, for a person: "Permission denied; the user nobody may not enter the folder
// /srv/lists". It has the message of `errno_value`, and then the part of `path` that is to blame, or what to do. `code`
// says whether the file was to be written. The function examines the path on disk.
std::string system_reason(ErrorCode code, const std::string& path, int errno_value);

}  // namespace bloomgate
