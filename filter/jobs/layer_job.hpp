// Makes the layers of a folder (filter/keep/layer_folder.hpp).
//
// The rates follow Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007: layer i has the rate
// P_i = P_0 * r^i, with r = 1/2, so that the sum stays below P_0 / (1 - r) = 2 * P_0, for any number of layers. A new
// layer gets half of the rate that the existing layers leave of that bound. That is the same series, and when layers
// are removed, their rate is free again.
//
// An entry that a lower layer has is put into the new one all the same: a hit there may be a false positive, and the
// lower layer may be removed one day.
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
  // How the layer is built. Its position follows from the folder. So does its spelling of addresses, unless requested
  // here. `keep` counts states of the folder.
  BuildRequest build;
  std::optional<double> bound = {};  // for the rate of a look-up in all layers; nothing: that of the first layers
};

struct FoldResult {
  std::optional<BuildResult> built = {};  // nothing: the union was made
  std::size_t layers = 0;                 // how many there were before
  std::string output = {};
};

// Call either append() or fold(), once.
class LayerJob {
 public:
  // The observer and `stop` must outlive the object.
  LayerJob(LayerRequest request, JobObserver& observer, const std::atomic<bool>& stop);

  // Makes the next layer, from lists; makes the folder if it is missing. Returns nothing, and makes no layer, if the
  // lists have no entry. With a key it writes the manifest at the end, in both cases: the existing layers must then be
  // signed, by that key or one that belongs to it (ManifestWriter::require_may_name()). Throws what build_from_lists()
  // throws, BloomgateError{bad_argument} if there is no room for another layer, {cannot_open, cannot_write}, and
  // {interrupted} while it waits for another job in the folder.
  std::optional<BuildResult> append();

  // Makes one layer that replaces all. With inputs it is built from them; without, it is the union of the layers. At
  // every moment the folder lists all entries: the new layer replaces the first one, then the others are removed.
  // Throws as append(), UsageError if a layer is among the inputs, and what combine_filters() throws.
  FoldResult fold();

  // The manifest that was written at the end, also if no layer was made. Nothing if there is no key.
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
