// Opens arbitrary bytes as a store, checks it and looks hashes up in it; and decodes arbitrary bytes as a page.
//
// The first byte chooses how far the rest gets: as it is; with the header, index and checksums of a store of as many
// pages as the rest has, since no fuzzer finds those by chance; or with the checksums of its pages made right, too.
// Whatever a store says that it has, a look-up must find, once it is verified.
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/store/store_file.hpp"

namespace {

using namespace bloomgate;

enum Mend : unsigned { kStore = 1, kPages = 2 };

// A store whose pages are the input.
std::vector<std::byte> store_of(std::vector<std::byte> pages, unsigned low_bits, bool mend_pages) {
  pages.resize(pages.size() / kStorePageBytes * kStorePageBytes);
  StoreHeader header = {.shape = {}, .low_bits = low_bits % (kMostLowBits + 1)};
  header.pages = pages.size() / kStorePageBytes;
  if (header.pages == 0 || pages.size() > kChecksumChunkBytes) return {};
  std::vector<std::byte> index;
  for (std::uint64_t page = 0; page < header.pages; ++page) {
    std::byte* const at = pages.data() + page * kStorePageBytes;
    std::array<std::byte, 8> first;
    std::copy_n(at, first.size(), first.begin());
    index.insert(index.end(), first.begin(), first.end());
    header.addresses += std::clamp<std::uint64_t>(load_little_endian<std::uint32_t>(at + 8), 1, 32768);
    if (!mend_pages) continue;
    const std::uint64_t right = XXH3_64bits_withSeed(at, kStorePageBytes - 8, page);
    store_little_endian(at + kStorePageBytes - 8, right);
  }
  Sections sections = sections_of(header);
  std::vector<std::byte> image(sections.back().end());
  const auto put = [&](Section& section, const std::vector<std::byte>& content) {
    std::copy(content.begin(), content.end(), image.begin() + static_cast<std::ptrdiff_t>(section.offset));
    store_little_endian(image.data() + section.table_offset(), checksum(content));
    section.table_checksum = checksum(std::span(image).subspan(section.table_offset(), 8));
  };
  put(sections[0], pages);
  put(sections[1], index);
  encode_store_header(header, sections, std::span(image).first<kHeaderBytes>());
  return image;
}

void use(const StoreFile& store) {
  store.find(0);
  store.find(~KeyHash{0});
  store.find_cached(1);
  try {
    store.verify(1);
  } catch (const BloomgateError&) {
    return;
  }
  std::uint64_t count = 0;
  store.for_each_address([&](std::span<const KeyHash> hashes) {
    count += hashes.size();
    for (const KeyHash hash : hashes.first(std::min<std::size_t>(hashes.size(), 2000))) {
      if (store.find(hash) != StoreAnswer::present) std::abort();
    }
  });
  if (count != store.header().addresses) std::abort();
}

void decode(std::span<const std::uint8_t> data, unsigned low_bits) {
  std::array<std::byte, kStorePageBytes> page = {};
  std::transform(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(std::min(data.size(), page.size())),
                 page.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  std::vector<KeyHash> hashes;
  store_page_contains(page, low_bits, 12345);
  if (!decode_store_page(page, low_bits, hashes)) return;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (i > 0 && hashes[i] <= hashes[i - 1]) std::abort();
    if (!store_page_contains(page, low_bits, hashes[i])) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  decode({data + 2, size - 2}, data[1]);
  std::vector<std::byte> image(size - 2);
  std::transform(data + 2, data + size, image.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  if ((data[0] & kStore) != 0) image = store_of(std::move(image), data[1], (data[0] & kPages) != 0);
  const int file = memfd_create("store", MFD_CLOEXEC);
  if (file < 0 || write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size())) std::abort();
  try {
    use(StoreFile("/proc/self/fd/" + std::to_string(file)));
  } catch (const BloomgateError&) {
    // Refused: the usual end of arbitrary bytes.
  }
  close(file);
  return 0;
}
