#include "filter/cli/commands/store_seed_option.hpp"

#include "filter/base/ascii.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/cli/command_line.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

namespace {

// What the file holds may be another secret, so no message shows it.
std::uint64_t seed_in(const std::string& path) {
  const std::string text(ascii::trimmed(read_text(path), " \t\r\n"));
  try {
    return parse_seed(text, "--store-seed-file");
  } catch (const UsageError&) {
    throw UsageError("--store-seed-file: " + path +
                     " is not the file of a seed, which is one number below 2^64 such as 42 or 0x2a");
  }
}

}  // namespace

void StoreSeedOption::add_to(po::options_description& options, const char* purpose) {
  options.add_options()("store-seed", po::value(&seed_)->value_name("SEED"), purpose)(
      "store-seed-file", po::value(&file_)->value_name("FILE"),
      "a file or a pipe with that seed: other users can see a seed on the command line");
}

std::optional<std::uint64_t> StoreSeedOption::chosen(const po::variables_map& values) const {
  const bool is_named = is_given(values, "store-seed");
  const bool is_in_file = is_given(values, "store-seed-file");
  if (is_named && is_in_file) throw UsageError("give one of --store-seed-file and --store-seed");
  if (is_named) return parse_seed(seed_, "--store-seed");
  if (is_in_file) return seed_in(file_);
  return std::nullopt;
}

}  // namespace bloomgate::cli
