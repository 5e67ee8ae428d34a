// The excluded senders of a build or an update (`--never-match`), if there are any, and what is found out about them.
// Their lists are read twice: before the entries, and again for the names of those that are entries in spite of their
// exclusion, since the names cannot be restored from hashes. Used by one thread.
//
// The lists have the format "text". A domain entry (`@domain`) in them stands for itself, and not for the addresses at
// that domain: a filter keeps it exactly, so it needs no exclusion. A pair of addresses stands for itself, too. An
// address does not stand for its pairs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address_profile.hpp"
#include "filter/engine/builder.hpp"
#include "filter/engine/known_strangers.hpp"

namespace bloomgate {

// The faults of the lists of excluded senders.
struct StrangerReview {
  std::uint64_t lines = 0;     // of the lists, without blank ones and comments
  std::uint64_t listed = 0;    // addresses that are entries, or that a domain entry lists; and lines of domain entries
  std::uint64_t rejected = 0;  // lines that are not entries, so no sender has such an address
};

class StrangerCheck {
 public:
  // Reads the lists, if there are any, for a filter with these options. Half of the options' memory is then for the
  // excluded senders, and is subtracted there. `files` come from list_files(). `show` gets the lines about entries
  // among them. Only excluded senders with hashes in `range` are kept. Throws what Blocks throws,
  // BloomgateError{not_a_regular_file} for a list that cannot be read twice, and {out_of_memory} if there are more
  // addresses than fit.
  StrangerCheck(const std::vector<std::string>& files, BuildOptions& options, bool is_strict,
                std::function<void(std::string_view)> show, const std::atomic<bool>& stop, HashRange range = {});

  // `listed` is known once the filter was written, the rest from the start.
  const StrangerReview& review() const noexcept { return review_; }

  // Attaches them to a FilterBuilder or a StoreUpdate, whose write() calls look_at_entries().
  template <typename Builder>
  void attach_to(Builder& builder) {
    if (strangers_) builder.set_strangers(*strangers_, [this] { look_at_entries(); });
  }

  // For a caller that does the same by itself; null if there are no lists.
  KnownStrangers* strangers() noexcept { return strangers_.get(); }
  // Call it when everything is noted. With `is_strict`, throws BloomgateError{bad_input} if an entry is among the
  // excluded senders, or if a line is not an address.
  void look_at_entries();

 private:
  void read_lists();
  // Shows the first lines that name an entry, and returns how many there are. It reads no further than necessary:
  // without domain entries the number is known already.
  std::uint64_t show_entries() const;

  std::vector<std::string> files_;
  AddressProfile profile_;
  unsigned threads_;
  bool is_strict_;
  std::function<void(std::string_view)> show_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<KnownStrangers> strangers_;
  StrangerReview review_;
};

}  // namespace bloomgate
