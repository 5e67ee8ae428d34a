// Brings a folder of layers up to what is published at a URL: a folder of the same on any web server, which a manifest
// (filter/keep/manifest.hpp) names and signs. The server, and whoever is between, is trusted in nothing.
//
// The manifest is fetched first, then the files that the folder does not have: into hidden files, each checked whole
// before any is put in place. What was cut off is gone on with, also by a later process. Then the layers get their
// names, the list of what is revoked, the manifest, and last the layers go that it does not name. If anything fails
// before, the folder is as it was, but for hidden files; if it ends between two names, the next run does the rest, and
// a daemon with trusted-key keeps what it has, since folder and manifest do not fit. A daemon that starts before the
// next run refuses the folder.
//
// What others have put into the folder stays: a file is replaced or removed only if a manifest of this list has named
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
  std::string list_name = {};  // that is meant, of several under one key; empty: of the first manifest that is taken
  WebOptions web = {};
  std::uint64_t most_bytes = std::uint64_t{16} << 30;  // of all files together
};

struct PullResult {
  SignedManifest manifest;
  bool is_new = false;              // it was not there before, or a file was missing
  bool is_overdue = false;          // the date until which it holds has passed, and nothing newer is published
  std::uint64_t files = 0;          // that were fetched
  std::uint64_t bytes_fetched = 0;  // with the manifest's
};

class PullJob {
 public:
  // The observer and `stop` have to outlive it. Throws BloomgateError{bad_argument} as require_web_url() does.
  PullJob(PullRequest request, JobObserver& observer, const std::atomic<bool>& stop);

  // May be called again and again: an unchanged manifest costs a request and no bytes, if the server knows ETags.
  // Throws BloomgateError: {no_answer} where it may be tried again later; {bad_signature, bad_input} for what is
  // published and may not be taken, and for a folder that another whitelist is in; {cannot_open, cannot_read,
  // cannot_write, not_permitted, interrupted}. The first call reads every byte of the layers in the folder, and later
  // ones those of the layers that were written to since.
  PullResult pull();

 private:
  struct Fetched {
    SignedManifest manifest;
    std::string etag;
  };
  using Known = PullState;  // of what was pulled before
  // A layer in the folder, or fetched, of which every byte was checked.
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
