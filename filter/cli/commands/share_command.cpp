// `bloomgate share`: shows other hosts what the daemon has learned, as hashes.
#include <sysexits.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>

#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/manifest_options.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/cli/watch.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/jobs/share_job.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

const HelpText kShareHelp = {
    .synopsis =
        "bloomgate share FILE FOLDER --learn-key KEYFILE --sign-key KEYFILE [OPTION...]\n"
        "       bloomgate share --new-learn-key KEYFILE",
    .purpose =
        "Publishes for other hosts what the daemon on this host has learned (its option learn). It keeps FOLDER up to "
        "date with FILE, as hashes by a key that the hosts share, and signs it. FOLDER has no addresses. Any web "
        "server can publish it; 'bloomgate pull' fetches it on another host, where the daemon uses it (its option "
        "learned-from).",
    .examples =
        "  bloomgate share --new-learn-key /etc/bloomgate/learn.key       # once; the same file on every host\n"
        "  bloomgate share /var/lib/bloomgate/learned/learned.db /var/www/learned --learn-key \\\n"
        "    /etc/bloomgate/learn.key --sign-key /etc/bloomgate/share.key --watch 1\n"};

struct ShareCommand {
  std::string new_key;
  std::string learn_key;
  std::string sign_key;
  std::string keep = "180d";
  unsigned watch_seconds = 0;
  ManifestOptions manifest;
  bool json = false;
  bool quiet = false;
};

Json json_of(const ShareResult& result, const std::string& folder) {
  Json json = written_json(WrittenManifest{{result.manifest}, manifest_path(folder)});
  json["changed"] = result.is_new;
  json["new_file"] = result.file;
  json["whole"] = result.is_whole;
  json["bytes"] = result.bytes;
  json["pairs"] = result.pairs;
  json["forgets"] = result.forgets;
  return json;
}

void print(const ShareResult& result, const std::string& folder, bool json) {
  if (json) return print_report(json_of(result, folder));
  const Manifest& manifest = result.manifest.manifest;
  std::cout << (result.is_new ? "shared     " : "unchanged  ") << "list " << manifest.list << ", number "
            << manifest.number << ": " << format_counted(result.pairs, "pair", "pairs")
            << (result.is_whole ? " in all" : "") << ", " << format_count(result.forgets) << " forgotten, "
            << format_bytes(result.bytes) << std::endl;
}

}  // namespace

int run_share(const Arguments& arguments) {
  std::vector<std::string> operands;
  ShareCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("learn-key", po::value(&command.learn_key)->value_name("KEYFILE"),
       "the key that the hosts share, by which the hashes are made")                                                 //
      ("new-learn-key", po::value(&command.new_key)->value_name("KEYFILE"), "make such a key, and do nothing else")  //
      ("sign-key", po::value(&command.sign_key)->value_name("KEYFILE"),
       "the secret key to sign with, made with 'bloomgate sign --new-key'; each host has its own")  //
      ("keep", po::value(&command.keep)->default_value("180d")->value_name("AGE"),
       "how long a forgotten pair stays in FOLDER, so that others forget it, too: as long as the daemons keep a pair "
       "(learn-keep)")  //
      ("watch", po::value(&command.watch_seconds)->value_name("SECONDS"),
       "keep running, and look every SECONDS; SIGTERM ends it");
  command.manifest.add_to(visible);
  add_quiet(command.quiet, visible);
  add_json(command.json, visible);
  const auto values = parse_command_line(arguments, visible, &operands, kShareHelp);
  if (!values) return EX_OK;
  if (!command.new_key.empty()) {
    if (!operands.empty()) throw UsageError("--new-learn-key takes no FILE and no FOLDER");
    LearnKey::make().write_to(command.new_key);
    return EX_OK;
  }
  if (operands.size() != 2) throw UsageError("name the file of what the daemon has learned, and a folder");
  if (command.learn_key.empty()) throw UsageError("give --learn-key: the shared hashes are made with it");
  if (command.sign_key.empty()) throw UsageError("give --sign-key: without it anybody could list senders elsewhere");
  const bool stays = values->count("watch") != 0;
  const std::chrono::seconds interval = stays ? watch_interval(command.watch_seconds) : std::chrono::seconds();
  JobProgress progress(command.quiet);
  ShareJob job({.file = operands[0],
                .folder = operands[1],
                .learn_key = LearnKey::read_from(command.learn_key),
                .sign_key = std::make_shared<const SecretKey>(SecretKey::read_from(command.sign_key)),
                .manifest = command.manifest.request(true, "--sign-key"),
                .keep = parse_age(command.keep, "--keep")},
               progress, stop_flag());
  const auto share = [&] { return job.share(ShareJob::Clock::now()); };
  if (!stays) {
    const ShareResult result = share();
    if (shows_result(command.json, command.quiet)) print(result, operands[1], command.json);
    return EX_OK;
  }
  watch(interval, progress, "what is learned is shared again", [&] {
    const ShareResult result = share();
    if (result.is_new && shows_result(command.json, command.quiet)) print(result, operands[1], command.json);
  });
  return EX_OK;
}

}  // namespace bloomgate::cli
