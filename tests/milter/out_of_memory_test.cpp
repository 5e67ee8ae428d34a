// Memory runs out at each allocation in turn that a message or a reload makes: alone, and from there on. GLib, which
// reads the From field, ends the program where it finds none; it has memory here.
#include <libmilter/mfapi.h>

#include <algorithm>
#include <new>

#include "milter/daemon/supervisor.hpp"
#include "milter/learning/pending_lesson.hpp"
#include "milter/message/message_recorder.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fresh_signature.hpp"
#include "tests/support/memory_budget.hpp"

namespace bloomgate::test {
namespace {

using Edits = std::vector<std::string>;
using Field = std::pair<std::string, std::string>;

const Field kFrom = {"From", "joe@example.org"};
const Field kPass = {"Authentication-Results",
                     "mx.example.net; spf=pass smtp.mailfrom=joe@example.org; dkim=pass header.d=example.org"};
const Field kSignature = {"DKIM-Signature", fresh_signature("example.org")};
// Longer than what a string holds without memory.
const std::string kHost = "a-rather-long-name-of-a-client.example.org";

struct Message {
  std::string name;
  std::vector<Field> fields;
  std::string helo = kHost;
};

// From a client that greets anew. Whatever becomes of the memory, no callback may throw.
sfsistat send(FakeMailServer& server, const Message& message) {
  server.connect("198.51.100.1");
  server.helo(message.helo);
  server.mail("<joe@example.org>");
  server.recipient("<a-recipient-with-a-long-name@example.net>");
  for (const auto& [name, value] : message.fields) server.header(name, value);
  server.end_of_header();
  server.body(std::string(1000, 'x'));
  return server.end_of_message("a-long-queue-id-of-a-mail-server");
}

bool is_delivered(const Edits& edits) {
  return std::ranges::any_of(edits, [](const std::string& edit) { return edit.starts_with("insert 0 deliver;"); });
}

// Calls try_with() with each allocation of one that succeeds failing in turn. Returns how many there were.
template <typename Try>
std::size_t fail_each(Try try_with) {
  memory_budget.start(MemoryBudget::kNoLimit, false);
  try_with();
  const std::size_t count = memory_budget.made;
  for (const bool for_good : {false, true}) {
    for (std::size_t failing = 0; failing < count; ++failing) {
      CAPTURE(for_good, failing);
      memory_budget.start(failing, for_good);
      try_with();
      memory_budget.stop();
    }
  }
  return count;
}

struct Verified : Session {
  Verified() : Session({.policy = {}, .trusted_authserv_ids = {"mx.example.net"}}) {}
};

const Message kGood = {"good", {kFrom, kSignature, kPass, {"X-Bloomgate", "forged"}, {"x-bloomgate", "forged"}}};

TEST_CASE_METHOD(Verified,
                 "a listed message is delivered, checked or refused temporarily if memory runs out on its way") {
  int delivered = 0;
  const std::size_t count = fail_each([&] {
    const sfsistat answer = send(server, kGood);
    memory_budget.stop();
    if (answer == SMFIS_TEMPFAIL) return;
    REQUIRE(answer == SMFIS_CONTINUE);
    const Edits edits = server.edits();
    REQUIRE(edits.size() == 3);
    CHECK(Edits(edits.begin(), edits.begin() + 2) == Edits{"delete 2", "delete 1"});
    CHECK((is_delivered(edits) || edits[2].starts_with("insert 0 check; reason=internal-error")));
    delivered += is_delivered(edits) ? 1 : 0;
    // Nothing of the lack is left for the next one.
    REQUIRE(send(server, kGood) == SMFIS_CONTINUE);
    CHECK(is_delivered(server.edits()));
  });
  CHECK(count > 20);
  CHECK(delivered > 0);
}

TEST_CASE_METHOD(Verified,
                 "a message with more forged fields than are removed is refused, wherever memory runs out on its way") {
  Message message = {"forged", {kFrom, kSignature, kPass}};
  message.fields.insert(message.fields.end(), ForgedFields::kMaxRemovals + 1, {"X-Bloomgate", "forged"});
  int without_memory = 0;
  const std::size_t count = fail_each([&] {
    const sfsistat answer = send(server, message);
    memory_budget.stop();
    REQUIRE((answer == SMFIS_REJECT || answer == SMFIS_TEMPFAIL));
    without_memory += log.text().find("internal error at the end of a message") != std::string::npos ? 1 : 0;
  });
  CHECK(count > 3);
  CHECK(without_memory > 0);
}

TEST_CASE_METHOD(Verified, "a message that must be checked is not delivered, wherever memory runs out on its way") {
  set_exact_lists("a-revoked-sender-with-a-long-name@example.net\n");
  std::vector<Field> many_signatures(65, kSignature);
  many_signatures.insert(many_signatures.end(), {kFrom, kPass});
  const Message messages[] = {
      {"revoked", {{"From", "a-revoked-sender-with-a-long-name@example.net"}, kSignature, kPass}},
      {"two From fields", {kFrom, {"From", "another-sender-with-a-long-name@example.org"}, kSignature, kPass}},
      {"DMARC failed",
       {kFrom, kSignature, kPass, {"Authentication-Results", "mx.example.net; dmarc=fail header.from=example.org"}}},
      {"no results", {kFrom, kSignature}},
      {"contradicted",
       {kFrom,
        kSignature,
        kPass,
        {"Authentication-Results",
         "mx.example.net; spf=fail smtp.mailfrom=joe@example.org; dkim=fail header.d=example.org"}}},
      {"a greeting that can forge results", {kFrom, kSignature, kPass}, "x); dkim=pass header.d=example.org ("},
      {"a signature that can forge results",
       {kFrom,
        {"DKIM-Signature", "v=1; d=example.net; i==3B=20dkim=3Dpass=20header.d=3Dexample.org; s=1; b=Zm9v"},
        kPass}},
      {"too many signatures", many_signatures},
  };
  for (const Message& message : messages) {
    INFO(message.name);
    const std::size_t count = fail_each([&] {
      const sfsistat answer = send(server, message);
      memory_budget.stop();
      REQUIRE((answer == SMFIS_CONTINUE || answer == SMFIS_TEMPFAIL));
      REQUIRE_FALSE(is_delivered(server.edits()));
      REQUIRE((answer == SMFIS_TEMPFAIL || server.edits().back().starts_with("insert 0 check; ")));
    });
    CHECK(count > 3);
  }
}

TEST_CASE_METHOD(
    Verified,
    "if memory runs out, a message for a checker keeps no forged result, and is refused or passes unchecked") {
  const TemporaryFolder folder;
  const bool tags = GENERATE(false, true);
  DeepCheckOptions options;
  options.on_failure = tags ? CheckFailureAction::tag : CheckFailureAction::tempfail;
  options.memory_bytes = 100;
  options.temporary_folder = folder.path();
  std::size_t shown_bytes = 0;
  const DeepCheck deep_check(options, [&](const Envelope&, const MessageText& text) {
    const BudgetInForce not_here(false);
    shown_bytes = static_cast<std::size_t>(text.size());
    DeepResult result;
    result.action = "no action";
    return result;
  });
  shared.deep_check = borrowed(deep_check);
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  const Message message = {"unlisted",
                           {kFrom, {"X-Spam-Status", "No, of the sender's own making"}, {"X-Bloomgate", "deliver"}}};
  std::size_t whole_bytes = 0;
  const std::size_t count = fail_each([&] {
    shown_bytes = 0;
    const sfsistat answer = send(server, message);
    memory_budget.stop();
    if (whole_bytes == 0) whole_bytes = shown_bytes;
    // In whole, or not at all.
    REQUIRE((shown_bytes == 0 || shown_bytes == whole_bytes));
    if (answer == SMFIS_TEMPFAIL) return;
    REQUIRE(answer == SMFIS_CONTINUE);
    const Edits edits = server.edits();
    REQUIRE(edits.size() >= 4);
    CHECK(edits[0] == "delete 1");
    CHECK(edits[1] == "delete X-Spam-Status 1");
    CHECK(edits.back().starts_with("insert 0 check; "));
    // The checker's own, or one that says that there is none.
    CHECK(edits[edits.size() - 2].starts_with("insert 0 X-Spam-Status "));
    CHECK((shown_bytes != 0 || tags));
  });
  CHECK(count > 30);
}

TEST_CASE("a recorder that gets no memory has all facts of a message, or has failed") {
  const Field fields[] = {{"From", "the-first-of-two-authors@example.org"},
                          {"From", "the-second-of-two-authors@example.org"},
                          kSignature,
                          kPass,
                          {"Subject", "a subject that is longer than what a string holds without memory"},
                          {"X-Spam-Of-The-Sender", "No"}};
  const std::string sender = "<a-sender-with-a-long-name@example.org>";
  const std::vector<std::string> trusted = {"mx.example.net"};
  std::string want_text;
  std::size_t failed = 0;
  std::size_t faulty = 0;
  const std::size_t count = fail_each([&] {
    MessageRecorder message(MessageText::Limits{.max_bytes = 10'000, .memory_bytes = 10'000, .folder = "/nowhere"});
    {
      const BudgetInForce in_force;
      message.begin_connection(parse_ip_address("192.0.2.1"), kHost);
      message.greet(kHost);
      message.begin_message(sender, {.login = "a-login-with-a-long-name", .daemon_name = "a-daemon-with-a-long-name"});
      message.add_recipient("<a-recipient-with-a-long-name@example.net>");
      for (const auto& [name, value] : fields) message.add_header(name, value);
      message.end_header(true);
      message.add_body(std::string_view("a body\r\n"));
    }
    memory_budget.stop();
    CHECK(message.failed() != message.exception_at().empty());
    if (message.failed()) {
      ++failed;
    } else {
      const Facts facts = message.facts(trusted);
      CHECK(facts.envelope_sender == sender);
      CHECK(facts.header_from.kind == HeaderFromKind::several_fields);
      CHECK(facts.authentication.trusted_fields() == 1);
      CHECK(facts.origin.logged_in);
      CHECK(facts.origin.daemon_name == "a-daemon-with-a-long-name");
      CHECK(message.envelope({}).helo == kHost);
    }
    if (message.exception_at() == "at MAIL") CHECK_FALSE(message.text_fault().empty());
    std::string text(10'000, '\0');
    text.resize(message.text().read(0, text));
    if (want_text.empty()) want_text = text;
    if (message.text_fault().empty()) {
      CHECK(text == want_text);
      CHECK(message.envelope({}).recipients == std::vector<std::string>{"a-recipient-with-a-long-name@example.net"});
    } else {
      ++faulty;
      CHECK_THAT(std::string(message.text_fault()), Contains("memory"));
      CHECK(text.empty());
      CHECK_FALSE(message.add_body("more"));
      CHECK(message.text().size() == 0);
    }
    // Nothing of the lack is left for the next message.
    message.greet("x");
    message.begin_message("<b@example.org>");
    CHECK_FALSE(message.failed());
    CHECK(message.exception_at().empty());
    CHECK(message.text_fault().empty());
  });
  CHECK(count > 10);
  CHECK(failed > 5);
  CHECK(faulty > 2);
}

TEST_CASE("a text that cannot be kept makes its message fail, even without memory to say why") {
  const std::size_t count = fail_each([] {
    MessageRecorder message(MessageText::Limits{.max_bytes = 1000, .memory_bytes = 10, .folder = "/nowhere/at/all"});
    message.begin_message("<b@example.org>");
    message.end_header(true);
    {
      const BudgetInForce in_force;
      CHECK_FALSE(message.add_body("more than ten bytes"));
    }
    memory_budget.stop();
    CHECK_FALSE(message.text_fault().empty());
    CHECK(message.text().size() == 0);
  });
  CHECK(count > 1);
}

TEST_CASE(
    "a client whose facts did not fit into memory does not get another client's, and the next connection starts "
    "clean") {
  const std::string name = "another-client-with-a-name-that-needs-memory-of-its-own.example.net";
  MessageRecorder message;
  message.begin_connection(std::nullopt, kHost);
  for (const bool greets : {false, true}) {
    message.greet(kHost);
    memory_budget.start(0, true);
    {
      const BudgetInForce in_force;
      if (greets) {
        message.greet(name);
      } else {
        message.begin_connection(std::nullopt, name);
      }
    }
    memory_budget.stop();
    CHECK((greets ? message.envelope({}).helo : message.envelope({}).client_name).empty());
    message.begin_message("<b@example.org>");
    CHECK(message.failed() == greets);
  }
  message.begin_connection(std::nullopt, name);
  message.begin_message("<b@example.org>");
  CHECK_FALSE(message.failed());
  CHECK(message.envelope({}).client_name == name);
}

TEST_CASE("a forged result whose name could not be kept counts as not removed, until the next message") {
  const std::string names[] = {"X-Spam-First-Of-The-Sender", "X-Spam-Second-Of-The-Sender"};
  ForgedFields fields;
  for (std::size_t i = 0; i < 2; ++i) fields.add_field();
  memory_budget.start(0, false);
  {
    const BudgetInForce in_force;
    CHECK_THROWS_AS(fields.add_result(names[0]), std::bad_alloc);
  }
  memory_budget.stop();
  CHECK(fields.removal(true) == ForgedFields::Removal::unknown);
  fields.add_result(names[1]);
  CHECK(fields.removal(true) == ForgedFields::Removal::unknown);
  // Exempt mail keeps them.
  CHECK(fields.removal(false) == ForgedFields::Removal::possible);
  fields.clear();
  fields.add_result(names[0]);
  CHECK(fields.removal(true) == ForgedFields::Removal::possible);
  CHECK(fields.results().size() == 1);
}

TEST_CASE("a message whose body cannot be kept for its lesson teaches nothing") {
  const std::string text = "--b\r\nContent-Type: text/plain\r\n\r\nI accept.\r\n";
  const std::string reply = "--b\r\nContent-Type: text/calendar; method=REPLY\r\n\r\n" + std::string(5000, 'x');
  PendingLesson pending;
  pending.begin({"ann@ours.example", {"joe@example.org"}}, "multipart/mixed; boundary=b");
  REQUIRE(pending.add_body(text));
  memory_budget.start(0, true);
  {
    const BudgetInForce budget;
    pending.add_body(reply);
  }
  CHECK(memory_budget.made == 1);
  CHECK(pending.take().is_empty());
}

TEST_CASE("a reload that runs out of memory keeps the lists or ends the daemon, and never delivers wrongly") {
  install_bus_fault_handler();
  MemoryLog log;
  const WhitelistFile file({"joe@example.org", "ann@example.org"});
  const TemporaryFolder folder;
  DaemonOptions sources = list_options({{"whitelist", file.path()}});
  sources.revoked = folder.file("revoked-with-a-name-that-needs-memory.txt");
  ListSlot slot;
  Wakeup wakeup;
  const ResultsWatch results;
  write_file(sources.revoked, "joe@example.org\n");
  Supervisor supervisor(sources, slot, wakeup, results, log.logger());
  supervisor.load_first();
  const auto reason = [&](std::string_view sender) {
    const auto lists = slot.get();
    const Policy policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "x@example.net"};
    return std::string(reason_name(decide({sender, from}, lists->lists(), policy).reason));
  };
  for (const bool changed_only : {false, true}) {
    CAPTURE(changed_only);
    std::size_t refused = 0;
    std::size_t ended = 0;
    const std::size_t count = fail_each([&] {
      try {
        const BudgetInForce in_force;
        if (changed_only) {
          supervisor.reload_changed();
        } else {
          supervisor.reload();
        }
      } catch (const std::bad_alloc&) {
        ++ended;  // for systemd to start it again, with all lists read
      }
      memory_budget.stop();
      const std::string joe = reason("<joe@example.org>");
      REQUIRE((joe == "revoked" || joe == "no-revoked-list"));
      const std::string ann = reason("<ann@example.org>");
      REQUIRE((ann == "listed" || ann == "no-revoked-list"));
      if (ann == "no-revoked-list") ++refused;
      supervisor.reload();
      REQUIRE(reason("<joe@example.org>") == "revoked");
      REQUIRE(reason("<ann@example.org>") == "listed");
    });
    CHECK(count > 10);
    CHECK(refused > 0);
    CHECK(ended < 2 * count);
  }
}

}  // namespace
}  // namespace bloomgate::test
