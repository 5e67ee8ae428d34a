// The known strangers of a build or an update (`--not`), if there are any, who must not be taken for listed, and what
// is found out about them. Their lists are read twice: before the entries, and again for the names of those who are
// entries in spite of it, as a hash tells no name. Used by one thread.
//
// The lists have the format "text". A domain entry (`@domain`) among them stands for itself, and not for the addresses
// in it: it is kept exactly, so it needs no exclusion. A pair of addresses stands for itself, too, and an address not
// for its pairs.
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

// What is wrong with the lists.
struct StrangerReview {
  std::uint64_t listed = 0;    // addresses that are entries, or that a domain entry lists; and lines of domain entries
  std::uint64_t rejected = 0;  // lines that are not entries, so no sender has such an address
};

class StrangerCheck {
 public:
  // Reads the lists, if there are any, for a filter with these options; then half of their memory is for the strangers,
  // and taken off there. `files` as list_files() gives them. `show` gets the lines about entries among them. Of the
  // strangers those with hashes in `range` are kept. Throws what Blocks throws, BloomgateError{not_a_regular_file} for
  // what cannot be read twice, and {out_of_memory} if there are more addresses than fit.
  StrangerCheck(const std::vector<std::string>& files, BuildOptions& options, bool is_strict,
                std::function<void(std::string_view)> show, const std::atomic<bool>& stop, HashRange range = {});

  // Known once what has them was written.
  const StrangerReview& review() const noexcept { return review_; }

  // To a FilterBuilder or a StoreUpdate, whose write() calls look_at_entries().
  template <typename Builder>
  void attach_to(Builder& builder) {
    if (strangers_) builder.set_strangers(*strangers_, [this] { look_at_entries(); });
  }

  // For who does as these do; null: there are no lists.
  KnownStrangers* strangers() noexcept { return strangers_.get(); }
  // Once all is noted. Throws BloomgateError{bad_input}, with `is_strict`, if an entry is among the strangers, or a
  // line that is no address.
  void look_at_entries();

 private:
  void read_lists();
  // Shows the first lines that name an entry. Reads no further than it must: without domain entries the number is known
  // already. Returns how many there are.
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
