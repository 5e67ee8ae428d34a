// Entries that `bloomgate build --except` leaves out, exactly: whole keys are compared. Filled by one thread; from then
// on safe from any.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/cli/lists/format.hpp"

namespace bloomgate::cli {

class ExceptList {
 public:
  ExceptList() = default;  // empty

  // Reads lists of the format "text". `files` are as list_files() gives them. Takes some 100 bytes for each entry.
  // Throws what Blocks throws, and BloomgateError{bad_input} for a line that is no entry: whom it was to leave out
  // would stay listed.
  ExceptList(const std::vector<std::string>& files, AddressProfile profile, const std::atomic<bool>& stop);

  bool empty() const noexcept { return keys_.empty(); }

  // Whether it has an entry for a domain.
  bool has_domains() const noexcept { return has_domains_; }

  // Whether an entry with that key is left out: by itself, or by an entry for its domain (`@domain`, `@.domain`). The
  // profile that made the key must be that of this list.
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

  Keys keys_;
  bool has_domains_ = false;
};

}  // namespace bloomgate::cli
