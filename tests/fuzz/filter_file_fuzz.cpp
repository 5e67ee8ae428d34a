// Opens arbitrary bytes as a filter file, checks the body and looks keys up in it.
//
// The first byte chooses how far the rest gets: as it is, or with its checksums made right, since no fuzzer finds those
// by chance. Whatever is opened must be usable: look-ups stay inside the mapping (AddressSanitizer watches) and the
// extent agrees with the file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/domains/sender_domains_cursor.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/counters.hpp"
#include "filter/layout/counting_layout.hpp"
#include "filter/system/bus_fault.hpp"

namespace {

using namespace bloomgate;

enum Mend : unsigned {
  kMagicAndVersion = 1,
  kTables = 2,
  kHeaderChecksum = 4,
  kSections = 8,
  kStrangers = 16,
  kCounters = 32,
  kSenderDomains = 64
};

constexpr std::size_t kSectionCount = 76;
constexpr std::size_t kSectionTable = 128;
constexpr std::size_t kSectionEntry = 64;

std::uint64_t number_at(const std::vector<std::byte>& image, std::size_t offset) {
  return load_little_endian<std::uint64_t>(image.data() + offset);
}

// One block of bits or counters, and in the rest as many domain entries or excluded senders as fit, where the header
// says so in full.
void mend_sections(std::vector<std::byte>& image, bool has_strangers, bool has_counters) {
  FilterHeader sound = {.shape = {.block_count = 1}, .expected_entries = 1, .addresses = 100};
  const std::uint64_t domains_at = (has_counters ? 6 : 3) * 4096;
  if (has_counters) sound.shape.layout = Layout::counting;
  if (image.size() > domains_at + 16) sound.domains = (image.size() - domains_at) / 8 - 1;
  if (sound.domains > kChecksumChunkBytes / 8) return;
  if (has_strangers && !has_counters) sound.excluded = sound.strangers.known = std::exchange(sound.domains, 0);
  std::array<std::byte, kHeaderBytes> header;
  const Sections sections = sections_of(sound);
  encode_header(sound, sections, header);
  std::copy(header.begin(), header.end(), image.begin());
  image.resize(sections.back().end());
  std::fill(image.begin() + static_cast<std::ptrdiff_t>(sections.front().end()),
            image.begin() + static_cast<std::ptrdiff_t>(sections.size() > 1 ? domains_at : image.size()), std::byte{0});
}

// One block of bits, and a section of sender domains: as many as the last byte of the header says.
void mend_sender_domains(std::vector<std::byte>& image) {
  FilterHeader sound = {.shape = {.block_count = 1}, .expected_entries = 1, .addresses = 100};
  sound.sender_domains = std::to_integer<std::uint64_t>(image[kHeaderBytes - 1]) * 3;
  std::array<std::byte, kHeaderBytes> header;
  const Sections sections = sections_of(sound);
  encode_header(sound, sections, header);
  std::copy(header.begin(), header.end(), image.begin());
  image.resize(sections.back().end());
  std::fill(image.begin() + static_cast<std::ptrdiff_t>(sections.front().end()),
            image.begin() + static_cast<std::ptrdiff_t>(sections.back().offset), std::byte{0});
}

// The tables of sections of up to 1 MiB, where they lie in the image.
void mend_tables(std::vector<std::byte>& image) {
  const auto count = std::min<std::uint32_t>(load_little_endian<std::uint32_t>(image.data() + kSectionCount), 16);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kSectionTable + i * kSectionEntry;
    const std::uint64_t offset = number_at(image, entry + 8);
    const std::uint64_t bytes = number_at(image, entry + 16);
    if (bytes > kChecksumChunkBytes || bytes == 0 || offset < kHeaderBytes || image.size() < 8 ||
        offset > image.size() - 8 || bytes > image.size() - 8 - offset) {
      continue;
    }
    const std::size_t table_at = offset + bytes;
    store_little_endian(image.data() + table_at, checksum(std::span(image).subspan(offset, bytes)));
    store_little_endian(image.data() + entry + 32, checksum(std::span(image).subspan(table_at, 8)));
  }
}

void mend(std::vector<std::byte>& image, unsigned what) {
  if (image.size() < kHeaderBytes + 4096 + 8) what &= ~unsigned{kSections};
  if (image.size() < kHeaderBytes) return;
  const bool has_counters = (what & kCounters) != 0 && image.size() >= kHeaderBytes + 4 * 4096 + 8;
  if ((what & kSections) != 0) mend_sections(image, (what & kStrangers) != 0, has_counters);
  if ((what & kSections) != 0 && (what & kSenderDomains) != 0) mend_sender_domains(image);
  if ((what & kMagicAndVersion) != 0) {
    const FilterHeader sound = {.shape = {.block_count = 1}};
    std::array<std::byte, kHeaderBytes> header;
    encode_header(sound, sections_of(sound), header);
    std::copy_n(header.begin(), 12, image.begin());
  }
  if ((what & kTables) != 0) mend_tables(image);
  if ((what & kHeaderChecksum) != 0) {
    store_little_endian(image.data() + kHeaderBytes - 8, checksum(std::span(image).first(kHeaderBytes - 8)));
  }
}

// Counters are changed and exported by programs that have opened a file with them.
void use_counters(const MappedFilter& filter) {
  const FilterShape& shape = filter.header().shape;
  const std::span<const std::byte> counters = filter.view().body();
  if (counters.size() > kChecksumChunkBytes) return;
  std::vector<std::byte> bits(counters.size() / 4);
  bits_of_counters(counters, bits);
  if (FilterView(exported_shape(shape), bits).count_ones() != filter.view().count_ones()) std::abort();
  std::vector<std::byte> changed(counters.begin(), counters.end());
  const KeyHash hash = counters.size();
  const bool was_there = layout_rules(shape.layout).has_bits(shape, counters.data(), &hash);
  const bool is_removed = discount_entry(shape, {changed.data()}, hash);
  if (is_removed && !was_there) std::abort();
  if (!is_removed && !std::ranges::equal(changed, counters)) std::abort();
}

// Nobody has the secret half of this key, so nothing is its owner's; and a file may say what it likes of its signer.
void use_signature(const MappedFilter& filter) {
  TrustedKeys trusted(1);
  trusted.front().bytes.fill(0x5a);
  for (int asked = 0; asked < 2; ++asked) {
    try {
      filter.verify_body(1, {}, trusted);
      if (asked == 0) std::abort();
    } catch (const BloomgateError& error) {
      if (asked == 0 && error.code() != ErrorCode::bad_signature) std::abort();
    }
    if (!filter.signature()) return;
    trusted.front() = filter.signature()->signer;
  }
}

// All that is in the section can be found there.
void use_sender_domains(const SenderDomains& domains, bool is_sound) {
  if (!domains.is_there() || domains.size() > 10'000) return;
  std::uint64_t count = 0;
  for (SenderDomainsCursor cursor(domains); cursor.peek(); cursor.advance()) {
    ++count;
    if (!domains.contains(*cursor.peek()) && is_sound) std::abort();
  }
  if (is_sound && count != domains.size()) std::abort();
}

void use(const MappedFilter& filter, const std::string& key) {
  if (filter.view().body().size() != body_bytes(filter.header().shape)) std::abort();
  if (filter.view().domains().size() != filter.header().domains) std::abort();
  if (filter.view().excluded().size() != filter.header().excluded) std::abort();
  if (filter.view().may_contain(key) && filter.view().is_excluded(key)) std::abort();
  filter.view().contains_domain(key);
  if (filter.header().shape.layout == Layout::counting) use_counters(filter);
  filter.view().find(canonicalize_path(key, filter.header().shape.profile));
  filter.view().find(canonicalize_line(key, filter.header().shape.profile));
  filter.view().find(canonicalize_path("<joe@a.b.c.example.org>", filter.header().shape.profile));
  use_signature(filter);
  bool is_sound = true;
  try {
    filter.verify_body(1);
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_body_checksum && error.code() != ErrorCode::bad_section) std::abort();
    is_sound = false;
  }
  use_sender_domains(filter.view().sender_domains(), is_sound);
  if (!is_sound) return;
  for (const SortedHashes& hashes : {filter.view().domains(), filter.view().excluded()}) {
    if (!hashes.is_strictly_ascending()) std::abort();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(hashes.size(), 1000); ++i) {
      if (!hashes.contains(hashes[i])) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::byte> image(size - 1);
  std::copy_n(reinterpret_cast<const std::byte*>(data) + 1, size - 1, image.begin());
  mend(image, data[0]);
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0 || write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size())) std::abort();
  try {
    use(MappedFilter("/proc/self/fd/" + std::to_string(file)),
        std::string(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 300)));
  } catch (const BloomgateError&) {
    // Refused: the usual end of arbitrary bytes.
  }
  close(file);
  return 0;
}
