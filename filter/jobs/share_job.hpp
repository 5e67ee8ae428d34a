// Shares what the daemon has learned with other hosts: keeps a folder up to date that any web server can publish, and
// from which `bloomgate pull` brings it to them. It has files of pairs as keyed hashes (filter/share), and a manifest.
//
// Each run adds one file with what is new. If a file is not larger than all newer ones together, it is united with
// them. So there are few files, and a pair is sent again only as often as the logarithm of the number of files. When
// the first file is to be united, it is made anew from the database; if something was forgotten, that happens on the
// next day at the latest. Then the folder has nothing more of the person but a hash. Hosts that were away need the
// hash, and it stays as long as they can have pairs of the person.
//
// The manifest names what was shared; no other state is kept. If a process ends at any point, the next one continues
// its work. For one thread, and one process for a folder.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filter/jobs/job_observer.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/publish_manifest.hpp"
#include "filter/learned/learned_file.hpp"
#include "filter/share/learn_key.hpp"
#include "filter/share/shared_pairs.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {

struct ShareRequest {
  std::string file;    // the learned file of the daemon
  std::string folder;  // made if it is missing
  LearnKey learn_key;
  std::shared_ptr<const SecretKey> sign_key;
  ManifestRequest manifest = {};
  std::chrono::days keep{180};  // how long a pair is used; a person's forget is shared for so long
};

struct ShareResult {
  bool is_new = false;  // a manifest was written
  SignedManifest manifest;
  std::string file = {};  // the name of the new file; empty: none was needed
  bool is_whole = false;  // the new file has all pairs, not only the new ones
  std::uint64_t bytes = 0;
  std::uint64_t pairs = 0;    // in the file
  std::uint64_t forgets = 0;  // new ones
};

class ShareJob {
 public:
  using Clock = std::chrono::system_clock;

  // The observer and `stop` must outlive the object. Throws BloomgateError as FolderLock and ManifestWriter do.
  ShareJob(ShareRequest request, JobObserver& observer, const std::atomic<bool>& stop);
  ~ShareJob();
  ShareJob(const ShareJob&) = delete;
  ShareJob& operator=(const ShareJob&) = delete;

  // May be called any number of times. If nothing is new, it costs microseconds; once a day it signs the manifest anew.
  // Throws BloomgateError as LearnedFile and ManifestWriter do, {bad_input} for a damaged file in the folder, and
  // {cannot_write, interrupted}.
  ShareResult share(Clock::time_point now);

 private:
  struct Shared {
    PublishedFile file;
    SharedHeader header;
  };
  // Pairs as records.
  struct Pairs {
    std::vector<SharedRecord> records = {};
    std::map<std::uint64_t, std::uint16_t> domains = {};  // hash and last day
    std::size_t size() const noexcept { return records.size(); }
    void add(const LearnedPair& pair, const LearnKey& key);
    void append_to(std::vector<SharedRecord>& all) const;
  };
  struct Gathered {
    SharedHeader header;
    std::vector<SharedRecord> records = {};
    std::size_t first_replaced = 0;  // index in files_
    std::uint64_t pairs = 0;
    std::uint64_t forgets = 0;
  };

  void make_folder() const;
  FolderLock locked();
  void require_folder();
  void open_file();
  void read_folder();
  std::string path_of(const std::string& name) const;
  std::vector<SharedRecord> records_from(std::size_t first) const;
  bool is_ours(const SharedHeader& header);
  void begin_anew_if_older();
  bool goes_on_from_folder();
  bool may_go_on(std::uint16_t today);
  Gathered gather_news(std::uint16_t today);
  Gathered gather_all(std::uint16_t today);
  void add_gone(std::vector<SharedRecord>& records);
  void unite(Gathered& gathered, std::uint16_t today);
  void write(const Gathered& gathered, ShareResult& result);
  void sign(ShareResult& result);
  void tell_file();
  void remove_dropped();
  void require_no_stop() const;

  const ShareRequest request_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
  std::optional<FileStamp> folder_stamp_;  // of the folder that is locked
  FolderLock lock_;
  ManifestWriter manifest_;
  std::unique_ptr<LearnedFile> file_;
  std::optional<FileStamp> stamp_;              // of the file that is open
  std::optional<std::int64_t> version_;         // its data version that is shared
  std::optional<std::int64_t> shared_forgets_;  // the last count that set_shared() has stored in it
  bool has_read_folder_ = false;
  std::vector<Shared> files_;                // as the manifest names them
  std::optional<SignedManifest> published_;  // the manifest in the folder
  // Files that are no longer named, and since when: a reader of the earlier manifest may still fetch them.
  std::vector<std::pair<std::string, Clock::time_point>> dropped_;
};

}  // namespace bloomgate
