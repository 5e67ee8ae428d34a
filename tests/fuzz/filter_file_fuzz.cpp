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
#include <vector>

#include "filter/base/bus_fault.hpp"
#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/file/mapped_filter.hpp"

namespace {

using namespace bloomgate;

enum Mend : unsigned { kMagicAndVersion = 1, kTable = 2, kHeaderChecksum = 4 };

void mend(std::vector<std::byte>& image, unsigned what) {
  if (image.size() < kHeaderBytes) return;
  if ((what & kMagicAndVersion) != 0) {
    FilterHeader sound;
    sound.shape.block_count = 1;
    std::array<std::byte, kHeaderBytes> header;
    encode_header(sound, header);
    std::copy_n(header.begin(), 12, image.begin());
  }
  if ((what & kTable) != 0 && image.size() > kHeaderBytes + 8) {
    const std::uint64_t table_at = image.size() - 8;  // right for bodies of up to 1 MiB
    const auto body = std::span(image).subspan(kHeaderBytes, table_at - kHeaderBytes);
    store_little_endian(image.data() + table_at, checksum(body));
    store_little_endian(image.data() + 80, checksum(std::span(image).subspan(table_at)));
  }
  if ((what & kHeaderChecksum) != 0) {
    store_little_endian(image.data() + kHeaderBytes - 8, checksum(std::span(image).first(kHeaderBytes - 8)));
  }
}

void use(const MappedFilter& filter, const std::string& key) {
  if (filter.view().body().size() != file_extent(filter.header().shape).body_bytes) std::abort();
  filter.view().may_contain(key);
  filter.view().find(canonicalize_path(key, filter.header().shape.profile));
  filter.view().find(canonicalize_line(key, filter.header().shape.profile));
  filter.view().find(canonicalize_path("<joe@a.b.c.example.org>", filter.header().shape.profile));
  try {
    filter.verify_body(1);
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_body_checksum) std::abort();
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
