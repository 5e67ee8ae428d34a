// Whitelists that a trusted key must have signed, in the daemon: loaded, refused, and the key changed.

#include "filter/file/sign_filter.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/supervisor.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr Policy kEnvelope = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};

const SecretKey& our_key() {
  static const SecretKey kKey = test::signing_key();
  return kKey;
}
const SecretKey& other_key() {
  static const SecretKey kKey = test::other_signing_key();
  return kKey;
}

struct Trusting {
  Trusting() {
    install_bus_fault_handler();
    put("whitelist", {"joe@example.org"}, &our_key());
    trust({our_key().public_key()});
  }

  std::string path(const std::string& name) const { return folder.file(name + ".bloom"); }

  // A new file, signed or not, takes the place of what is there.
  void put(const std::string& name, const std::vector<std::string>& lines, const SecretKey* key) const {
    const std::string made = folder.file("made");
    test::build_filter(made, lines, {.seed = random_seed()});
    if (key != nullptr) sign_filter(made, made, *key, 1);
    std::filesystem::rename(made, path(name));
  }

  void trust(const TrustedKeys& keys) { sources = {.whitelists = {{"whitelist", path("whitelist"), {}, keys}}}; }

  std::string status_after_reload() {
    supervisor.reload();
    CHECK_THAT(systemd.next(), StartsWith("RELOADING=1\n"));
    return systemd.next();
  }

  Reason reason(std::string_view sender) const {
    const auto lists = slot.get();
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "somebody@example.net"};
    return decide({.envelope_sender = sender, .header_from = from}, lists->lists(), kEnvelope).reason;
  }

  test::NotifySocket systemd;
  test::MemoryLog log;
  test::TemporaryFolder folder;
  ListSlot slot;
  Wakeup wakeup;
  ResultsWatch results;
  // What the configuration says now; the daemon starts with the first one.
  ListSources sources{.whitelists = {{"whitelist", folder.file("whitelist.bloom"), {}, {our_key().public_key()}}}};
  Supervisor supervisor{sources, slot,         wakeup,
                        results, log.logger(), [this] { return NewSettings{.sources = sources}; }};
};

TEST_CASE("a whitelist signed by a trusted key is loaded, and the log names its signer") {
  Trusting s;
  s.supervisor.load_first();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(s.log.text(), Contains("signed by " + std::string(test::kSigningKeyText)));
}

TEST_CASE("at the start a whitelist without a trusted signature is an error, or is not loaded if it may be missing") {
  Trusting s;
  s.put("whitelist", {"eve@example.org"}, GENERATE(as<const SecretKey*>(), nullptr, &other_key()));
  SECTION("an error") {
    CHECK(test::error_code_of([&] { s.supervisor.load_first(); }) == ErrorCode::bad_signature);
  }
  SECTION("none") {
    s.sources.allow_missing = true;
    Supervisor supervisor(s.sources, s.slot, s.wakeup, s.results, s.log.logger());
    supervisor.load_first();
    CHECK(s.reason("<eve@example.org>") == Reason::no_whitelist);
  }
}

TEST_CASE("a new file without a trusted signature is refused, and the old one continues to serve") {
  Trusting s;
  s.supervisor.load_first();
  const auto* const key = GENERATE(as<const SecretKey*>(), nullptr, &other_key());
  s.put("whitelist", {"eve@example.org"}, key);
  SECTION("seen by the watch") {
    s.supervisor.reload_changed();
    CHECK_THAT(s.systemd.next(), StartsWith("STATUS=serving "));
  }
  SECTION("at a reload") {
    CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=reload refused: ") && Contains("bloomgate sign"));
  }
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK(s.reason("<eve@example.org>") == Reason::not_listed);
  CHECK_THAT(s.log.text(), Contains(key == nullptr ? "is not signed" : "which is no trusted key"));
  s.put("whitelist", {"eve@example.org"}, &our_key());
  s.supervisor.reload_changed();
  CHECK(s.reason("<eve@example.org>") == Reason::listed);
}

TEST_CASE("after a change of the trusted key the whitelist in use continues to serve with the old key") {
  Trusting s;
  s.supervisor.load_first();
  s.trust({other_key().public_key()});
  CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=reload refused: ") && Contains("no trusted key"));
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  s.put("whitelist", {"ann@example.org"}, &our_key());
  s.supervisor.reload_changed();
  s.systemd.next();
  CHECK(s.reason("<ann@example.org>") == Reason::listed);

  // The way to change it: both keys, then a file with the new one, then the new one alone.
  s.trust({our_key().public_key(), other_key().public_key()});
  CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=serving "));
  s.put("whitelist", {"bob@example.org"}, &other_key());
  s.supervisor.reload_changed();
  s.systemd.next();
  CHECK(s.reason("<bob@example.org>") == Reason::listed);
  s.trust({other_key().public_key()});
  CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=serving "));
  s.put("whitelist", {"eve@example.org"}, &our_key());
  s.supervisor.reload_changed();
  CHECK(s.reason("<eve@example.org>") == Reason::not_listed);
  CHECK(s.reason("<bob@example.org>") == Reason::listed);
}

TEST_CASE("a trusted key that a reload adds is also checked of the whitelist in use") {
  Trusting s;
  s.put("whitelist", {"eve@example.org"}, nullptr);
  s.trust({});
  Supervisor supervisor(s.sources, s.slot, s.wakeup, s.results, s.log.logger(),
                        [&] { return NewSettings{.sources = s.sources}; });
  supervisor.load_first();
  CHECK(s.reason("<eve@example.org>") == Reason::listed);
  s.trust({our_key().public_key()});
  supervisor.reload();
  CHECK_THAT(s.log.text(), Contains("reload refused: ") && Contains("is not signed"));
  CHECK(s.reason("<eve@example.org>") == Reason::listed);
  s.put("whitelist", {"joe@example.org"}, &our_key());
  supervisor.reload();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK(s.reason("<eve@example.org>") == Reason::not_listed);
}

TEST_CASE("each layer of a folder must be signed, or no change takes effect") {
  Trusting s;
  std::filesystem::create_directory(s.folder.file("layers"));
  s.sources = {.whitelists = {{"all", s.folder.file("layers"), {}, {our_key().public_key()}}}};
  s.put("layers/0001", {"joe@example.org"}, &our_key());
  Supervisor supervisor(s.sources, s.slot, s.wakeup, s.results, s.log.logger());
  supervisor.load_first();
  s.put("layers/0002", {"eve@example.org"}, nullptr);
  s.put("layers/0003", {"ann@example.org"}, &our_key());
  supervisor.reload_changed();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK(s.reason("<ann@example.org>") == Reason::not_listed);
  CHECK(s.reason("<eve@example.org>") == Reason::not_listed);
  CHECK_THAT(s.log.text(), Contains("0002.bloom is not signed"));
  sign_filter(s.path("layers/0002"), s.path("layers/0002"), our_key(), 1);
  supervisor.reload_changed();
  CHECK(s.reason("<ann@example.org>") == Reason::listed);
  CHECK(s.reason("<eve@example.org>") == Reason::listed);
}

TEST_CASE("the header's signature is checked even if the rest of the file is not read") {
  const Trusting s;
  const auto load = [&] {
    return load_whitelist_files(s.sources.whitelists.front(), false, FilterCheck::header).front().filter;
  };
  CHECK(load()->signer() == our_key().public_key());
  s.put("whitelist", {"eve@example.org"}, nullptr);
  CHECK(test::error_code_of(load) == ErrorCode::bad_signature);
}

TEST_CASE("without a trusted key a signed whitelist is loaded like any other") {
  Trusting s;
  s.trust({});
  s.put("whitelist", {"ann@example.org"}, &other_key());
  s.supervisor.reload();
  CHECK(s.reason("<ann@example.org>") == Reason::listed);
  CHECK_THAT(s.log.text(), !Contains("signed by"));
}

}  // namespace
}  // namespace bloomgate
