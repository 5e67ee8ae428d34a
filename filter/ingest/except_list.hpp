// Entries that `bloomgate build --leave-out` excludes from the lists, exactly: it compares whole keys. One thread fills
// it; after that it is safe from any thread.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/ingest/format.hpp"

namespace bloomgate {

class ExceptList {
 public:
  ExceptList() = default;  // empty

  // Reads lists of the format "text". `files` come from list_files(). Takes some 100 bytes for each entry. Throws what
  // Blocks throws, and BloomgateError{bad_input} for a line that is not an entry: otherwise the sender whom it was to
  // exclude would stay listed.
  ExceptList(const std::vector<std::string>& files, AddressProfile profile, const std::atomic<bool>& stop);

  bool empty() const noexcept { return keys_.empty(); }

  // Whether it has an entry that a filter keeps exactly: for a domain or a mailing list, with a signer, or a pair with
  // such a side.
  bool has_domains() const noexcept { return has_domains_; }
  // Whether it has an entry that is not a pair.
  bool has_senders() const noexcept { return has_senders_; }

  // Whether an entry with that key is left out: by itself, or by an entry for its domain (`@domain`, `@.domain`) or for
  // the hosts above a mailing list (`list:*.host`). A pair is also left out by a wider pair, and by an entry that
  // leaves its sender out. An entry with a signer is also left out by a wider one with that signer, and by an entry
  // that leaves out the part before the signer. The profile that made the key must be that of this list.
  bool has(std::string_view key) const noexcept;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const noexcept { return std::hash<std::string_view>()(key); }
  };
  using Keys = std::unordered_set<std::string, Hash, std::equal_to<>>;

 public:
  const Keys& keys() const noexcept { return keys_; }

 private:
  bool is_key(std::string_view key) const noexcept { return keys_.contains(key); }
  bool has_pair(std::string_view key) const noexcept;

  Keys keys_;
  bool has_domains_ = false;
  bool has_senders_ = false;
  bool has_domain_pairs_ = false;
};

}  // namespace bloomgate
