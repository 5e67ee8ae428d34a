// The library itself, its errors, and its files: bloomgate.h.
#include <array>
#include <memory>
#include <string>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/layout.hpp"
#include "filter/library/boundary.hpp"
#include "filter/library/handles.hpp"
#include "filter/system/bus_fault.hpp"

using bloomgate::library::guarded;
using bloomgate::library::refuse;
using bloomgate::library::require_pointer;

namespace {

struct ErrorText {
  const char* name;
  const char* sentence;
};

// The errors, in the order of their codes.
constexpr std::array kErrors = {
    ErrorText{"ok", "no error"},
    ErrorText{"cannot_open", "the file cannot be opened or mapped"},
    ErrorText{"cannot_read", "the file cannot be read"},
    ErrorText{"cannot_write", "the file cannot be written"},
    ErrorText{"not_a_regular_file", "not a regular file"},
    ErrorText{"too_short", "the file is shorter than a header"},
    ErrorText{"bad_magic", "not a file of Bloomgate"},
    ErrorText{"unsupported_version", "the file was written by another version of Bloomgate"},
    ErrorText{"bad_header_checksum", "the file's header is damaged"},
    ErrorText{"bad_header_field", "a field of the file's header is outside its range"},
    ErrorText{"unsupported_layout", "the layout is unknown, or cannot do that"},
    ErrorText{"unsupported_hash", "the hash family is unknown"},
    ErrorText{"unsupported_section", "the file has an unknown kind of section"},
    ErrorText{"size_overflow", "a size does not fit in 64 bits"},
    ErrorText{"wrong_size", "the file is not as long as its header says"},
    ErrorText{"bad_table_checksum", "a table of checksums is damaged"},
    ErrorText{"bad_body_checksum", "a part of the file is damaged"},
    ErrorText{"bad_section", "what is in a section of the file is not as the format has it"},
    ErrorText{"changed_while_open", "the file was changed while it was open"},
    ErrorText{"bad_argument", "an argument cannot be honoured"},
    ErrorText{"bad_input", "the files do not belong together"},
    ErrorText{"out_of_memory", "out of memory"},
    ErrorText{"too_many_mappings", "too many filters are open in this process"},
    ErrorText{"no_system_resource", "the system has no thread or descriptor left"},
    ErrorText{"library_failed", "a fault of the library"},
    ErrorText{"interrupted", "stopped, as was asked for"},
};
static_assert(kErrors.size() == BLOOMGATE_INTERRUPTED + 1);

const ErrorText& error_text(int error) noexcept {
  static constexpr ErrorText kUnknown = {"unknown", "an unknown error"};
  const bool is_known = error >= 0 && static_cast<std::size_t>(error) < kErrors.size();
  return is_known ? kErrors[static_cast<std::size_t>(error)] : kUnknown;
}

}  // namespace

const char* bloomgate_version() {
  return BLOOMGATE_VERSION;
}

const char* bloomgate_error_name(int error) {
  return error_text(error).name;
}

const char* bloomgate_strerror(int error) {
  return error_text(error).sentence;
}

const char* bloomgate_last_error() {
  return bloomgate::library::last_failure();
}

int bloomgate_survive_bus_faults() {
  return guarded([] { bloomgate::install_bus_fault_handler(); });
}

int bloomgate_open(const char* path, size_t path_bytes, unsigned flags, bloomgate_filter** filter) {
  return guarded([&] {
    require_pointer(filter, "filter");
    constexpr unsigned kFlags = BLOOMGATE_VERIFY;
    if ((flags & ~kFlags) != 0) refuse("bloomgate_open() knows no flags " + std::to_string(flags & ~kFlags));
    auto made = std::make_unique<bloomgate_filter>(bloomgate::library::path_at(path, path_bytes, "path"));
    const bloomgate::FilterHeader& header = made->file.header();
    made->identity = bloomgate::fingerprint_of(made->file);
    made->tag_separators = header.shape.profile.tag_separators.text();
    if ((flags & BLOOMGATE_VERIFY) != 0) made->file.verify_body();
    made->file.require_whole();
    *filter = made.release();
  });
}

void bloomgate_close(bloomgate_filter* filter) {
  delete filter;
}

int bloomgate_check(const bloomgate_filter* filter) {
  return guarded([&] {
    require_pointer(filter, "filter");
    filter->file.require_whole();
  });
}

int bloomgate_number(const bloomgate_filter* filter, int which, uint64_t* number) {
  return guarded([&] {
    require_pointer(filter, "filter");
    require_pointer(number, "number");
    const bloomgate::FilterHeader& header = filter->file.header();
    switch (which) {
      case BLOOMGATE_FILE_BYTES:
        *number = bloomgate::file_bytes(header);
        return;
      case BLOOMGATE_EXPECTED_ENTRIES:
        *number = header.expected_entries;
        return;
      case BLOOMGATE_ADDRESSES:
        *number = header.addresses;
        return;
      case BLOOMGATE_DOMAINS:
        *number = header.domains;
        return;
      case BLOOMGATE_PAIRS:
        *number = header.kinds.pairs_in_bits;
        return;
      case BLOOMGATE_KNOWN_STRANGERS:
        *number = header.excluded;
        return;
      case BLOOMGATE_BITS_SET:
        *number = header.bits_set;
        return;
      case BLOOMGATE_SENDER_DOMAINS:
        *number = header.sender_domains.value_or(0);
        return;
      case BLOOMGATE_HASHES:
        *number = header.shape.hashes;
        return;
      case BLOOMGATE_BLOCK_BYTES:
        *number = header.shape.block_bytes;
        return;
      case BLOOMGATE_BLOCK_COUNT:
        *number = header.shape.block_count;
        return;
      case BLOOMGATE_SEED:
        *number = header.shape.seed;
        return;
      case BLOOMGATE_KEEPS_CASE:
        *number = header.shape.profile.keep_local_part_case ? 1 : 0;
        return;
      default:
        refuse("there is no number " + std::to_string(which) + " of a filter");
    }
  });
}

const char* bloomgate_text(const bloomgate_filter* filter, int which) {
  if (filter == nullptr) return nullptr;
  // Names are literals, which end with a NUL.
  const bloomgate::FilterShape& shape = filter->file.header().shape;
  switch (which) {
    case BLOOMGATE_LAYOUT:
      return bloomgate::layout_rules(shape.layout).name().data();
    case BLOOMGATE_HASH_FAMILY:
      return bloomgate::hash_family_name(shape.hash_family).data();
    case BLOOMGATE_IDENTITY:
      return filter->identity.c_str();
    case BLOOMGATE_TAG_SEPARATORS:
      return filter->tag_separators.c_str();
    default:
      return nullptr;
  }
}

double bloomgate_expected_rate(const bloomgate_filter* filter) {
  return filter == nullptr ? 1 : bloomgate::expected_fpr_of(filter->file.header());
}
