// The options that choose a layout and a hash family, for the subcommands that make or plan a filter.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "filter/layout/layout.hpp"

namespace bloomgate::cli {

struct ShapeOptions {
  std::string layout = "page";
  std::string block_bytes;
  std::string hash_family = "xxh3";

  // --layout, and --block-bytes with it, stored in here by the parser.
  // `by_default` is "(default: ...)" of a command that has another default than the layout page.
  void add_layout_name_to(boost::program_options::options_description& options, const std::string& by_default = {});
  void add_layout_to(boost::program_options::options_description& options, const std::string& by_default = {});
  // --hash.
  void add_hash_to(boost::program_options::options_description& options);

  // The values of the options. Throw a UsageError that says what can be chosen.
  Layout chosen_layout() const;
  std::optional<std::uint32_t> chosen_block_bytes() const;
  HashFamily chosen_hash_family() const;
};

}  // namespace bloomgate::cli
