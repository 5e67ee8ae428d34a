#include "filter/cli/list_options.hpp"

#include "filter/base/usage_error.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

void ListOptions::add_to(po::options_description& options) {
  options.add_options()  //
      ("format", po::value(&format)->default_value(format)->value_name("FORMAT"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("quiet", po::bool_switch(&quiet), "show no progress");
}

void add_broad_files(BroadFiles& files, po::options_description& options) {
  options.add_options()  //
      ("free-mail-domains", po::value(&files.free_mail_domains)->value_name("FILE"),
       "warn of @domain entries for these free-mail domains (default: " BLOOMGATE_CONFIG_FOLDER
       "/free-mail-domains.txt)")  //
      ("shared-signers", po::value(&files.shared_signers)->value_name("FILE"),
       "warn of entries signed-by these services, which sign for anybody (default: " BLOOMGATE_CONFIG_FOLDER
       "/shared-signers.txt)");
}

unsigned checked_threads(unsigned threads) {
  constexpr unsigned kMost = 256;
  if (threads < 1 || threads > kMost) throw UsageError("--threads takes 1 to " + std::to_string(kMost));
  return threads;
}

}  // namespace bloomgate::cli
