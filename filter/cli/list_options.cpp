#include "filter/cli/list_options.hpp"

#include "filter/base/usage_error.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

void ListOptions::add_to(po::options_description& options) {
  options.add_options()  //
      ("format", po::value(&format)->default_value(format)->value_name("text|csv:COLUMN|postfix-map"),
       "how the lists are written, as for build")  //
      ("threads", po::value(&threads)->value_name("N"),
       "use N threads (default: one for each processor)")  //
      ("quiet", po::bool_switch(&quiet), "show no progress and no hints");
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

void add_allow_rejects(LossLimits& limits, po::options_description& options) {
  limits.rejects.advice = "--allow-rejects takes the others all the same";
  options.add_options()("allow-rejects", po::bool_switch(&limits.rejects.is_lifted),
                        "continue even if more than a tenth of the lines is rejected");
}

void add_allow_empty(LossLimits& limits, po::options_description& options) {
  limits.empty.advice = "If that is meant, give --allow-empty";
  options.add_options()("allow-empty", po::bool_switch(&limits.empty.is_lifted),
                        "continue even if no entry would be left");
}

void add_allow_shrink(LossLimits& limits, po::options_description& options) {
  limits.shrink.advice = "If that is meant, give --allow-shrink";
  options.add_options()(
      "allow-shrink", po::bool_switch(&limits.shrink.is_lifted),
      "continue even if the new filter has less than half of the entries of the one that it replaces");
}

}  // namespace bloomgate::cli
