// `bloomgate pull`: brings a folder of layers up to what is published at a URL.
#include "filter/cli/pull/pull_command.hpp"

#include <sysexits.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <utility>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/cli/watch.hpp"
#include "filter/pull/pull_job.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr unsigned kMostSeconds = 86'400;

const HelpText kPullHelp = {
    .synopsis = "bloomgate pull URL FOLDER --trusted-key KEY [OPTION...]",
    .purpose =
        "Updates a folder from a URL: layers that another machine has made and signed (add-layer, fold-layers or sign, "
        "with a key), or what it has learned (share). Any web server can publish them. The manifest is fetched first, "
        "then each missing file; a file that was cut off continues where it ended. Each file is checked before it gets "
        "its name. A daemon whose whitelist is the folder loads it at once. An older state, another list, or a file "
        "without a trusted signature is refused, and the folder stays as it is.",
    .examples =
        "  bloomgate pull https://lists.example.org/customers/ /var/lib/bloomgate/layers --trusted-key \"$KEY\"\n"
        "  bloomgate pull https://lists.example.org/customers/ layers --trusted-key \"$KEY\" --watch 2\n"};

TrustedKeys keys_of(const std::vector<std::string>& texts) {
  TrustedKeys keys;
  for (const std::string& text : texts) {
    const auto key = PublicKey::parse(text);
    if (!key) throw UsageError("--trusted-key: " + public_key_fault(text));
    keys.push_back(*key);
  }
  return keys;
}

Json json_of(const PullResult& result, const std::string& folder) {
  Json json = written_json(WrittenManifest{{result.manifest}, manifest_path(folder)});
  json["changed"] = result.is_new;
  json["overdue"] = result.is_overdue;
  json["files_fetched"] = result.files;
  json["bytes_fetched"] = result.bytes_fetched;
  return json;
}

void print(const PullResult& result, const std::string& folder, bool json) {
  if (json) return print_report(json_of(result, folder));
  const Manifest& manifest = result.manifest.manifest;
  std::cout << (result.is_new ? "pulled     " : "unchanged  ") << "list " << manifest.list << ", number "
            << manifest.number << ": " << format_counted(result.files, "file", "files") << " fetched, "
            << format_bytes(result.bytes_fetched) << std::endl;
}

void warn_of_old(const PullResult& result, JobObserver& observer) {
  if (!result.is_overdue) return;
  observer.warn(
      "warning: nothing newer is published, and what is there does not hold any longer; see whether its "
      "publisher still signs it, and whether this is the right URL");
}

// `shows` is called with what is new.
void stay(PullJob& job, std::chrono::seconds interval, JobObserver& observer,
          const std::function<void(const PullResult&)>& shows) {
  bool was_overdue = false;
  watch(interval, observer, "the folder can be pulled again", [&] {
    const PullResult result = job.pull();
    if (result.is_new) shows(result);
    if (!std::exchange(was_overdue, result.is_overdue)) warn_of_old(result, observer);
  });
}

}  // namespace

int run_pull(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::vector<std::string> keys;
  std::string most_bytes;
  unsigned timeout = 0;
  unsigned watch_seconds = 0;
  bool json = false;
  bool quiet = false;
  PullRequest request;
  po::options_description visible("options");
  visible.add_options()  //
      ("trusted-key", po::value(&keys)->value_name("KEY"),
       "a public key that may have signed what is published; may be repeated")  //
      ("list-name", po::value(&request.list_name)->value_name("NAME"),
       "the name of the list: needed if one key signs several lists, each with its own --list-name")  //
      ("watch", po::value(&watch_seconds)->value_name("SECONDS"),
       "keep running, and ask every SECONDS; SIGTERM ends it")  //
      ("most-bytes", po::value(&most_bytes)->default_value("16G")->value_name("SIZE"),
       "refuse a whitelist that is larger")  //
      ("proxy", po::value(&request.web.proxy)->value_name("URL"),
       "a proxy (default: https_proxy and no_proxy of the environment)")  //
      ("timeout", po::value(&timeout)->default_value(0)->value_name("SECONDS"),
       "the time for one file (0: no limit while data arrive)");
  add_quiet(quiet, visible);
  add_json(json, visible);
  const auto values = parse_command_line(arguments, visible, &operands, kPullHelp);
  if (!values) return EX_OK;
  if (operands.size() != 2) throw UsageError("name a URL and a folder");
  if (keys.empty()) throw UsageError("give --trusted-key: without it anybody could publish");
  if (!request.list_name.empty() && !is_list_name(request.list_name)) {
    throw UsageError("--list-name takes 1 to 63 letters, digits, dots, hyphens and underscores, and no dot in front");
  }
  if (timeout > kMostSeconds) throw UsageError("--timeout takes at most " + std::to_string(kMostSeconds) + " seconds");
  const bool stays = values->count("watch") != 0;
  const std::chrono::seconds interval = stays ? watch_interval(watch_seconds) : std::chrono::seconds();
  request.url = operands[0];
  request.folder = operands[1];
  request.trusted_keys = keys_of(keys);
  request.web.timeout = std::chrono::seconds(timeout);
  request.most_bytes = parse_bytes(most_bytes, "--most-bytes");
  JobProgress progress(quiet);
  PullJob job(std::move(request), progress, stop_flag());
  if (stays) {
    stay(job, interval, progress, [&](const PullResult& result) {
      if (shows_result(json, quiet)) print(result, operands[1], json);
    });
    return EX_OK;
  }
  const PullResult result = job.pull();
  warn_of_old(result, progress);
  if (shows_result(json, quiet)) print(result, operands[1], json);
  return EX_OK;
}

}  // namespace bloomgate::cli
