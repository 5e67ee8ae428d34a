// `bloomgate append` and `fold`: make the layers of a folder (layer_folder.hpp). What they build, `bloomgate build`
// builds.
//
// The rates follow Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007: layer i has the rate
// P_i = P_0 * r^i, with r = 1/2, so that all together stay below P_0 / (1 - r) = 2 * P_0, however many they are. A new
// layer gets the half of what the layers that are there leave of that bound. That is the same series, and where layers
// go, what they took is free again.
//
// An entry that a lower layer has is put into the new one all the same: a hit may be a false positive, and a lower
// layer may be removed one day.
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/parallel.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/folder_lock.hpp"
#include "filter/cli/commands/kept_output.hpp"
#include "filter/cli/commands/loss_limits.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/engine/combine.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/sign_filter.hpp"
#include "filter/keep/kept_folders.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr double kTightening = 0.5;  // r
// Blocks are sized for them, as those of `bloomgate build`.
constexpr std::uint32_t kUsualHashes = 6;
// A rate below this is no rate: hashes of 64 bits end there for 10^9 entries.
constexpr double kLeastRate = 1e-10;
constexpr mode_t kFolderMode = 0755;

// Options that go to `bloomgate build` as they are.
struct PassedOptions {
  struct Passed {
    const char* name;
    const char* value;  // null: none
    const char* purpose;
  };
  static constexpr Passed kAll[] = {
      {"seed", "N", "seed of the hash (default: random, so that layers have other false positives)"},
      {"expected-entries", "N", "size the layer for N addresses (default: the number in the lists)"},
      {"layout", "LAYOUT", "where an address has its bits, as for build"},
      {"hash", "FAMILY", "how addresses are hashed, as for build"},
      {"threads", "N", "use N threads (default: one for each processor)"},
      {"memory", "M", "working memory beside the filter itself, as for build"},
      {"scratch", "FOLDER", "where to put what does not fit into memory (default: the folder)"},
      {"tag-separators", "CHARACTERS", "treat joe+tag@example.org as joe@example.org, as for build"},
      {"format", "FORMAT", "how the lists are written, as for build"},
      {"newest", "AGE", "take dated lists of the last AGE only, such as 180d, 26w or 1y; others are taken too"},
      {"free-mail-domains", "FILE", "warn of @domain entries for these free-mail domains"},
      {"shared-signers", "FILE", "warn of entries signed-by these services, which sign for anybody"},
      {"reject-file", "FILE", "write all rejected lines to FILE"},
      {"keep-case", nullptr, "treat Joe@example.org and joe@example.org as two addresses"},
      {"no-sender-domains", nullptr, "leave out the domains of all addresses, as for build"},
      {"strict", nullptr, "fail if any line is rejected"},
      {"quiet", nullptr, "show no progress; warnings and bad lines are still shown"},
      {"json", nullptr, "print the report as JSON, for scripts"},
  };

  void add_to(po::options_description& visible) {
    for (const Passed& each : kAll) {
      if (each.value != nullptr) {
        visible.add_options()(each.name, po::value<std::string>()->value_name(each.value), each.purpose);
      } else {
        visible.add_options()(each.name, po::bool_switch(), each.purpose);
      }
    }
    visible.add_options()  //
        ("except", po::value(&exceptions)->composing()->value_name("LIST"),
         "leave out the entries of LIST, a text list; may be given several times")  //
        ("not", po::value(&strangers)->composing()->value_name("LIST"),
         "never take the addresses of LIST for listed by this layer; may be given several times")  //
        ("keep", po::value(&keep)->default_value(0)->value_name("N"),
         "keep the layers as they were in FOLDER.1, and up to N earlier states; 'bloomgate rollback' puts them back")  //
        ("sign-key", po::value(&sign_key)->value_name("FILE"),
         "sign the layer with the secret key in FILE before it has its name, as 'bloomgate sign' does");
    limits.add_empty_to(visible);
    limits.add_reading_to(visible);
  }

  Arguments arguments(const po::variables_map& values) const {
    Arguments all;
    for (const Passed& each : kAll) {
      if (each.value == nullptr) {
        if (values[each.name].as<bool>()) all.push_back("--" + std::string(each.name));
      } else if (values.count(each.name) != 0) {
        all.push_back("--" + std::string(each.name) + "=" + values[each.name].as<std::string>());
      }
    }
    if (limits.empty.is_lifted) all.emplace_back("--allow-empty");
    if (limits.rejects.is_lifted) all.emplace_back("--allow-rejects");
    if (limits.shrink.is_lifted) all.emplace_back("--allow-shrink");
    for (const std::string& list : exceptions) all.push_back("--except=" + list);
    for (const std::string& list : strangers) all.push_back("--not=" + list);
    return all;
  }

  std::vector<std::string> exceptions;
  std::vector<std::string> strangers;
  std::string sign_key;  // not among arguments(): it also goes with a union
  unsigned keep = 0;     // of all layers
  LossLimits limits;
};

void add_sign_key(Arguments& build, const PassedOptions& passed) {
  if (!passed.sign_key.empty()) build.push_back("--sign-key=" + passed.sign_key);
}

std::vector<std::unique_ptr<MappedFilter>> open_layers(const std::vector<Layer>& layers) {
  std::vector<std::unique_ptr<MappedFilter>> filters;
  for (const Layer& layer : layers) filters.push_back(std::make_unique<MappedFilter>(layer.path));
  return filters;
}

// 0003.bloom after 0001.bloom and 0002.bloom; other names count as none.
std::string next_layer(const std::string& folder, const std::vector<Layer>& layers) {
  std::uint64_t highest = 0;
  for (const Layer& layer : layers) {
    std::uint64_t number = 0;
    const char* const end = layer.name.data() + layer.name.size();
    const auto [at, error] = std::from_chars(layer.name.data(), end, number);
    if (error == std::errc() && at == end && number < std::uint64_t{1} << 62) highest = std::max(highest, number);
  }
  std::string name = std::to_string(highest + 1);
  name.insert(0, 4 - std::min<std::size_t>(4, name.size()), '0');
  return (std::filesystem::path(folder) / (name + std::string(kLayerSuffix))).string();
}

// The bound that layers were begun with: twice the rate of the loosest one, as its hashes say it was made, or as it is.
double bound_of(const std::vector<std::unique_ptr<MappedFilter>>& layers) {
  double loosest = 0;
  for (const auto& layer : layers) {
    const double made_for = std::pow(0.5, layer->header().shape.hashes);
    loosest = std::max({loosest, made_for, expected_fpr_of(layer->header())});
  }
  return loosest / (1 - kTightening);
}

// The rate of the next layer. Throws where too little is left.
double next_rate(const std::string& folder, const std::vector<std::unique_ptr<MappedFilter>>& layers, double bound) {
  double sum = 0;
  for (const auto& layer : layers) sum += expected_fpr_of(layer->header());
  const double rate = (bound - sum) * (1 - kTightening);
  if (rate >= kLeastRate) return rate;
  throw BloomgateError(ErrorCode::bad_argument,
                       "the layers of " + folder + " come to a rate of " + format_rate(sum) + ", and " +
                           format_rate(bound) +
                           " is the bound, so there is no room for another one; make one of them "
                           "(bloomgate fold), remove old ones, or give a larger bound with --fpr");
}

// What --keep does: the layers as they are now are kept, and if the change fails they need not be.
class KeptLayers {
 public:
  KeptLayers(const std::string& folder, unsigned keep) : folder_(own_path_of(folder)), keep_(keep) {
    keep_layers(folder_, keep_);
  }
  ~KeptLayers() {
    if (keep_ == 0) return;
    try {
      drop_unchanged_folder(folder_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the next command does it; what has failed is told already
    }
  }
  KeptLayers(const KeptLayers&) = delete;
  KeptLayers& operator=(const KeptLayers&) = delete;

  // The change was made.
  void done() const {
    if (keep_ != 0) trim_kept_folders(folder_, keep_);
  }

 private:
  std::string folder_;
  unsigned keep_;
};

// `keep`, or 0 where a layer is damaged: a bad one would push out a good one. Reads all of them.
unsigned keep_if_sound(const std::vector<Layer>& layers, unsigned keep) {
  if (keep == 0) return 0;
  try {
    for (const Layer& layer : layers) MappedFilter(layer.path).verify_body(default_threads());
    return keep;
  } catch (const BloomgateError& error) {
    std::cerr << "warning: the old layers are not kept: " << error.what() << '\n';
    return 0;
  }
}

void make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), kFolderMode) == 0 || errno == EEXIST) return;
  throw system_error(ErrorCode::cannot_write, "make the folder", folder, errno);
}

// Text for a command line, exact enough for sizes.
std::string number_text(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, 3).ptr};
}

// How the new layer is sized, and spells addresses: as the last one there does.
void add_shape(Arguments& build, const po::variables_map& values, const std::optional<double>& rate,
               const std::vector<std::unique_ptr<MappedFilter>>& layers) {
  const Layout* const asked = values.count("layout") != 0 ? find_layout(values["layout"].as<std::string>()) : nullptr;
  const Layout layout = asked != nullptr ? *asked : Layout::page;  // build refuses what is none
  if (layout_rules(layout).counts_entries()) {
    throw UsageError(
        "--layout counting makes a filter that is kept to be changed, and by which no mail is decided: no "
        "layer can be one");
  }
  if (rate) {
    const std::uint32_t block_bytes = layout_rules(layout).default_block_bytes(kUsualHashes);
    const double bits = std::ceil(bits_per_entry_for_fpr(*rate, layout, block_bytes) * 1000) / 1000;
    build.push_back("--bits-per-entry=" + number_text(std::min(bits, 64.0)));
    if (layout_rules(layout).most_hashes() != 1) {
      build.push_back("--hashes=" + std::to_string(best_hashes(bits, layout, block_bytes)));
    }
  }
  if (layers.empty()) return;
  const AddressProfile profile = layers.back()->header().shape.profile;
  if (values.count("tag-separators") == 0 && !profile.tag_separators.none()) {
    build.push_back("--tag-separators=" + profile.tag_separators.text());
  }
  if (!values["keep-case"].as<bool>() && profile.keep_local_part_case) build.push_back("--keep-case");
}

const HelpText kAppendHelp = {
    .synopsis = "bloomgate append FOLDER [OPTION...] INPUT...",
    .purpose =
        "Makes the next layer of a folder of filters (0001.bloom, 0002.bloom, ...) from lists, as build makes a\n"
        "filter. Its rate is half of what the others leave of the bound, so that all together stay below it.\n"
        "A daemon whose whitelist is the folder takes it in at once.",
    .examples =
        "  bloomgate append /var/lib/bloomgate/layers new-customers.txt\n"
        "  bloomgate append /var/lib/bloomgate/layers --fpr 4% 2026-11-20.txt.zst\n"};

const HelpText kFoldHelp = {
    .synopsis = "bloomgate fold FOLDER [OPTION...] [INPUT...]",
    .purpose =
        "Makes one layer of all. With lists or stores it is built from them, and holds what they hold and nothing\n"
        "else. Without, it is the union of the layers, which have to have one shape, as for merge. At every\n"
        "moment the folder lists all: the new layer takes the place of the first, then the others go.",
    .examples = "  bloomgate fold /var/lib/bloomgate/layers lists/\n"};

// The union, in place of the first layer.
void unite(const std::string& folder, const std::vector<std::unique_ptr<MappedFilter>>& filters,
           const std::string& output, const SecretKey* key) {
  std::vector<const MappedFilter*> views;
  for (const auto& filter : filters) {
    filter->verify_body();  // damage must not spread into another file
    views.push_back(filter.get());
  }
  try {
    const FilterHeader header = combine_filters(views, Combination::unite, output, default_threads(), stop_flag(), key);
    warn_of_lost_sender_domains(header, filters);
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_argument && error.code() != ErrorCode::unsupported_layout) throw;
    throw BloomgateError(error.code(), std::string(error.what()) +
                                           "; name the lists or stores that hold all entries: bloomgate fold " +
                                           folder + " LIST...");
  }
}

void report_no_layer(bool json) {
  if (json) {
    print_report({{"file", nullptr}, {"entries", 0}});
  } else {
    std::cout << "no layer was made: the lists hold no entries\n";
  }
}

void remove_layers(const std::vector<Layer>& layers, const FolderLock& folder) {
  for (const Layer& layer : layers) {
    if (unlink(layer.path.c_str()) != 0 && errno != ENOENT) {
      throw system_error(ErrorCode::cannot_write, "remove the layer", layer.path, errno);
    }
  }
  folder.sync();
}

}  // namespace

int run_append(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::string bound_text;
  PassedOptions passed;
  po::options_description visible("options");
  visible.add_options()("fpr", po::value(&bound_text)->value_name("P"),
                        "what a look-up in all layers may come to, such as 4% or 0.04 (default: twice the rate of the "
                        "loosest layer; 4.3% for a new folder)");
  passed.add_to(visible);
  const auto values = parse_command_line(arguments, visible, &operands, kAppendHelp);
  if (!values) return EX_OK;
  if (operands.size() < 2) throw UsageError("name a folder, and at least one list, or - for standard input");
  const std::string folder = operands.front();
  checked_keep(passed.keep);
  make_folder(folder);
  const FolderLock lock(folder);
  const std::vector<Layer> layers = all_layers_in(folder);
  if (layers.size() >= kMostLayers) {
    throw BloomgateError(ErrorCode::bad_argument, folder + " has " + std::to_string(layers.size()) +
                                                      " layers, as many as a whitelist may have; make one of them "
                                                      "(bloomgate fold), or remove old ones");
  }
  const auto filters = open_layers(layers);
  std::optional<double> rate;
  if (!bound_text.empty()) {
    rate = next_rate(folder, filters, parse_rate(bound_text, "--fpr"));
  } else if (!filters.empty()) {
    rate = next_rate(folder, filters, bound_of(filters));
  }
  // An empty layer would take one of the places that a folder has; none is made of lists that may be empty.
  const bool may_be_none = passed.limits.empty.is_lifted && !layers.empty();
  if (may_be_none) passed.limits.empty.is_lifted = false;
  Arguments build = passed.arguments(*values);
  add_shape(build, *values, rate, filters);
  add_sign_key(build, passed);
  build.push_back("--output=" + next_layer(folder, layers));
  build.insert(build.end(), operands.begin() + 1, operands.end());
  // Not read: all of them stay.
  const KeptLayers kept(folder, passed.keep);
  int status = EX_OK;
  try {
    status = run_build(build);
  } catch (const BloomgateError& error) {
    if (!may_be_none || error.code() != ErrorCode::no_entries) throw;
    report_no_layer((*values)["json"].as<bool>());
    return EX_OK;
  }
  if (status == EX_OK) kept.done();
  return status;
}

int run_fold(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::string bits_per_entry;
  std::string hashes;
  PassedOptions passed;
  po::options_description visible("options");
  visible.add_options()  //
      ("bits-per-entry", po::value(&bits_per_entry)->value_name("B"), "size of the new layer, as for build")(
          "hashes", po::value(&hashes)->value_name("K"), "bits set for each address, as for build");
  passed.add_to(visible);
  passed.limits.add_shrink_to(visible);
  const auto values = parse_command_line(arguments, visible, &operands, kFoldHelp);
  if (!values) return EX_OK;
  if (operands.empty()) throw UsageError("name a folder");
  const std::string folder = operands.front();
  checked_keep(passed.keep);
  const FolderLock lock(folder);
  const std::vector<Layer> layers = all_layers_in(folder);
  const std::string output = layers.empty() ? next_layer(folder, layers) : layers.front().path;
  std::optional<KeptLayers> kept;
  if (operands.size() > 1) {
    for (const std::string& input : operands) {
      const auto is_input = [&](const Layer& layer) { return is_same_file(layer.path, input); };
      if (std::ranges::any_of(layers, is_input)) throw UsageError(input + " is a layer; name lists or stores");
    }
    Arguments build = passed.arguments(*values);
    if (!bits_per_entry.empty()) build.push_back("--bits-per-entry=" + bits_per_entry);
    if (!hashes.empty()) build.push_back("--hashes=" + hashes);
    add_shape(build, *values, std::nullopt, open_layers(layers));
    add_sign_key(build, passed);
    build.push_back("--output=" + output);
    build.insert(build.end(), operands.begin() + 1, operands.end());
    kept.emplace(folder, keep_if_sound(layers, passed.keep));
    if (const int status = run_build(build); status != EX_OK) return status;
  } else {
    const Arguments given = passed.arguments(*values);
    if (!given.empty() || !bits_per_entry.empty() || !hashes.empty()) {
      throw UsageError("options of a build go with lists or stores; name these");
    }
    usable_layers_in(folder);  // says what to do where there is none
    std::optional<SecretKey> key;
    if (!passed.sign_key.empty()) key.emplace(SecretKey::read_from(passed.sign_key));
    kept.emplace(folder, keep_if_sound(layers, passed.keep));
    if (layers.size() > 1) {
      unite(folder, open_layers(layers), output, key ? &*key : nullptr);
    } else if (key) {
      sign_filter(output, output, *key, default_threads());
    }
    std::cout << "folded     " << layers.size() << " layers into " << output << '\n';
  }
  if (layers.size() > 1) remove_layers({layers.begin() + 1, layers.end()}, lock);
  kept->done();
  return EX_OK;
}

}  // namespace bloomgate::cli
