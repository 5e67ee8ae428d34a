// The lists of `--not` of `bloomgate build` and `update`: who must not be taken for listed. They are read twice: before
// the entries, and again for the names of those who are entries in spite of it, as a hash tells no name. Used by one
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address_profile.hpp"
#include "filter/engine/known_strangers.hpp"

namespace bloomgate {

// What is wrong with the lists.
struct StrangerReview {
  std::uint64_t listed = 0;    // addresses that are entries, or that a domain entry lists; and lines of domain entries
  std::uint64_t rejected = 0;  // lines that are not entries; nobody has such an address
};

class StrangerLists {
 public:
  // Lists of the format "text"; `files` as list_files() gives them, `name` is what messages call them. Throws
  // BloomgateError{cannot_open}, and {not_a_regular_file} for what cannot be read twice.
  StrangerLists(std::vector<std::string> files, const std::string& name, AddressProfile profile, unsigned threads,
                const std::atomic<bool>& stop);

  bool empty() const noexcept { return files_.empty(); }

  // Adds all addresses, and settles `strangers`, which has a lane for each thread. A domain entry (`@domain`) among
  // them stands for itself, and not for the addresses in it: it is kept exactly, so it needs no exclusion. A pair of
  // addresses stands for itself, too, and an address not for its pairs. Throws what
  // Blocks throws, and BloomgateError{out_of_memory} if there are more addresses than `strangers` has room for.
  void read_into(KnownStrangers& strangers);

  // Shows the first lines that name an entry, and counts all. Reads no further than it must: without domain entries the
  // number is known already. `strangers` know the entries now. Throws what Blocks throws.
  StrangerReview review(KnownStrangers& strangers, const std::function<void(std::string_view)>& show) const;

 private:
  std::vector<std::string> files_;
  AddressProfile profile_;
  unsigned threads_;
  const std::atomic<bool>& stop_;
  std::uint64_t rejected_ = 0;
};

}  // namespace bloomgate
