// Mailing lists that users have posted to: what has to be the same in a sent and in a received message.
#include "filter/contacts/list_posts.hpp"

#include <string>
#include <vector>

#include "filter/contacts/mail_reader.hpp"
#include "filter/contacts/message_header.hpp"
#include "sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kPost = "From: ann@ours.example\nTo: dev@lists.example.org\nMessage-ID: <1@ours.example>\n";
constexpr std::string_view kList =
    "List-Id: The developers <dev.lists.example.org>\nList-Post: <mailto:dev@lists.example.org>\n";
constexpr std::string_view kAnswer = "In-Reply-To: <1@ours.example>\n";
const std::vector<std::string> kBob = {"bob@ours.example"};
const Found kFound = {"list:dev.lists.example.org > ann@ours.example"};

std::string text(std::initializer_list<std::string_view> parts) {
  std::string joined;
  for (const std::string_view part : parts) joined += part;
  return joined + "\nBody\n";
}

struct Mail {
  test::TemporaryFolder folder = {};
  HarvestRules rules = {.own_domains = OwnDomains({"ours.example"}), .most_recipients = 3};
  HarvestCounts counts = {};
  Sink sent = {};
  ListPosts posts = {std::uint64_t{1} << 20, folder.path().string()};

  Mail& send(std::string_view message, Users users = kAnn) {
    MailReader reader(rules, users, counts, sent, false, &posts);
    reader.read(message);
    reader.finish();
    return *this;
  }
  Mail& receive(std::string_view message, bool is_mbox = false) {
    ReceivedReader reader(counts, posts, is_mbox);
    reader.read(message);
    reader.finish();
    return *this;
  }
  Found lists() {
    Sink sink;
    posts.give_to(sink);
    return sink.found;
  }
};

Found lists_of(std::string_view sent, std::string_view received) {
  return Mail().send(sent).receive(received).lists();
}

TEST_CASE("a list is found if it sends the user's post or an answer to it, in whatever order they are read") {
  CHECK(lists_of(text({kPost}), text({kList, kAnswer})) == kFound);
  CHECK(Mail().receive(text({kList, kAnswer})).send(text({kPost})).lists() == kFound);
  CHECK(lists_of(text({kPost}), text({kList, "Message-ID: <1@ours.example>\n"})) == kFound);
  CHECK(lists_of(text({kPost}), text({kList, "References: <0@x> <1@ours.example>\n\t<2@y>\n"})) == kFound);
  CHECK(lists_of(text({kPost}), text({kList, "in-reply-to:\n <1@ours.example> (of today)\n"})) == kFound);
  const std::string_view odd = "From: ann@ours.example\nTo: dev@lists.example.org\nMessage-ID: <x<1@ours.example>\n";
  CHECK(lists_of(text({odd}), text({kList, kAnswer})) == kFound);
}

TEST_CASE("an identifier that is long joins a post and its copy, and one that is longer than a line joins nothing") {
  const auto found = [](std::size_t sent_bytes, std::size_t received_bytes) {
    const auto field = [](std::size_t bytes) { return "Message-ID: <" + std::string(bytes, 'a') + ">\n"; };
    return lists_of(text({"From: ann@ours.example\nTo: dev@lists.example.org\n", field(sent_bytes)}),
                    text({kList, field(received_bytes)}));
  };
  CHECK(found(500, 500) == kFound);
  CHECK(found(500, 501).empty());
  CHECK(found(999, 999).empty());
}

TEST_CASE("a list is found once for each post, however many users and copies are read") {
  Mail mail;
  for (int times = 0; times < 2; ++times) {
    mail.send(text({kPost})).receive(text({kList, kAnswer}));
    mail.send(text({"From: bob@ours.example\nCc: DEV@Lists.example.org\nMessage-ID: <2@ours.example>\n"}), kBob);
    mail.receive(text({kList, "Message-ID: <2@ours.example>\n", kAnswer}));
  }
  CHECK(mail.lists() == Found{kFound.front(), "list:dev.lists.example.org > bob@ours.example"});
  CHECK(mail.counts.named_messages == 4);
  CHECK(mail.counts.list_messages == 4);
}

TEST_CASE("received mail names a list in every form that programs write") {
  for (const std::string_view list :
       {"List-ID: <DEV.lists.EXAMPLE.org>\nList-Post: <MAILTO:Dev@Lists.example.org>\n",
        "List-Id: \"D, <e> v\"\n\t<dev.lists.example.org>\nList-Post: <mailto:dev@lists.example.org>\n",
        "List-Id:\r\n <dev.lists.example.org>\r\nList-Post:\r\n <mailto:dev@lists.example.org>\r\n",
        "List-Id: <dev.lists.example.org>\nList-Post: <https://lists.example.org/post>,\n "
        "<mailto:dev@lists.example.org>"
        "\n",
        "List-Id: <dev.lists.example.org>\nList-Post: (moderated) <mailto:dev@lists.example.org?subject=x> (slow)\n"}) {
    CAPTURE(list);
    const bool is_odd = list.find("<e>") != std::string_view::npos;  // more than one '<': the daemon reads none
    CHECK(lists_of(text({kPost}), text({list, kAnswer})) == (is_odd ? Found{} : kFound));
  }
}

TEST_CASE("a message by a sender who has not seen the post gives no list") {
  for (const std::string_view answer :
       {"", "Message-ID: <9@ours.example>\n", "In-Reply-To: 1@ours.example\n", "In-Reply-To: <1@ours.example\n",
        "In-Reply-To: <1@ours. example>\n", "X-References: <1@ours.example>\n", "\nIn-Reply-To: <1@ours.example>\n",
        "In-Reply-To: <9@x>\nSubject: <1@ours.example>\n"}) {
    CAPTURE(answer);
    CHECK(lists_of(text({kPost}), text({kList, answer})).empty());
  }
}

TEST_CASE("a message by a reader of the post gives no list but the one with the name of the address") {
  const std::string_view post = "List-Post: <mailto:dev@lists.example.org>\n";
  const std::string_view id = "List-Id: <dev.lists.example.org>\n";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"List-Id: <evil.lists.example.org>\n", post},  // a list of somebody else at the same host
      {"List-Id: <dev.evil.lists.example.org>\n", post},
      {"List-Id: <evil.example>\n", post},
      {"List-Id: <lists.example.org>\n", post},
      {"List-Id: <dev.lists.example.org> <evil.lists.example.org>\n", post},
      {"List-Id: <dev.lists.example.org>\nList-Id: <evil.lists.example.org>\n", post},
      {"List-Id: <dev.lists.example.org>\nList-Id:\n", post},
      {"List-Id: dev.lists.example.org\n", post},
      {"", post},
      {id, ""},
      {"List-Id: <evil.lists.example.org>\n", "List-Post: <mailto:evil@lists.example.org>\n"},  // not posted to
      {id, "List-Post: <mailto:evil@lists.example.org>\n"},
      {id, "List-Post: NO\n"},
      {id, "List-Post: mailto:dev@lists.example.org\n"},
      {id, "List-Post: <https://lists.example.org/dev@lists.example.org>\n"},
      {id, "List-Post: <mailto:dev@lists.example.org>, <mailto:evil@lists.example.org>\n"},
      {id, "List-Post: <mailto:dev@lists.example.org,evil@lists.example.org>\n"},
      {id, "List-Post: <mailto:%64ev@lists.example.org>\n"},
      {id, "List-Post: <mailto:dev@lists.example.org> x\n"},
      {id, "List-Post: <mailto:dev@lists.example.org>,\n"},
      {id, "List-Post: <mailto:dev@lists.example.org> (open\n"},
      {id, "List-Post: <mailto:dev@lists.example.org>\nList-Post: <mailto:dev@lists.example.org>\n"},
      {id, "List-Post: <mailto:dev@lists.example.org>\nList-Post:\n"},
      {id, "List-Post: <mailto:?to=dev@lists.example.org>\n"},
      {id, "List-Post: <mailto:>, <mailto:dev@lists.example.org>\n"},
  };
  for (const auto& [list_id, list_post] : cases) {
    CAPTURE(list_id, list_post);
    CHECK(lists_of(text({kPost}), text({list_id, list_post, kAnswer})).empty());
  }
}

TEST_CASE("an address with a dot before the @ is that of no list: another host could have the same name") {
  const std::string post = "From: ann@ours.example\nTo: a.b@example.org\nMessage-ID: <1@ours.example>\n";
  const std::string list = "List-Id: <a.b.example.org>\n";
  CHECK(lists_of(text({post}), text({list, "List-Post: <mailto:a.b@example.org>\n", kAnswer})).empty());
  CHECK(lists_of(text({post}), text({list, "List-Post: <mailto:a@b.example.org>\n", kAnswer})).empty());
}

TEST_CASE("the name of a list is that of its address, if it can be one") {
  const auto name = [](std::string_view address) { return list_named_after(canonicalize_path(address)).value_or("-"); };
  CHECK(name("Dev_Team@Lists.Example.org") == "list:dev_team.lists.example.org");
  CHECK(name("quic@ietf.org") == "list:quic.ietf.org");
  CHECK(name("dev@a.b.c.d.e.f.g.h.i.j.k.l.m.n.o") == "list:dev.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o");
  for (const std::string_view address :
       {"", "<>", "a.b@example.org", "\"a b\"@example.org", "~ann/dev@example.org", "dev@[192.0.2.1]", "*@example.org",
        "m\xc3\xbcller@example.org", "dev@a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p"}) {
    CAPTURE(address);
    CHECK(name(address) == "-");
  }
}

TEST_CASE("a sent message shows a post only if it counts, has one Message-ID and names the list") {
  for (const std::string_view sent :
       {"From: ann@ours.example\nTo: dev@lists.example.org\n",
        "From: ann@ours.example\nTo: dev@lists.example.org\nMessage-ID: <1@ours.example>\nMessage-ID: <2@x>\n",
        "From: ann@ours.example\nTo: \"dev@lists.example.org\" <joe@example.org>\nMessage-ID: <1@ours.example>\n",
        "From: eve@example.org\nTo: dev@lists.example.org\nMessage-ID: <1@ours.example>\n",
        "From: ann@ours.example\nTo: dev@lists.example.org\nMessage-ID: <1@ours.example>\nAuto-Submitted: "
        "auto-replied\n",
        "From: ann@ours.example\nTo: a@b.example,c@b.example,d@b.example,dev@lists.example.org\n"
        "Message-ID: <1@ours.example>\n"}) {
    CAPTURE(sent);
    CHECK(lists_of(text({sent}), text({kList, kAnswer})).empty());
  }
}

TEST_CASE("a received message cannot try many identifiers") {
  std::string many = "References:";
  for (std::size_t id = 0; id < ReceivedHeader::kMostIds; ++id) many += " <" + std::to_string(id) + "@x>\n";
  CHECK(lists_of(text({kPost}), text({kList, many, " <1@ours.example>\n"})).empty());
  CHECK(lists_of(text({kPost}), text({kList, kAnswer, many})) == kFound);
  const std::string long_field = "X: y\nReferences: " + std::string(ReceivedHeader::kMostBytes, 'x') + "\n";
  CHECK(lists_of(text({kPost}), text({kList, kAnswer, long_field})).empty());
}

TEST_CASE_METHOD(test::InFolder, "a post of before its user was forgotten gives no list") {
  const Day day = std::chrono::sys_days(std::chrono::days(20'777));
  ForgottenPeople forgotten;
  forgotten.add(canonicalize_path(kAnn.front()), day);
  ListPosts posts(1 << 20, folder.path(), &forgotten);
  const Entry list = canonicalize_path("dev@lists.example.org");
  posts.add_post("1@x", list, kAnn.front(), day);
  posts.add_post("1@x", list, kBob.front(), day);
  posts.add_copy("1@x", "list:dev.lists.example.org");
  Sink sink;
  posts.give_to(sink);
  CHECK(sink.found == Found{"list:dev.lists.example.org > bob@ours.example"});
  CHECK((sink.last.is_named && !sink.last.is_logged));
}

TEST_CASE("every message of a received mbox is read, and no body") {
  const std::string from = "From dev-bounces@lists.example.org Fri Nov 20 10:00:00 2026\n";
  const std::string mbox =
      from + text({kList}) + "\n" + from + "Subject: x\n\n" + std::string(kList) + std::string(kAnswer) + "\n" + from;
  CHECK(Mail().send(text({kPost})).receive(mbox, true).lists().empty());
  CHECK(Mail().send(text({kPost})).receive(mbox + text({kList, kAnswer}), true).lists() == kFound);
}

}  // namespace
}  // namespace bloomgate
