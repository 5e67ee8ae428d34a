// `bloomgate rollback`: puts a filter back that a build has kept (--keep), or the layers of a folder.
#include <sysexits.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>

#include "filter/base/json.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/generation_text.hpp"
#include "filter/cli/commands/manifest_options.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/kept_pairs.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

// What is damaged would be refused by the daemon; better here, while the other one is in place.
void require_sound(const std::string& path, unsigned number, const std::string& store_path) {
  const std::string generation = generation_path(path, number);
  if (access(generation.c_str(), F_OK) != 0) return;  // exchange_generation() says what to do
  const MappedFilter filter(generation);
  filter.verify_body(default_threads());
  if (filter.header().store_identity != 0 && store_path.empty()) {
    throw UsageError(generation + " goes with a store; name its place with --store, so that both are put back");
  }
}

// What was asked of the manifest.
struct Publishing {
  std::shared_ptr<const SecretKey> key;
  ManifestRequest request;
};

// A reader that has seen the present number would refuse what is put back, unless it gets a larger one.
void require_key(const std::string& whitelist, unsigned number, const Publishing& publishing) {
  for (const std::string& each : {whitelist, generation_path(whitelist, number)}) {
    const std::string manifest = manifest_path(each);
    if (publishing.key || access(manifest.c_str(), F_OK) != 0) continue;
    throw UsageError(manifest + " is signed, so readers refuse an older whitelist without a new manifest; " +
                     "give --sign-key FILE to write one");
  }
}

ManifestWriter writer_of(const std::string& whitelist, const Publishing& publishing) {
  return {whitelist, publishing.key, publishing.request, [](std::string_view line) { std::cerr << line << '\n'; }};
}

// Of the last change that was made, if no other is named: one that was killed before it changed anything is none.
// Layers, what is revoked and the manifest come into their place in one step.
std::optional<WrittenManifest> put_layers_back(const std::string& folder, unsigned number,
                                               const Publishing& publishing) {
  const FolderLock lock(folder, stop_flag());
  require_key(folder, number, publishing);
  if (number == 1) drop_unchanged_generation(folder);
  const std::string kept = generation_path(folder, number);
  if (is_folder(kept)) {
    for (const Layer& layer : usable_layers_in(kept)) MappedFilter(layer.path).verify_body(default_threads());
  }
  std::optional<WrittenManifest> written;
  if (publishing.key) {
    const ManifestWriter manifest = writer_of(folder, publishing);
    bring_revoked(folder, number);
    written = manifest.write_into(kept);
    written->path = manifest_path(folder);
  }
  exchange_generation(folder, number);
  return written;
}

std::optional<WrittenManifest> put_filter_back(const std::string& path, unsigned number, const std::string& store,
                                               const Publishing& publishing) {
  require_key(path, number, publishing);
  require_sound(path, number, store);
  const ManifestWriter manifest = writer_of(path, publishing);
  if (publishing.key) manifest.require_may_name(generation_path(path, number));
  if (store.empty()) {
    exchange_generation(path, number);
  } else {
    exchange_pair(path, number, store, default_threads());
  }
  return manifest.write();
}

// The daemon loads no counting filter.
bool is_counting(const std::string& path) {
  return !is_folder(path) && MappedFilter(path).header().shape.layout == Layout::counting;
}

void print_rollback(const std::string& path, const std::string& replaced,
                    const std::optional<WrittenManifest>& written) {
  std::cout << "in place  " << generation_text(describe(path)) << '\n';
  if (access(replaced.c_str(), F_OK) == 0) std::cout << "replaced  " << generation_text(describe(replaced)) << '\n';
  print_written("manifest  ", written);
  if (is_counting(path)) {
    std::cout << "Now run: bloomgate counting-export " << shell_word(path, "FILE") << " --output FILTER\n";
  } else {
    std::cout << "A running daemon loads it by itself; 'systemctl reload bloomgate-milter' waits until that is done.\n";
  }
  std::cout << "To undo this, run the same command again.\n";
}

void print_rollback_json(const std::string& path, const std::string& replaced,
                         const std::optional<WrittenManifest>& written) {
  Json json = {
      {"in_place", generation_json(describe(path))}, {"replaced", nullptr}, {"manifest", written_json(written)}};
  if (access(replaced.c_str(), F_OK) == 0) json["replaced"] = generation_json(describe(replaced));
  print_report(json);
}

}  // namespace

int run_rollback(const Arguments& arguments) {
  std::vector<std::string> operands;
  unsigned number = 1;
  std::string store;
  std::string sign_key;
  ManifestOptions manifest;
  bool json = false;
  bool quiet = false;
  po::options_description visible("options");
  visible.add_options()  //
      ("to", po::value(&number)->default_value(1)->value_name("N"),
       "the generation to restore: FILE.N or FOLDER.N")  //
      ("store", po::value(&store)->value_name("FILE"),
       "the store of the filter, which is restored with it")  //
      ("sign-key", po::value(&sign_key)->value_name("FILE"),
       "write a new manifest, signed with the secret key in FILE; needed if there is a manifest");
  manifest.add_to(visible);
  add_quiet(quiet, visible);
  add_json(json, visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate rollback FILE|FOLDER [--to N] [OPTION...]",
       .purpose = "Restores a filter that 'bloomgate build --keep' has kept, in one step: FILE and FILE.N exchange "
                  "their names. So the same command undoes it, and nothing is lost. For a folder of layers it undoes "
                  "the last 'add-layer --keep' or 'fold-layers --keep' in the same way; revoked senders stay revoked.",
       .examples = "  bloomgate rollback /var/lib/bloomgate/whitelist.bloom && systemctl reload bloomgate-milter\n"
                   "  bloomgate info /var/lib/bloomgate/whitelist.bloom      # shows the generations\n"});
  if (!values) return EX_OK;
  if (number < 1 || number > kMostGenerations) {
    throw UsageError("--to takes a number from 1 to " + std::to_string(kMostGenerations));
  }
  const bool has_layers = is_folder(only_filter(operands));
  if (has_layers && !store.empty()) throw UsageError("--store goes with a filter file; a folder of layers has none");
  const std::string path = has_layers ? own_path_of(operands.front()) : resolve_link(operands.front());
  Publishing publishing{nullptr, manifest.request(!sign_key.empty(), "--sign-key")};
  if (!sign_key.empty()) publishing.key = std::make_shared<const SecretKey>(SecretKey::read_from(sign_key));
  const std::optional<WrittenManifest> written =
      has_layers ? put_layers_back(path, number, publishing) : put_filter_back(path, number, store, publishing);
  if (shows_result(json, quiet))
    (json ? print_rollback_json : print_rollback)(path, generation_path(path, number), written);
  return EX_OK;
}

}  // namespace bloomgate::cli
