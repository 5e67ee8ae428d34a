// The known strangers of a build or an update (`--not`), if there are any, and what is found out about them. Used by
// one thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/engine/builder.hpp"
#include "filter/inputs/job_names.hpp"
#include "filter/inputs/stranger_lists.hpp"

namespace bloomgate {

class StrangerCheck {
 public:
  // Reads the lists, if there are any, for a filter with these options; then half of their memory is for the strangers,
  // and taken off there. `show` gets the lines about entries among them. Of the strangers those with hashes in `range`
  // are kept. Throws what StrangerLists throws.
  StrangerCheck(const std::vector<std::string>& files, BuildOptions& options, bool is_strict, const JobNames& names,
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
  StrangerLists lists_;
  bool is_strict_;
  JobNames names_;
  std::function<void(std::string_view)> show_;
  std::unique_ptr<KnownStrangers> strangers_;
  StrangerReview review_;
};

}  // namespace bloomgate
