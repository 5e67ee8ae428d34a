// Makes the layers of a folder (filter/keep/layer_folder.hpp).
//
// The rates follow Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007: layer i has the rate
// P_i = P_0 * r^i, with r = 1/2, so that all together stay below P_0 / (1 - r) = 2 * P_0, however many they are. A new
// layer gets the half of what the layers that are there leave of that bound. That is the same series, and where layers
// go, what they took is free again.
//
// An entry that a lower layer has is put into the new one all the same: a hit may be a false positive, and a lower
// layer may be removed one day.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/file/mapped_filter.hpp"
#include "filter/jobs/build_job.hpp"
#include "filter/jobs/job_observer.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/keep/publish_manifest.hpp"

namespace bloomgate {

struct LayerRequest {
  std::string folder;
  // How the layer is built. Its place, and where they are not asked for, its spelling of addresses follow from the
  // folder; `keep` is of states of the folder.
  BuildRequest build;
  std::optional<double> bound = {};  // what a look-up in all layers may come to; nothing: as the layers were begun
};

struct FoldResult {
  std::optional<BuildResult> built = {};  // nothing: the union was made
  std::size_t layers = 0;                 // that there were
  std::string output = {};
};

// For one of the two works, once.
class LayerJob {
 public:
  // The observer and `stop` have to outlive it.
  LayerJob(LayerRequest request, JobObserver& observer, const std::atomic<bool>& stop);

  // The next layer, from lists; the folder is made where it is missing. Nothing: the lists hold no entry, and none was
  // made of them. With a key the manifest is written at the end, in both cases: the layers that are there must be
  // signed then, by that key or one that goes with it (ManifestWriter::require_may_name()). Throws what
  // build_from_lists() throws, and BloomgateError{bad_argument} where there is no room for another layer, {cannot_open,
  // cannot_write}, and {interrupted} while it waits for another job in the folder.
  std::optional<BuildResult> append();

  // One layer in place of all. With inputs it is built from them; without, it is the union of the layers. At every
  // moment the folder lists all: the new layer takes the place of the first, then the others go. Throws as append(),
  // UsageError where a layer is among the inputs, and what combine_filters() throws.
  FoldResult fold();

  // The one that was written at the end, also where no layer was made. Nothing: there is no key.
  const std::optional<WrittenManifest>& manifest() const noexcept { return manifest_; }

 private:
  void lock_folder();
  void unite(const std::string& output);
  BuildResult build(const std::string& output);
  void follow_layers(const std::vector<std::unique_ptr<MappedFilter>>& filters);
  double next_rate(const std::vector<std::unique_ptr<MappedFilter>>& filters) const;
  unsigned keep_if_sound() const;
  void remove_all_but_first() const;

  LayerRequest request_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  unsigned keep_;
  std::optional<FolderLock> lock_;
  std::vector<Layer> layers_;
  std::optional<ManifestWriter> writer_;
  std::optional<WrittenManifest> manifest_;
};

}  // namespace bloomgate
