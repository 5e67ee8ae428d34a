// The options --store-seed and --store-seed-file of the commands that make a store. Other users of a machine see the
// arguments of its programs, so a seed that must stay secret comes from a file.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace bloomgate::cli {

class StoreSeedOption {
 public:
  // Declares both; `purpose` is that of --store-seed.
  void add_to(boost::program_options::options_description& options, const char* purpose);
  // The seed, if one was given. Throws UsageError for two of them and for what is not a number, and what reading the
  // file throws.
  std::optional<std::uint64_t> chosen(const boost::program_options::variables_map& values) const;

 private:
  std::string seed_;
  std::string file_;
};

}  // namespace bloomgate::cli
