// `bloomgate rollback`: puts a filter back that a build has kept (--keep), or the layers of a folder.
#include <sysexits.h>
#include <unistd.h>

#include <iostream>

#include "filter/base/json.hpp"
#include "filter/base/parallel.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/generation_text.hpp"
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

// Of the last change that was made, if no other is named: one that was killed before it changed anything is none.
void put_layers_back(const std::string& folder, unsigned number) {
  const FolderLock lock(folder, stop_flag());
  if (number == 1) drop_unchanged_generation(folder);
  const std::string kept = generation_path(folder, number);
  if (is_folder(kept)) {
    for (const Layer& layer : usable_layers_in(kept)) MappedFilter(layer.path).verify_body(default_threads());
  }
  exchange_generation(folder, number);
}

void put_filter_back(const std::string& path, unsigned number, const std::string& store) {
  require_sound(path, number, store);
  if (store.empty()) {
    exchange_generation(path, number);
  } else {
    exchange_pair(path, number, store, default_threads());
  }
}

void print_rollback(const std::string& path, const std::string& replaced) {
  std::cout << "in place  " << generation_text(describe(path)) << '\n';
  if (access(replaced.c_str(), F_OK) == 0) std::cout << "replaced  " << generation_text(describe(replaced)) << '\n';
  std::cout << "A running daemon takes it in by itself; 'systemctl reload bloomgate-milter' waits until it has.\n"
               "The same command takes this back.\n";
}

void print_rollback_json(const std::string& path, const std::string& replaced) {
  Json json = {{"in_place", generation_json(describe(path))}, {"replaced", nullptr}};
  if (access(replaced.c_str(), F_OK) == 0) json["replaced"] = generation_json(describe(replaced));
  print_report(json);
}

}  // namespace

int run_rollback(const Arguments& arguments) {
  std::vector<std::string> operands;
  unsigned number = 1;
  std::string store;
  bool json = false;
  po::options_description visible("options");
  visible.add_options()  //
      ("to", po::value(&number)->default_value(1)->value_name("N"),
       "the number of the generation to put back: FILE.N or FOLDER.N")  //
      ("store", po::value(&store)->value_name("FILE"),
       "where the store of the filter is: the one of that generation is put back with it");
  add_json(json, visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate rollback FILE|FOLDER [--to N] [--store FILE] [--json]",
       .purpose =
           "Puts back a filter that 'bloomgate build --keep' has kept, in one step: FILE and FILE.N exchange\n"
           "their names. So the same command takes it back, and nothing is lost. Of a folder of layers it takes\n"
           "the last 'append --keep' or 'fold --keep' back in the same way.",
       .examples = "  bloomgate rollback /var/lib/bloomgate/whitelist.bloom && systemctl reload bloomgate-milter\n"
                   "  bloomgate info /var/lib/bloomgate/whitelist.bloom      # shows the generations\n"});
  if (!values) return EX_OK;
  if (number < 1 || number > kMostGenerations) {
    throw UsageError("--to takes a number from 1 to " + std::to_string(kMostGenerations));
  }
  const bool has_layers = is_folder(only_filter(operands));
  if (has_layers && !store.empty()) throw UsageError("--store goes with a filter file; a folder of layers has none");
  const std::string path = has_layers ? own_path_of(operands.front()) : resolve_link(operands.front());
  if (has_layers) {
    put_layers_back(path, number);
  } else {
    put_filter_back(path, number, store);
  }
  (json ? print_rollback_json : print_rollback)(path, generation_path(path, number));
  return EX_OK;
}

}  // namespace bloomgate::cli
