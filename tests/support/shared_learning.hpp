// A host that learns, and shares what it learns, without its daemon: the database, and the folder that others read.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filter/file/signature.hpp"
#include "filter/jobs/share_job.hpp"
#include "filter/learned/learned_file.hpp"
#include "filter/share/shared_folder.hpp"
#include "filter/system/replacement.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

inline LearnKey learn_key(std::uint8_t first = 1) {
  const std::array<std::uint8_t, LearnKey::kBytes> bytes = {first};
  return LearnKey(bytes);
}

class SilentObserver : public JobObserver {
 public:
  void begin(std::function<WorkState()>) override {}
  void end() noexcept override {}
  void warn(std::string_view line) override { text.append(line).append("\n"); }
  void note(std::string_view line) override { warn(line); }
  std::string text;
};

class SharingHost {
 public:
  explicit SharingHost(std::string name, LearnedDay day, const LearnKey& key = learn_key())
      : name_(std::move(name)), day_(day), file_(folder_.file("learned.db"), LearnedFile::Access::create) {
    ShareRequest request = {.file = folder_.file("learned.db"),
                            .folder = shared(),
                            .learn_key = key,
                            .sign_key = key_,
                            .manifest = {.list_name = name_}};
    job_ = std::make_unique<ShareJob>(std::move(request), observer_, stop_);
  }

  std::string shared() const { return folder_.file("shared"); }
  PublicKey public_key() const { return key_->public_key(); }
  std::uint64_t host() const { return host_id(public_key()); }
  LearnedFile& file() { return file_; }
  void set_day(LearnedDay day) { day_ = day; }

  void write(const std::string& user, const std::string& correspondent) {
    file_.record(std::vector<LearnedFile::Contact>{{user, correspondent}}, day_);
  }
  void forget(const std::string& person) { file_.forget(canonicalize_line(person), day_); }
  ShareResult share(std::optional<ShareJob::Clock::time_point> now = {}) {
    return job_->share(now.value_or(ShareJob::Clock::now()));
  }
  // Signs another content in the place of what it shares.
  void replace_by(const std::string& text) const {
    Manifest manifest = read_manifest(shared())->manifest;
    ++manifest.number;
    manifest.files = {
        {.name = shared_file_name(1'000), .bytes = text.size(), .digest = digest_of(std::as_bytes(std::span(text)))}};
    replace_file(shared() + "/" + shared_file_name(1'000), text, 0644);
    replace_file(manifest_path(shared()), sign_manifest(manifest, *key_), 0644);
  }

 private:
  TemporaryFolder folder_;
  std::string name_;
  LearnedDay day_;
  LearnedFile file_;
  std::shared_ptr<const SecretKey> key_ = std::make_shared<const SecretKey>(SecretKey::make());
  SilentObserver observer_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<ShareJob> job_;
};

}  // namespace bloomgate::test
