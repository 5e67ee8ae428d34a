// What the configuration makes for connections, and what a reload takes over of it. The verifier's child is the real
// program.
#include "milter/daemon/served_options.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "filter/base/error.hpp"
#include "milter/dkim/child_verifier.hpp"
#include "milter/judge/policy_of_options.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using Change = std::function<void(DaemonOptions&)>;

constexpr auto kChecker = "spamd:inet:9@127.0.0.1";

class Configured {
 public:
  Configured() {
    common_.log = log.logger();
    common_.fallback_host = "fallback.example.net";
    common_.in_progress = &in_progress_;
    common_.monitor = &monitor;
  }

  // Nothing is verified, so that no child is started; a checker is asked.
  DaemonOptions options(const Change& change = nullptr) const {
    const std::vector<std::string> arguments = {
        "--config",     "/dev/null", "--authentication",    "off",
        "--deep-check", kChecker,    "--deep-check-folder", folder.path().string()};
    DaemonOptions options = read_daemon_command(arguments).options;
    if (change) change(options);
    return options;
  }

  std::shared_ptr<const ServedOptions> made(const DaemonOptions& options, const ServedOptions* in_use = nullptr) const {
    return make_served_options(options, common_, in_use);
  }

  TemporaryFolder folder;
  MemoryLog log;
  ListSlot slot;
  Monitor monitor{{.lists = slot, .results_missing = [] { return false; }, .lost_log_lines = [] { return 0; }}};

 private:
  MessagesInProgress in_progress_;
  ConnectionParts common_;
};

TEST_CASE_METHOD(Configured, "connections get checker, mode and name from the configuration, and the shared parts") {
  const auto served = made(options([](DaemonOptions& options) { options.host_name = "mx.example.net"; }));
  REQUIRE(served->deep_check != nullptr);
  CHECK(served->deep_check->options() == served->options.deep_check);
  const std::shared_ptr<const ConnectionParts> parts = served;
  CHECK(parts->deep_check == served->deep_check);
  CHECK(parts->verifier == nullptr);
  CHECK(parts->mode == Mode::enforce);
  CHECK(parts->check_mark == CheckMark::plain);
  CHECK(parts->host_name == "mx.example.net");
  CHECK(parts->fallback_host == "fallback.example.net");
  CHECK(parts->in_progress != nullptr);
  CHECK(parts->log == log.logger());
  CHECK_THAT(log.text(), Contains("info: deep-check spamd:") && !Contains("not asked"));
}

TEST_CASE_METHOD(Configured,
                 "samples are taken if a share and a checker are configured, and a reload changes the share") {
  CHECK(made(options())->sampler == nullptr);
  const auto sampling = [this](double share) {
    return options([share](DaemonOptions& options) { options.deep_check.sample_share = share; });
  };
  const auto before = made(sampling(0.001));
  REQUIRE(before->sampler != nullptr);
  CHECK(before->sampler->share() == 0.001);
  CHECK_THAT(log.text(), Contains("info: deep-check-sample: 0.1% of the delivered messages"));
  CHECK(made(sampling(0.001), before.get())->sampler == before->sampler);
  const auto after = made(sampling(0.5), before.get());
  REQUIRE(after->sampler != nullptr);
  CHECK(after->sampler != before->sampler);
  CHECK(after->sampler->share() == 0.5);
  CHECK(made(options(), after.get())->sampler == nullptr);
  CHECK(made(options([](DaemonOptions& options) {
          options.deep_check.sample_share = 1;
          options.mode = Mode::observe;
        }))->sampler == nullptr);
}

// Nobody listens at the checker's address.
TEST_CASE_METHOD(Configured, "the outcome of a sample is in the log and in the figures") {
  const auto served = made(options([](DaemonOptions& options) { options.deep_check.sample_share = 1; }));
  served->sampler->offer(
      {.envelope = {}, .text = MessageText({10, 10, "/nowhere"}), .who = "queue_id=Q1", .why = "x=y"});
  while (log.text().find("warning: queue_id=Q1 sample=failed x=y ") == std::string::npos) std::this_thread::yield();
  served->sampler->drop();
  CHECK(monitor.tally().samples(SampleAnswer::failed) == 1);
  CHECK(monitor.tally().samples(SampleAnswer::dropped) == 1);
}

TEST_CASE_METHOD(Configured, "parts own the objects that they point to") {
  std::shared_ptr<const ConnectionParts> parts = made(options());
  CHECK(parts->deep_check->options().servers.size() == 1);
}

TEST_CASE_METHOD(Configured,
                 "with mode observe no checker is made, and the log says that the configured one is not asked") {
  const auto served = made(options([](DaemonOptions& options) { options.mode = Mode::observe; }));
  CHECK(served->deep_check == nullptr);
  CHECK(served->mode == Mode::observe);
  CHECK_THAT(log.text(), Contains(": not asked while the mode is observe\n"));
}

TEST_CASE_METHOD(Configured, "a reload that leaves the checker unchanged keeps it, with the state of its servers") {
  const auto before = made(options());
  const auto after = made(options([](DaemonOptions& options) { options.host_name = "new.example.net"; }), before.get());
  CHECK(after->deep_check == before->deep_check);
  CHECK(after->host_name == "new.example.net");
  CHECK(before->host_name.empty());
}

TEST_CASE_METHOD(Configured, "a reload that changes the checker's options makes a new checker") {
  const auto before = made(options());
  const Change changes[] = {
      [](DaemonOptions& options) { options.deep_check.timeout += std::chrono::seconds(1); },
      [](DaemonOptions& options) { options.deep_check.connections += 1; },
      [](DaemonOptions& options) { options.deep_check.on_spam = SpamAction::reject; },
      [](DaemonOptions& options) { options.deep_check.servers.push_back(options.deep_check.servers.front()); },
  };
  for (const Change& change : changes) {
    const auto after = made(options(change), before.get());
    REQUIRE(after->deep_check != nullptr);
    CHECK(after->deep_check != before->deep_check);
    CHECK(after->deep_check->options() == after->options.deep_check);
  }
  const auto observing = made(options([](DaemonOptions& options) { options.mode = Mode::observe; }), before.get());
  CHECK(observing->deep_check == nullptr);
  const auto again = made(options(), observing.get());
  CHECK(again->deep_check != nullptr);
  CHECK(made(options([](DaemonOptions& options) { options.deep_check.servers.clear(); }), before.get())->deep_check ==
        nullptr);
}

// With a verifier in use.
class Verifying : public Configured {
 public:
  Verifying() {
    in_use.options = verifying();
    in_use.verifier = std::make_shared<ChildVerifier>(
        ChildVerifier::Options{.rules = verify_rules(in_use.options), .program = milter_program()},
        ChildVerifier::Reports{});
  }

  DaemonOptions verifying(const Change& change = nullptr) const {
    DaemonOptions with = options([](DaemonOptions& options) {
      options.authentication = AuthenticationRule::required;
      options.verify_dkim = DaemonOptions::VerifyDkim::yes;
    });
    if (change) change(with);
    return with;
  }

  ServedOptions in_use;
};

TEST_CASE_METHOD(Verifying, "a reload that leaves the verifier unchanged keeps it") {
  const Change changes[] = {
      nullptr,
      [](DaemonOptions& options) { options.host_name = "new.example.net"; },
      [](DaemonOptions& options) { options.trusted_fields = 3; },
      [](DaemonOptions& options) { options.deep_check.connections += 1; },
      [](DaemonOptions& options) { options.verify_dkim = DaemonOptions::VerifyDkim::automatic; },
  };
  for (const Change& change : changes) {
    const auto after = made(verifying(change), &in_use);
    CHECK(after->verifier == in_use.verifier);
  }
}

TEST_CASE_METHOD(Verifying,
                 "a reload that changes the verifier's options makes a new one, or none if verification is off") {
  const Change changes[] = {
      [](DaemonOptions& options) { options.alignment = Alignment::strict; },
      [](DaemonOptions& options) { options.require_oversigned = !options.require_oversigned; },
      [](DaemonOptions& options) { options.require_signed.emplace_back("To"); },
      [](DaemonOptions& options) { options.max_signature_age *= 2; },
      [](DaemonOptions& options) { options.dns_servers = {"192.0.2.53"}; },
      [](DaemonOptions& options) { options.dns_timeout += std::chrono::milliseconds(1); },
      [](DaemonOptions& options) { options.dns_trust_anchor = "/var/lib/root.key"; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    CAPTURE(i);
    // A child is the program itself, which this one is not: so another verifier cannot be made here.
    CHECK_THROWS_AS(made(verifying(changes[i]), &in_use), BloomgateError);
  }
  const auto without = made(options(), &in_use);
  CHECK(without->verifier == nullptr);
}

// What `action` throws to a thread that has no more rights than anybody. Only a thread's own rights change so.
std::string refusal_for_nobody(const std::function<void()>& action) {
  std::string refusal;
  std::thread([&] {
    constexpr long kNobody = 65534;
    if (syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0 ||
        syscall(SYS_setresuid, kNobody, kNobody, kNobody) != 0) {
      refusal = "cannot become nobody";
      return;
    }
    try {
      action();
    } catch (const std::exception& error) {
      refusal = error.what();
    }
  }).join();
  return refusal;
}

TEST_CASE("a folder for long messages that cannot be used is an error of the configuration, if a checker is asked") {
  namespace fs = std::filesystem;
  Configured s;
  fs::permissions(s.folder.path(), fs::perms(0755));
  const auto with_folder = [&](const std::string& name, fs::perms permissions) {
    fs::create_directory(s.folder.file(name));
    fs::permissions(s.folder.file(name), permissions);
    return s.options([&](DaemonOptions& options) { options.deep_check.temporary_folder = s.folder.file(name); });
  };
  const DaemonOptions missing =
      s.options([&](DaemonOptions& options) { options.deep_check.temporary_folder = s.folder.file("missing"); });
  const BloomgateError error = error_of([&] { s.made(missing); });
  CHECK(error.code() == ErrorCode::bad_configuration);
  CHECK_THAT(error.what(), Contains("deep-check-folder: ") && Contains(s.folder.file("missing")) &&
                               Contains("No such file or directory"));
  DaemonOptions observing = missing;
  observing.mode = Mode::observe;
  CHECK_NOTHROW(s.made(observing));
  write_file(s.folder.file("file"), "");
  CHECK_THROWS_AS(require_temporary_folder(s.options(
                      [&](DaemonOptions& options) { options.deep_check.temporary_folder = s.folder.file("file"); })),
                  BloomgateError);
  if (getuid() != 0) return;  // rights are changed below
  const DaemonOptions usable = with_folder("usable", fs::perms(0777));
  const DaemonOptions read_only = with_folder("read-only", fs::perms(0555));
  const DaemonOptions no_search = with_folder("no-search", fs::perms(0666));
  CHECK(refusal_for_nobody([&] { require_temporary_folder(usable); }).empty());
  CHECK_THAT(refusal_for_nobody([&] { require_temporary_folder(read_only); }), Contains("Permission denied"));
  CHECK_THAT(refusal_for_nobody([&] { require_temporary_folder(no_search); }), Contains("Permission denied"));
}

}  // namespace
}  // namespace bloomgate::test
