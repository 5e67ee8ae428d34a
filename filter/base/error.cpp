#include "filter/base/error.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace bloomgate {
namespace {

// The user that this process runs as: "nobody", or its number.
std::string user_name() {
  std::array<char, 4096> buffer;
  passwd entry = {};
  passwd* found = nullptr;
  const uid_t user = geteuid();
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return std::to_string(user);
  }
  return entry.pw_name;
}

// The first folder on the way to `path` for which `is_bad` holds; empty if there is none.
template <typename IsBad>
std::string first_folder(const std::string& path, IsBad is_bad) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    std::string folder = path.substr(0, end);
    if (is_bad(folder.c_str())) return folder;
  }
  return {};
}

std::string target_of(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t bytes = readlink(path.c_str(), target.data(), target.size());
  return bytes < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(bytes));
}

// What the system's message does not say: which part of the path is to blame, and for which user. Empty if no part is.
std::string blamed_part(ErrorCode code, const std::string& path, int errno_value) {
  struct stat status = {};
  if (errno_value == EACCES) {
    const std::string folder =
        first_folder(path, [](const char* each) { return faccessat(AT_FDCWD, each, X_OK, AT_EACCESS) != 0; });
    const std::string act = code == ErrorCode::cannot_write ? "write" : "read";
    return "; the user " + user_name() + " may not " + (folder.empty() ? act + " it" : "enter the folder " + folder);
  }
  if (errno_value == ENOSPC || errno_value == EDQUOT) return "; make room there, or name another place";
  if (errno_value != ENOENT && errno_value != ENOTDIR) return {};
  const std::string folder =
      first_folder(path, [&](const char* each) { return stat(each, &status) != 0 || !S_ISDIR(status.st_mode); });
  if (!folder.empty()) return (errno_value == ENOENT ? "; there is no folder " : "; it is no folder: ") + folder;
  if (errno_value == ENOTDIR) return "; name a folder";
  const std::string target = target_of(path);
  return target.empty() ? std::string() : "; it is a link to " + target + ", which is not there";
}

}  // namespace

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
    case ErrorCode::no_answer:
      return "no_answer";
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
    case ErrorCode::no_answer:
      return EX_TEMPFAIL;
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

std::string system_reason(ErrorCode code, const std::string& path, int errno_value) {
  return std::generic_category().message(errno_value) + blamed_part(code, path, errno_value);
}

}  // namespace bloomgate
