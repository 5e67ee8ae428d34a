// The known strangers of a build or an update (`--not`), if there are any, and what is found out about them. Used by
// one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/build/builder.hpp"
#include "filter/cli/lists/stranger_lists.hpp"

namespace bloomgate::cli {

class StrangerCheck {
 public:
  // Reads the lists, if there are any, for a filter with these options; then half of their memory is for the strangers,
  // and taken off there. `show` gets the lines about entries among them. Throws what StrangerLists throws.
  StrangerCheck(const std::vector<std::string>& files, BuildOptions& options, bool is_strict,
                std::function<void(std::string_view)> show);

  // Known once what has them was written.
  const StrangerReview& review() const noexcept { return review_; }

  // To a FilterBuilder or a StoreUpdate. With `is_strict`, its write() throws BloomgateError{bad_input} if an entry is
  // among the strangers, or a line that is no address.
  template <typename Builder>
  void attach_to(Builder& builder) {
    if (strangers_) builder.set_strangers(*strangers_, [this] { look_at_entries(); });
  }

 private:
  void look_at_entries();

  StrangerLists lists_;
  bool is_strict_;
  std::function<void(std::string_view)> show_;
  std::unique_ptr<KnownStrangers> strangers_;
  StrangerReview review_;
};

}  // namespace bloomgate::cli
