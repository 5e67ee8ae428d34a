// Updates a folder of layers to the state that is published at a URL: a folder of layers on any web server, which a
// manifest (filter/keep/manifest.hpp) names and signs. Neither the server nor the network is trusted.
//
// The manifest is fetched first. Then come the files that the folder does not have: they go into hidden files, and each
// is checked as a whole before any is published. An interrupted transfer is continued, also by a later process. Then
// the layers get their names, then the list of revoked senders, then the manifest; last, layers that it does not name
// are removed. If anything fails before that, the folder is unchanged, except for hidden files. If the process ends
// between two names, the next run does the rest. Meanwhile a running daemon with trusted-key keeps its whitelist, since
// folder and manifest do not fit; a daemon that starts before the next run refuses the folder.
//
// Files from other sources stay in the folder: a file is replaced or removed only if a manifest of this list has named
// it, see pull_state.hpp. A folder with the layers of another whitelist is refused.
//
// For one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/public_key.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/jobs/job_observer.hpp"
#include "filter/keep/manifest.hpp"
#include "filter/pull/pull_state.hpp"
#include "filter/pull/web_files.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {

struct PullRequest {
  std::string url;  // of the folder; require_web_url()
  std::string folder;
  TrustedKeys trusted_keys;    // at least one
  std::string list_name = {};  // selects one of several lists under one key; empty: that of the first accepted manifest
  WebOptions web = {};
  std::uint64_t most_bytes = std::uint64_t{16} << 30;  // of all files together
};

struct PullResult {
  SignedManifest manifest;
  bool is_new = false;              // it was not there before, or a file was missing
  bool is_overdue = false;          // it is past its date, and nothing newer is published
  std::uint64_t files = 0;          // that were fetched
  std::uint64_t bytes_fetched = 0;  // including the manifest
};

class PullJob {
 public:
  // The observer and `stop` must outlive the object. Throws BloomgateError{bad_argument} as require_web_url() does.
  PullJob(PullRequest request, JobObserver& observer, const std::atomic<bool>& stop);

  // May be called any number of times: an unchanged manifest costs one request and no bytes, if the server supports
  // ETags. Throws BloomgateError: {no_answer} if a later try may succeed; {bad_signature, bad_input} for published
  // files that must not be accepted, and for a folder with another whitelist; {cannot_open, cannot_read, cannot_write,
  // not_permitted, interrupted}. The first call reads every byte of the layers in the folder; later calls read the
  // layers that were written to since.
  PullResult pull();

 private:
  struct Fetched {
    SignedManifest manifest;
    std::string etag;
  };
  using Known = PullState;  // about what was pulled before
  // A layer, in the folder or fetched, of which every byte was checked.
  struct Checked {
    Digest digest;
    FileStamp stamp;
  };

  std::string path_of(std::string_view name) const;
  std::string url_of(std::string_view name) const;
  Fetched fetch_manifest(const Known& known);
  void require_may_take(const SignedManifest& found, const Known& known) const;
  TrustedKeys keys_of_files(const SignedManifest& manifest, const Known& known) const;
  void require_own_folder(const Manifest& found, const Known& known) const;
  std::vector<PublishedFile> missing(const Manifest& manifest, const TrustedKeys& keys);
  std::string fault_of(const PublishedFile& file, const std::string& path, const TrustedKeys& keys);
  void verify(const MappedFilter& filter, const PublishedFile& file, const TrustedKeys& keys);
  void fetch(const PublishedFile& file, const TrustedKeys& keys);
  void fetch_rest(const PublishedFile& file, const std::string& part);
  void put_in_place(const std::vector<PublishedFile>& fetched) const;
  void remove_others(const Manifest& manifest, const Known& known) const;

  PullRequest request_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  WebFiles web_;
  std::map<std::string, Checked, std::less<>> checked_ = {};  // by the name of the layer
};

}  // namespace bloomgate
