#include "filter/base/error.hpp"

#include <sysexits.h>

#include <csignal>

#include "filter/base/system_reason.hpp"

namespace bloomgate {

std::string_view error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::cannot_open:
      return "cannot_open";
    case ErrorCode::cannot_read:
      return "cannot_read";
    case ErrorCode::cannot_write:
      return "cannot_write";
    case ErrorCode::not_a_regular_file:
      return "not_a_regular_file";
    case ErrorCode::too_short:
      return "too_short";
    case ErrorCode::bad_magic:
      return "bad_magic";
    case ErrorCode::unsupported_version:
      return "unsupported_version";
    case ErrorCode::bad_header_checksum:
      return "bad_header_checksum";
    case ErrorCode::bad_header_field:
      return "bad_header_field";
    case ErrorCode::unsupported_layout:
      return "unsupported_layout";
    case ErrorCode::unsupported_hash:
      return "unsupported_hash";
    case ErrorCode::unsupported_section:
      return "unsupported_section";
    case ErrorCode::size_overflow:
      return "size_overflow";
    case ErrorCode::wrong_size:
      return "wrong_size";
    case ErrorCode::bad_table_checksum:
      return "bad_table_checksum";
    case ErrorCode::bad_body_checksum:
      return "bad_body_checksum";
    case ErrorCode::bad_section:
      return "bad_section";
    case ErrorCode::bad_signature:
      return "bad_signature";
    case ErrorCode::changed_while_open:
      return "changed_while_open";
    case ErrorCode::bad_argument:
      return "bad_argument";
    case ErrorCode::bad_configuration:
      return "bad_configuration";
    case ErrorCode::bad_input:
      return "bad_input";
    case ErrorCode::no_entries:
      return "no_entries";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::too_many_mappings:
      return "too_many_mappings";
    case ErrorCode::address_in_use:
      return "address_in_use";
    case ErrorCode::unknown_host:
      return "unknown_host";
    case ErrorCode::not_permitted:
      return "not_permitted";
    case ErrorCode::no_system_resource:
      return "no_system_resource";
    case ErrorCode::library_failed:
      return "library_failed";
    case ErrorCode::interrupted:
      return "interrupted";
  }
  return "unknown";
}

int exit_status(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::cannot_open:
      return EX_NOINPUT;
    case ErrorCode::cannot_write:
      return EX_CANTCREAT;
    case ErrorCode::cannot_read:
    case ErrorCode::changed_while_open:
      return EX_IOERR;
    case ErrorCode::not_a_regular_file:
    case ErrorCode::too_short:
    case ErrorCode::bad_magic:
    case ErrorCode::unsupported_version:
    case ErrorCode::bad_header_checksum:
    case ErrorCode::bad_header_field:
    case ErrorCode::unsupported_layout:
    case ErrorCode::unsupported_hash:
    case ErrorCode::unsupported_section:
    case ErrorCode::size_overflow:
    case ErrorCode::wrong_size:
    case ErrorCode::bad_table_checksum:
    case ErrorCode::bad_body_checksum:
    case ErrorCode::bad_section:
    case ErrorCode::bad_signature:
    case ErrorCode::bad_input:
    case ErrorCode::no_entries:
      return EX_DATAERR;
    case ErrorCode::bad_argument:
      return EX_USAGE;
    case ErrorCode::bad_configuration:
      return EX_CONFIG;
    case ErrorCode::address_in_use:
      return EX_UNAVAILABLE;
    case ErrorCode::unknown_host:
      return EX_NOHOST;
    case ErrorCode::not_permitted:
      return EX_NOPERM;
    case ErrorCode::out_of_memory:
    case ErrorCode::no_system_resource:
      return EX_OSERR;
    case ErrorCode::too_many_mappings:
    case ErrorCode::library_failed:
      return EX_SOFTWARE;
    case ErrorCode::interrupted:
      return 128 + SIGINT;
  }
  return EX_SOFTWARE;
}

BloomgateError system_error(ErrorCode code, const std::string& what, const std::string& path, int errno_value) {
  return {code, what + " " + path + ": " + system_reason(code, path, errno_value), {.path = path}};
}

}  // namespace bloomgate
