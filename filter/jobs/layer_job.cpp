#include "filter/jobs/layer_job.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/engine/combine.hpp"
#include "filter/jobs/loss_limits.hpp"
#include "filter/keep/generations.hpp"
#include "filter/keep/sign_filter.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

using OpenLayers = std::vector<std::unique_ptr<MappedFilter>>;

constexpr double kTightening = 0.5;  // r
// The size of a block depends on this number, as in any build.
constexpr std::uint32_t kUsualHashes = 6;
// The lowest useful rate: with 10^9 entries, hashes of 64 bits cannot reach less.
constexpr double kLeastRate = 1e-10;
constexpr mode_t kFolderMode = 0755;

OpenLayers open_layers(const std::vector<Layer>& layers) {
  OpenLayers filters;
  for (const Layer& layer : layers) filters.push_back(std::make_unique<MappedFilter>(layer.path));
  return filters;
}

// 0003.bloom after 0001.bloom and 0002.bloom; other names are ignored.
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

// The bound of the first layers: twice the highest rate of a layer, which is either the rate that its number of hashes
// was chosen for, or its present rate.
double bound_of(const OpenLayers& layers) {
  double loosest = 0;
  for (const auto& layer : layers) {
    const double made_for = std::pow(0.5, layer->header().shape.hashes);
    loosest = std::max({loosest, made_for, expected_fpr_of(layer->header())});
  }
  return loosest / (1 - kTightening);
}

void size_for_rate(BuildOptions& options, double rate) {
  const LayoutRules& rules = layout_rules(options.layout);
  const std::uint32_t block_bytes = rules.default_block_bytes(kUsualHashes);
  const double bits = std::ceil(bits_per_entry_for_fpr(rate, options.layout, block_bytes) * 1000) / 1000;
  options.bits_per_entry = std::min(bits, 64.0);
  options.hashes = std::min(best_hashes(bits, options.layout, block_bytes), rules.most_hashes());
}

// Implements `keep`: keeps the layers as they are now; if the change fails, removes what was kept.
class KeptLayers {
 public:
  KeptLayers(const std::string& folder, unsigned keep) : folder_(own_path_of(folder)), keep_(keep) {
    keep_generation(folder_, keep_);
  }
  ~KeptLayers() {
    if (keep_ == 0) return;
    try {
      drop_unchanged_generation(folder_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the next job does it; the failure was already reported
    }
  }
  KeptLayers(const KeptLayers&) = delete;
  KeptLayers& operator=(const KeptLayers&) = delete;

  // Call it when the change was made.
  void done() const {
    if (keep_ != 0) trim_generations(folder_, keep_);
  }

 private:
  std::string folder_;
  unsigned keep_;
};

// Makes the folder, unless it is there; without a first layer, it goes again.
class MadeFolder {
 public:
  explicit MadeFolder(const std::string& folder) : folder_(folder), is_new_(mkdir(folder.c_str(), kFolderMode) == 0) {
    if (!is_new_ && errno != EEXIST) throw system_error(ErrorCode::cannot_write, "make the folder", folder, errno);
  }
  ~MadeFolder() {
    if (is_new_) rmdir(folder_.c_str());  // fails if something is in it
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  const std::string& folder_;
  bool is_new_;
};

}  // namespace

LayerJob::LayerJob(LayerRequest request, JobObserver& observer, const std::atomic<bool>& stop)
    : request_(std::move(request)), observer_(observer), stop_(stop), keep_(std::exchange(request_.build.keep, 0)) {}

void LayerJob::lock_folder() {
  lock_.emplace(request_.folder, stop_);
  require_layers_alone(request_.folder);
  layers_ = all_layers_in(request_.folder);
  writer_.emplace(request_.folder, request_.build.options.sign_key, request_.build.manifest, observer_.warns());
}

// Throws if too little is left.
double LayerJob::next_rate(const OpenLayers& filters) const {
  const double bound = request_.bound ? *request_.bound : bound_of(filters);
  double sum = 0;
  for (const auto& filter : filters) sum += expected_fpr_of(filter->header());
  const double rate = (bound - sum) * (1 - kTightening);
  if (rate >= kLeastRate) return rate;
  throw BloomgateError(ErrorCode::bad_argument,
                       "the layers of " + request_.folder + " together have a false-positive rate of " +
                           format_rate(sum) + ", and the bound is " + format_rate(bound) +
                           "; fold them into one (bloomgate fold-layers), remove old ones, or give " +
                           choice_names().larger_bound);
}

// The new layer uses the same spelling of addresses as the last existing one.
void LayerJob::follow_layers(const OpenLayers& filters) {
  if (filters.empty()) return;
  const AddressProfile& profile = filters.back()->header().shape.profile;
  std::optional<TagSeparators>& separators = request_.build.tag_separators;
  if (!separators && !profile.tag_separators.none()) separators = profile.tag_separators;
  request_.build.options.profile.keep_local_part_case |= profile.keep_local_part_case;
}

BuildResult LayerJob::build(const std::string& output) {
  request_.build.output = output;
  return build_from_lists(request_.build, observer_, stop_);
}

std::optional<BuildResult> LayerJob::append() {
  const MadeFolder made(request_.folder);
  lock_folder();
  if (layers_.size() >= kMostLayers) {
    throw BloomgateError(ErrorCode::bad_argument, request_.folder + " has " + std::to_string(layers_.size()) +
                                                      " layers, as many as a whitelist may have; fold them into one "
                                                      "(bloomgate fold-layers), or remove old ones");
  }
  const OpenLayers filters = open_layers(layers_);
  const bool is_signed = request_.build.options.sign_key != nullptr;
  for (const Layer& layer : layers_) {
    if (is_signed) writer_->require_may_name(layer.path);
  }
  if (request_.bound || !filters.empty()) size_for_rate(request_.build.options, next_rate(filters));
  follow_layers(filters);
  // An empty layer would use one of the slots that a folder has. So lists that may be empty make none.
  const bool may_be_none = !layers_.empty() && std::exchange(request_.build.limits.empty.is_lifted, false);
  // The layers are not verified here, since all of them stay.
  const KeptLayers kept(request_.folder, keep_);
  try {
    BuildResult result = build(next_layer(request_.folder, layers_));
    kept.done();
    manifest_ = result.manifest = writer_->write();
    return result;
  } catch (const BloomgateError& error) {
    if (!may_be_none || error.code() != ErrorCode::no_entries) throw;
    if (is_signed) manifest_ = writer_->write();  // so that a whitelist without new entries stays fresh
    return std::nullopt;
  }
}

// `keep`, or 0 if a layer is damaged: a damaged one would displace a good one. Reads all of them.
unsigned LayerJob::keep_if_sound() const {
  if (keep_ == 0) return 0;
  try {
    for (const Layer& layer : layers_) MappedFilter(layer.path).verify_body(request_.build.options.threads);
    return keep_;
  } catch (const BloomgateError& error) {
    observer_.warn(std::string("warning: the old layers are not kept: ") + error.what());
    return 0;
  }
}

// The union replaces the first layer.
void LayerJob::unite(const std::string& output) {
  const OpenLayers filters = open_layers(layers_);
  const unsigned threads = request_.build.options.threads;
  std::vector<const MappedFilter*> views;
  for (const auto& filter : filters) {
    filter->verify_body();  // damage must not spread into another file
    views.push_back(filter.get());
  }
  try {
    const FilterHeader header =
        combine_filters(views, Combination::unite, output, threads, stop_, request_.build.options.sign_key.get());
    if (const std::string lost = lost_sender_domains(header, filters); !lost.empty()) observer_.warn(lost);
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_argument && error.code() != ErrorCode::unsupported_layout) throw;
    throw BloomgateError(error.code(), "name the lists or stores that hold all entries: bloomgate fold-layers " +
                                           shell_word(request_.folder, "FOLDER") +
                                           " LIST... (without them: " + error.what() + ')');
  }
}

void LayerJob::remove_all_but_first() const {
  if (layers_.size() < 2) return;
  for (auto layer = layers_.begin() + 1; layer != layers_.end(); ++layer) {
    if (unlink(layer->path.c_str()) != 0 && errno != ENOENT) {
      throw system_error(ErrorCode::cannot_write, "remove the layer", layer->path, errno);
    }
  }
  lock_->sync();
}

FoldResult LayerJob::fold() {
  lock_folder();
  FoldResult result = {.layers = layers_.size(),
                       .output = layers_.empty() ? next_layer(request_.folder, layers_) : layers_.front().path};
  const std::vector<std::string>& inputs = request_.build.inputs;
  for (const std::string& input : inputs) {
    const auto is_input = [&](const Layer& layer) { return is_same_file(layer.path, input); };
    if (std::ranges::any_of(layers_, is_input)) throw UsageError(input + " is a layer; name lists or stores");
  }
  if (inputs.empty()) {
    usable_layers_in(request_.folder);  // throws, with the remedy, if there is no layer
  } else {
    follow_layers(open_layers(layers_));
  }
  const KeptLayers kept(request_.folder, keep_if_sound());
  if (!inputs.empty()) {
    result.built = build(result.output);
  } else if (layers_.size() > 1) {
    unite(result.output);
  } else if (const SecretKey* const key = request_.build.options.sign_key.get()) {
    sign_filter(result.output, result.output, *key, request_.build.options.threads);
  }
  remove_all_but_first();
  kept.done();
  manifest_ = writer_->write();
  if (result.built) result.built->manifest = manifest_;
  return result;
}

}  // namespace bloomgate
