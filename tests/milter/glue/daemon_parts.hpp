// What the daemon's tests put together again and again: a whitelist on disk, the parts that decide, and a log that can
// be read.
#pragma once

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "filter/system/bus_fault.hpp"
#include "milter/glue/callbacks.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/silent_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

// A log in memory, one line "level: message" each. Safe from any thread.
class MemoryLog {
 public:
  MemoryLog() {
    sink_->set_pattern("%l: %v");
    logger_ = std::make_shared<spdlog::logger>("test", sink_);
  }

  const std::shared_ptr<spdlog::logger>& logger() const noexcept { return logger_; }
  std::string text() const { return sink_->text(); }

 private:
  class Sink : public spdlog::sinks::base_sink<std::mutex> {
   public:
    std::string text() {
      const std::lock_guard lock(mutex_);
      return text_;
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      spdlog::memory_buf_t line;
      formatter_->format(message, line);
      text_.append(line.data(), line.size());
    }
    void flush_() override {}

    std::string text_;
  };

  std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  std::shared_ptr<spdlog::logger> logger_;
};

// A filter file in a folder of its own.
class WhitelistFile {
 public:
  explicit WhitelistFile(const std::vector<std::string>& lines) { replace(lines); }

  std::string path() const { return folder_.file("whitelist.bloom"); }

  // As an operator does it: a new file takes the old one's place.
  void replace(const std::vector<std::string>& lines) const { build_filter(path(), lines); }

  // As nobody should: what is mapped goes away under its readers.
  void truncate() const { std::filesystem::resize_file(path(), kHeaderBytes); }

  std::shared_ptr<const LoadedFilter> load() const { return std::make_shared<const LoadedFilter>(path(), false); }

  // As the only list that there is.
  std::shared_ptr<const LoadedLists> load_alone() const {
    ListParts lists;
    lists.whitelists.push_back({"whitelist", load()});
    return std::make_shared<const LoadedLists>(std::move(lists));
  }

 private:
  TemporaryFolder folder_{SilentWriter::quiet_place()};
};

// A filter and its store in a folder of their own.
class PairFiles {
 public:
  explicit PairFiles(const std::vector<std::string>& lines) { replace(lines); }

  std::string path() const { return folder_.file("whitelist.bloom"); }
  std::string store_path() const { return folder_.file("whitelist.store"); }
  WhitelistSource source() const { return {"whitelist", path(), store_path()}; }

  // As an operator does it: two new files take the old ones' places.
  void replace(const std::vector<std::string>& lines) const {
    build_filter(path(), lines, {.seed = random_seed(), .store_path = store_path()});
    make_old(store_path());
  }

  // Makes another pair, and puts one file of it into the place of the old one; the other one then follows.
  void replace_one(bool filter, const std::vector<std::string>& lines) const {
    build_filter(folder_.file("new.bloom"), lines, {.seed = random_seed(), .store_path = folder_.file("new.store")});
    put_in_place(filter);
  }
  void let_the_other_follow(bool filter_was_first) const { put_in_place(!filter_was_first); }

  std::shared_ptr<const LoadedFilter> load() const {
    return std::make_shared<const LoadedFilter>(path(), false, FilterCheck::all, store_path());
  }

 private:
  void put_in_place(bool filter) const {
    std::filesystem::rename(folder_.file(filter ? "new.bloom" : "new.store"), filter ? path() : store_path());
  }

  TemporaryFolder folder_;
};

// The first of "stranger<i>@example.net" that the bits of the filter have, or have not.
inline std::string stranger_of(const LoadedFilter& filter, bool is_hit) {
  for (int i = 0;; ++i) {
    std::string stranger = "stranger" + std::to_string(i) + "@example.net";
    if (filter.view().may_contain(stranger) == is_hit) return stranger;
  }
}
inline std::string false_positive_of(const LoadedFilter& filter) {
  return stranger_of(filter, true);
}

// What a test owns itself, for parts that share what they point to.
template <class Part>
std::shared_ptr<Part> borrowed(Part& part) {
  return {std::shared_ptr<void>(), &part};
}

// Options that name these whitelists, and no other list.
inline DaemonOptions list_options(std::vector<WhitelistSource> whitelists) {
  DaemonOptions options = {};
  options.whitelists = std::move(whitelists);
  options.identity = IdentityRule::either;
  return options;
}

// Senders need not be authenticated: for tests of what else there is.
inline JudgeRules envelope_rules() {
  return {.policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off},
          .trusted_authserv_ids = {}};
}

// The parts that session threads use, with `joe@example.org` and `@corp.example` listed.
class Parts {
 public:
  explicit Parts(JudgeRules rules = envelope_rules())
      : judge(std::move(rules), slot, results, record, {[this] { ++damage_reports; }, [this] { ++results_reports; }}) {
    install_bus_fault_handler();
    slot.set(whitelist.load_alone());
    shared.judge = &judge;
    shared.record = &record;
    shared.in_progress = &in_progress;
    shared.log = log.logger();
    shared.fallback_host = "fallback.example";
    shared.check_mark = CheckMark::tells_why;
    set_connection_parts(&served);
  }

  Decision decide(const std::string& path) {
    MessageRecorder message;
    message.begin_message(path);
    return judge.judge(message, "").decision;
  }

  void set_lists(ListParts lists) { slot.set(std::make_shared<const LoadedLists>(std::move(lists))); }
  void set_only_whitelist(NamedFilter filter) { set_lists({.whitelists = {std::move(filter)}}); }
  void add_whitelist(NamedFilter filter) {
    ListParts lists = slot.get()->parts();
    lists.whitelists.push_back(std::move(filter));
    set_lists(std::move(lists));
  }
  // As an operator does it, and the daemon after a reload.
  void replace_whitelist(const std::vector<std::string>& lines) {
    whitelist.replace(lines);
    slot.set(whitelist.load_alone());
  }

  // The daemon's only whitelist stays, with these beside it.
  void set_exact_lists(std::string_view revoked, std::string_view extra = "") {
    ListParts parts = slot.get()->parts();
    parts.revoked.list = std::make_shared<const ExactList>(read_exact_list(revoked).list);
    parts.extra.list = std::make_shared<const ExactList>(read_exact_list(extra).list);
    set_lists(std::move(parts));
  }

  MemoryLog log;
  WhitelistFile whitelist{{"joe@example.org", "@corp.example"}};
  ListSlot slot;
  ResultsWatch results;
  std::atomic<int> damage_reports = 0;
  std::atomic<int> results_reports = 0;
  Record record{log.logger()};
  Judge judge;
  MessagesInProgress in_progress;
  ConnectionParts shared;
  // What connections are served by; tests may change `shared`.
  PartsSlot served{borrowed<const ConnectionParts>(shared)};
};

// These, and a mail server whose connection has been negotiated.
struct Session : Parts {
  explicit Session(JudgeRules rules = envelope_rules()) : Parts(std::move(rules)) {
    REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  }

  FakeMailServer server;
};

// The marks of Parts: of a listed sender's message, and of another's.
inline const std::string kDeliver =
    "insert 0 deliver; reason=listed; host=fallback.example; identity=envelope; authentication=none; "
    "whitelist=whitelist";
inline const std::string kCheck = "insert 0 check; reason=not-listed; host=fallback.example; identity=envelope";

}  // namespace bloomgate::test
