#include "filter/store/store_writer.hpp"

#include <algorithm>

#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"
#include "filter/store/store_page.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {
namespace {

// An upper bound of the pages for that many hashes: the most room that they can take, and one page for each MiB that is
// not completely filled.
std::uint64_t most_pages_for(std::uint64_t hashes, unsigned low_bits) noexcept {
  if (hashes == 0) return 0;
  // The unary part has a bit for each hash, and one for each step of 2^low_bits from the first hash of all to the last.
  const std::uint64_t steps = low_bits == 0 ? ~std::uint64_t{0} : std::uint64_t{1} << (64 - low_bits);
  const double bits = static_cast<double>(hashes) * (low_bits + 1.0) + static_cast<double>(steps);
  constexpr double kUsedBits = 8 * 4072 - 80;  // some bits may stay free after the last hash of a page
  return static_cast<std::uint64_t>(bits / kUsedBits) + 1;
}

}  // namespace

StoreWriter::StoreWriter(const std::string& path, const StoreShape& shape, std::uint64_t most_addresses,
                         std::uint64_t most_domains, unsigned threads, std::uint64_t most_sender_domains)
    : header_{.shape = shape, .low_bits = low_bits_for(most_addresses)},
      threads_(threads),
      most_domains_(most_domains),
      most_sender_domains_(most_sender_domains),
      cut_(header_.low_bits) {
  StoreHeader most = header_;
  most.addresses = most_addresses;
  most.pages = most_pages_for(most_addresses, header_.low_bits);
  most.domains = most_domains;
  most.sender_domains = most_sender_domains;
  file_ = std::make_unique<NewFile>(path, sections_of(most));
}

StoreWriter::~StoreWriter() = default;

void StoreWriter::add(std::span<const KeyHash> hashes) {
  write_chunks(cut(HashRun(std::make_shared<const std::vector<KeyHash>>(hashes.begin(), hashes.end()))));
}

void StoreWriter::write(std::uint64_t first_page, std::span<const std::byte> made) {
  file_->write(SectionKind::pages, first_page * kStorePageBytes, made);
}

void StoreWriter::write_chunks(const std::vector<StoreChunk>& chunks) {
  // Direct writes need aligned memory. So each thread makes its pages in memory that is mapped.
  std::atomic<std::size_t> next{0};
  run_parallel(static_cast<unsigned>(std::clamp<std::size_t>(chunks.size(), 1, threads_)), [&](unsigned) {
    std::unique_ptr<AnonymousMemory> memory;
    for (std::size_t chunk; (chunk = next.fetch_add(1)) < chunks.size();) {
      if (!memory) memory = std::make_unique<AnonymousMemory>(kChecksumChunkBytes, "pages of the store");
      write(chunks[chunk].first_page, make(chunks[chunk], memory->bytes().first<kChecksumChunkBytes>()));
    }
  });
}

void StoreWriter::finish_pages() {
  if (pages_are_finished_) return;
  pages_are_finished_ = true;
  write_chunks(cut_rest());
  header_.pages = cut_.next_page();
  header_.addresses = cut_.hashes();
  StoreHeader most = header_;
  most.domains = most_domains_;
  file_->place(sections_of(most));
  if (cut_.index().empty()) return;
  SectionStream index(*file_, SectionKind::index);
  index.add(cut_.index());
  index.finish();
}

void StoreWriter::add_domains(std::span<const KeyHash> hashes) {
  if (hashes.empty()) return;
  finish_pages();
  if (!domains_) domains_ = std::make_unique<SectionStream>(*file_, SectionKind::stored_domains);
  domains_->add(hashes);
}

void StoreWriter::finish_domains() {
  if (domains_are_finished_) return;
  domains_are_finished_ = true;
  finish_pages();
  header_.domains = domains_ ? domains_->finish() : 0;
}

void StoreWriter::add_sender_domains(std::span<const KeyHash> hashes) {
  if (hashes.empty()) return;
  finish_domains();
  if (!sender_domains_) {
    StoreHeader most = header_;
    most.sender_domains = most_sender_domains_;
    file_->place(sections_of(most));
    sender_domains_ = std::make_unique<SectionStream>(*file_, SectionKind::stored_sender_domains);
  }
  sender_domains_->add(hashes);
}

std::uint64_t StoreWriter::complete() {
  finish_domains();
  header_.sender_domains = sender_domains_ ? sender_domains_->finish() : 0;
  header_.kinds = limited(header_.kinds, header_.addresses, header_.domains);
  std::uint64_t identity = 0;
  file_->complete(
      sections_of(header_),
      [&](const Sections& sections, std::span<std::byte, kHeaderBytes> out) {
        identity = encode_store_header(header_, sections, out);
      },
      threads_);
  return identity;
}

std::uint64_t StoreWriter::file_bytes() const {
  const Sections sections = sections_of(header_);
  return sections.empty() ? kHeaderBytes : sections.back().end();
}

}  // namespace bloomgate
