#include "filter/base/error.hpp"

#include <pwd.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("each code of an error has its name and its exit status") {
  struct Case {
    ErrorCode code;
    std::string_view name;
    int status;
  };
  const Case cases[] = {{ErrorCode::cannot_open, "cannot_open", EX_NOINPUT},
                        {ErrorCode::cannot_read, "cannot_read", EX_IOERR},
                        {ErrorCode::cannot_write, "cannot_write", EX_CANTCREAT},
                        {ErrorCode::not_a_regular_file, "not_a_regular_file", EX_DATAERR},
                        {ErrorCode::too_short, "too_short", EX_DATAERR},
                        {ErrorCode::bad_magic, "bad_magic", EX_DATAERR},
                        {ErrorCode::unsupported_version, "unsupported_version", EX_DATAERR},
                        {ErrorCode::bad_header_checksum, "bad_header_checksum", EX_DATAERR},
                        {ErrorCode::bad_header_field, "bad_header_field", EX_DATAERR},
                        {ErrorCode::unsupported_layout, "unsupported_layout", EX_DATAERR},
                        {ErrorCode::unsupported_hash, "unsupported_hash", EX_DATAERR},
                        {ErrorCode::unsupported_section, "unsupported_section", EX_DATAERR},
                        {ErrorCode::size_overflow, "size_overflow", EX_DATAERR},
                        {ErrorCode::wrong_size, "wrong_size", EX_DATAERR},
                        {ErrorCode::bad_table_checksum, "bad_table_checksum", EX_DATAERR},
                        {ErrorCode::bad_body_checksum, "bad_body_checksum", EX_DATAERR},
                        {ErrorCode::bad_section, "bad_section", EX_DATAERR},
                        {ErrorCode::bad_signature, "bad_signature", EX_DATAERR},
                        {ErrorCode::changed_while_open, "changed_while_open", EX_IOERR},
                        {ErrorCode::bad_argument, "bad_argument", EX_USAGE},
                        {ErrorCode::bad_configuration, "bad_configuration", EX_CONFIG},
                        {ErrorCode::bad_input, "bad_input", EX_DATAERR},
                        {ErrorCode::no_entries, "no_entries", EX_DATAERR},
                        {ErrorCode::out_of_memory, "out_of_memory", EX_OSERR},
                        {ErrorCode::too_many_mappings, "too_many_mappings", EX_SOFTWARE},
                        {ErrorCode::address_in_use, "address_in_use", EX_UNAVAILABLE},
                        {ErrorCode::unknown_host, "unknown_host", EX_NOHOST},
                        {ErrorCode::not_permitted, "not_permitted", EX_NOPERM},
                        {ErrorCode::no_system_resource, "no_system_resource", EX_OSERR},
                        {ErrorCode::no_answer, "no_answer", EX_TEMPFAIL},
                        {ErrorCode::library_failed, "library_failed", EX_SOFTWARE},
                        {ErrorCode::interrupted, "interrupted", 128 + SIGINT}};
  for (const Case& each : cases) {
    CAPTURE(each.name);
    CHECK(error_code_name(each.code) == each.name);
    CHECK(exit_status(each.code) == each.status);
  }
}

TEST_CASE_METHOD(InFolder, "the error of a file names the part of its path that is to blame, and what to do") {
  const std::string& here = folder.path().string();
  write_file(folder.file("file"), "text");
  std::filesystem::create_symlink("nowhere", folder.file("link"));
  const std::string user = getpwuid(geteuid())->pw_name;
  struct Case {
    std::string path;
    int error;
    std::string want;
  };
  for (const Case& each : {Case{"file", EACCES, "; the user " + user + " may not read it"},
                           {"file", ENOSPC, "; make room there, or name another place"},
                           {"file", EDQUOT, "; make room there, or name another place"},
                           {"file", EIO, ""},
                           {"missing", ENOENT, ""},
                           {"link", ENOENT, "; it is a link to nowhere, which is not there"},
                           {"none/a/b", ENOENT, "; there is no folder " + here + "/none"},
                           {"file/a/b", ENOTDIR, "; it is no folder: " + here + "/file"},
                           {"file", ENOTDIR, "; name a folder"}}) {
    CAPTURE(each.path, each.error);
    const std::string path = folder.file(each.path);
    CHECK(system_reason(ErrorCode::cannot_open, path, each.error) == std::strerror(each.error) + each.want);
  }
  const BloomgateError error = system_error(ErrorCode::cannot_write, "rename to", folder.file("file"), EACCES);
  CHECK(error.code() == ErrorCode::cannot_write);
  CHECK(error.details().path == folder.file("file"));
  CHECK(error.what() ==
        "rename to " + folder.file("file") + ": Permission denied; the user " + user + " may not write it");
}

}  // namespace
}  // namespace bloomgate::test
