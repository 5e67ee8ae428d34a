// Writes a store: the exact set of the entries of a filter, as sorted hashes in coded pages (store_page.hpp).
//
// Used by the builder and by `bloomgate update-store`, in one thread. Call order: constructor, add*, add_domains*,
// add_sender_domains*, complete, stage, publish. Destroyed before stage, it leaves nothing behind. The bytes do not
// depend on how the hashes are divided between calls, nor on the number of threads.
//
// The filter that names a store and the store itself are two files, and only one can be renamed at a time. So the store
// is first staged beside the old one, then the filter is published, and then the store. open_store() finds the store of
// either filter at each of these moments.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "filter/file/new_file.hpp"
#include "filter/file/section_stream.hpp"
#include "filter/hash/hash_run.hpp"
#include "filter/store/store_cut.hpp"
#include "filter/store/store_format.hpp"

namespace bloomgate {

class StoreWriter {
 public:
  // The three numbers are upper bounds, for which space is reserved; the first also chooses the coding. Throws as
  // NewFile does.
  StoreWriter(const std::string& path, const StoreShape& shape, std::uint64_t most_addresses,
              std::uint64_t most_domains, unsigned threads, std::uint64_t most_sender_domains = 0);
  ~StoreWriter();

  // Hashes of addresses in strictly ascending order, greater than those before. Throws BloomgateError{cannot_write}.
  void add(std::span<const KeyHash> hashes);

  // The same in steps (store_cut.hpp), for callers with their own threads; do not mix it with add().
  std::vector<StoreChunk> cut(const HashRun& run) { return cut_.cut(run); }
  std::vector<StoreChunk> cut_rest() { return cut_.cut_rest(); }
  std::span<const std::byte> make(const StoreChunk& chunk,
                                  std::span<std::byte, kChecksumChunkBytes> memory) const noexcept {
    return cut_.make(chunk, memory);
  }
  // Instead of cut(), for what another process has cut; do not mix it with add().
  void add_made(std::span<const KeyHash> index, std::uint64_t hashes) { cut_.add_made(index, hashes); }
  // Several threads may call write() at once, for different chunks. Throws BloomgateError{cannot_write}.
  void write(std::uint64_t first_page, std::span<const std::byte> made);

  // For a FilePart in another process that writes pages (NewFile::mark() and note_made()).
  NewFile& file() noexcept { return *file_; }

  // Adds hashes of domain entries in ascending order. A hash that equals the one before it is dropped. Call it after
  // the last address. Throws BloomgateError{cannot_write}.
  void add_domains(std::span<const KeyHash> hashes);
  // The same for the domains of all addresses. Call it after the last domain entry.
  void add_sender_domains(std::span<const KeyHash> hashes);

  // Sets which of all added entries are pairs. Call it before complete().
  void set_kinds(const KindsHeld& kinds) noexcept { header_.kinds = kinds; }

  // Call it before complete() if the store is a part.
  void set_part(const StorePart& part) noexcept { header_.part = part; }

  // Completes the file, reads it back and checks it. Returns its identity. Throws as NewFile::complete().
  std::uint64_t complete();

  // See above. Throw BloomgateError{cannot_write}.
  void stage() { file_->stage(); }
  void publish(const KeepOld& keep_old = {}) { file_->publish(keep_old); }

  // As it was completed.
  const StoreHeader& header() const noexcept { return header_; }
  std::uint64_t file_bytes() const;

 private:
  void write_chunks(const std::vector<StoreChunk>& chunks);
  void finish_pages();
  void finish_domains();

  StoreHeader header_;
  unsigned threads_;
  std::uint64_t most_domains_;
  std::uint64_t most_sender_domains_;
  StoreCut cut_;
  std::unique_ptr<NewFile> file_;
  std::unique_ptr<SectionStream> domains_;
  std::unique_ptr<SectionStream> sender_domains_;
  bool pages_are_finished_ = false;
  bool domains_are_finished_ = false;
};

}  // namespace bloomgate
