#include "filter/library/boundary.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <system_error>

#include "filter/base/error.hpp"
#include "filter/library/bloomgate.h"

namespace bloomgate::library {
namespace {

// Of fixed size, since it must be able to say that memory has run out.
thread_local std::array<char, 1024> last_sentence = {};

void keep(std::string_view sentence) noexcept {
  const std::size_t size = std::min(sentence.size(), last_sentence.size() - 1);
  std::copy_n(sentence.begin(), size, last_sentence.begin());
  last_sentence[size] = '\0';
}

// Part of the library's interface: the numbers never change.
int code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::cannot_open:
      return BLOOMGATE_CANNOT_OPEN;
    case ErrorCode::cannot_read:
      return BLOOMGATE_CANNOT_READ;
    case ErrorCode::cannot_write:
      return BLOOMGATE_CANNOT_WRITE;
    case ErrorCode::not_a_regular_file:
      return BLOOMGATE_NOT_A_REGULAR_FILE;
    case ErrorCode::too_short:
      return BLOOMGATE_TOO_SHORT;
    case ErrorCode::bad_magic:
      return BLOOMGATE_BAD_MAGIC;
    case ErrorCode::unsupported_version:
      return BLOOMGATE_UNSUPPORTED_VERSION;
    case ErrorCode::bad_header_checksum:
      return BLOOMGATE_BAD_HEADER_CHECKSUM;
    case ErrorCode::bad_header_field:
      return BLOOMGATE_BAD_HEADER_FIELD;
    case ErrorCode::unsupported_layout:
      return BLOOMGATE_UNSUPPORTED_LAYOUT;
    case ErrorCode::unsupported_hash:
      return BLOOMGATE_UNSUPPORTED_HASH;
    case ErrorCode::unsupported_section:
      return BLOOMGATE_UNSUPPORTED_SECTION;
    case ErrorCode::size_overflow:
      return BLOOMGATE_SIZE_OVERFLOW;
    case ErrorCode::wrong_size:
      return BLOOMGATE_WRONG_SIZE;
    case ErrorCode::bad_table_checksum:
      return BLOOMGATE_BAD_TABLE_CHECKSUM;
    case ErrorCode::bad_body_checksum:
      return BLOOMGATE_BAD_BODY_CHECKSUM;
    case ErrorCode::bad_section:
      return BLOOMGATE_BAD_SECTION;
    case ErrorCode::changed_while_open:
      return BLOOMGATE_CHANGED_WHILE_OPEN;
    case ErrorCode::bad_argument:
      return BLOOMGATE_BAD_ARGUMENT;
    case ErrorCode::bad_input:
      return BLOOMGATE_BAD_INPUT;
    case ErrorCode::out_of_memory:
      return BLOOMGATE_OUT_OF_MEMORY;
    case ErrorCode::too_many_mappings:
      return BLOOMGATE_TOO_MANY_MAPPINGS;
    case ErrorCode::no_system_resource:
      return BLOOMGATE_NO_SYSTEM_RESOURCE;
    case ErrorCode::interrupted:
      return BLOOMGATE_INTERRUPTED;
    // Errors of the programs, which nothing in the library throws.
    case ErrorCode::bad_signature:  // no caller can ask for one
    case ErrorCode::no_entries:
    case ErrorCode::bad_configuration:
    case ErrorCode::address_in_use:
    case ErrorCode::unknown_host:
    case ErrorCode::not_permitted:
    case ErrorCode::no_answer:
    case ErrorCode::library_failed:
      return BLOOMGATE_LIBRARY_FAILED;
  }
  return BLOOMGATE_LIBRARY_FAILED;
}

}  // namespace

int note_failure() noexcept {
  try {
    throw;
  } catch (const BloomgateError& error) {
    keep(error.what());
    return code_of(error.code());
  } catch (const std::bad_alloc&) {
    keep("out of memory");
    return BLOOMGATE_OUT_OF_MEMORY;
  } catch (const std::system_error& error) {
    // From std::thread.
    keep(error.what());
    return BLOOMGATE_NO_SYSTEM_RESOURCE;
  } catch (const std::exception& error) {
    keep(error.what());
    return BLOOMGATE_LIBRARY_FAILED;
  } catch (...) {
    keep("an exception of an unknown type");
    return BLOOMGATE_LIBRARY_FAILED;
  }
}

const char* last_failure() noexcept {
  return last_sentence.data();
}

void refuse(const std::string& what) {
  throw BloomgateError(ErrorCode::bad_argument, what);
}

void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string(name) + " is a null pointer");
}

std::string_view text_at(const char* data, std::size_t bytes, const char* name) {
  if (bytes == 0) return {};
  require_pointer(data, name);
  return {data, bytes};
}

std::string path_at(const char* data, std::size_t bytes, const char* name) {
  std::string path(text_at(data, bytes, name));
  if (path.find('\0') != std::string::npos) refuse(std::string(name) + " has a NUL in it; no file has such a name");
  return path;
}

}  // namespace bloomgate::library
