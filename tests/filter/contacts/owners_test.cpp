// Whose a mailbox is, by its path and by the addresses of logins.
#include "filter/contacts/owners.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "filter/base/usage_error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Addresses = std::vector<std::string>;

TEST_CASE("the owner of a mailbox is the text at the signs of its pattern") {
  struct Case {
    std::string_view pattern, path;
    std::optional<std::string> want;
  };
  const Case cases[] = {
      {"/home/%u/Maildir/.Sent", "/home/ann/Maildir/.Sent", "ann"},
      {"/home/%u/Maildir/.Sent/", "/home/Ann/Maildir/.Sent", "ann"},
      {"/var/vmail/%d/%n/Maildir", "/var/vmail/ours.example/ann/Maildir", "ann@ours.example"},
      {"/var/vmail/%n/%d/Maildir", "/var/vmail/ann/ours.example/Maildir", "ann@ours.example"},
      {"/mail/%n", "/mail/ann", "ann"},
      {"/home/%u/.Sent*", "/home/ann/.Sent 2026", "ann"},
      {"sent/%u.mbox", "sent/ann.b.mbox", "ann.b"},
      {"sent/of-%u-now", "sent/of-ann-now", "ann"},
      {"sent/of-%u-now", "sent/of--now", std::nullopt},
      {"sent/%u.mbox", "sent/ann.txt", std::nullopt},
      {"/home/%u/Maildir/.Sent", "/home/ann/Maildir", std::nullopt},
      {"/home/%u/Maildir", "/home/ann/Maildir/.Sent", std::nullopt},
      {"/50%/%u", "/50%/ann", "ann"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.pattern, each.path);
    CHECK(OwnerPattern::is_pattern(each.pattern));
    CHECK(OwnerPattern(each.pattern).owner_of(each.path) == each.want);
  }
  CHECK_FALSE(OwnerPattern::is_pattern("/var/log/mail.log"));
  CHECK_FALSE(OwnerPattern::is_pattern("/50%/x%"));
}

TEST_CASE("a pattern that does not say one name is refused") {
  for (const char* const pattern : {"/%u/%u", "/%u/%n", "/%d", "/%u/%d", "/%n%d", "/%n/%d/%d", "/a%u%u"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(OwnerPattern(pattern), UsageError);
  }
}

TEST_CASE("the places of a pattern are those that are there, in their order") {
  const test::TemporaryFolder folder;
  const std::string root = folder.path().string();
  for (const char* const path : {"zoe/.Sent", "ann/.Sent", "bob/Inbox", "a%b/.Sent", "x*/.Sent"}) {
    std::filesystem::create_directories(folder.path() / "home" / path);
  }
  std::vector<std::string> found;
  for (const OwnerPattern::Place& each : OwnerPattern(root + "/home/%u/.Sent").places()) {
    CHECK(each.path == root + "/home/" + each.owner + "/.Sent");
    found.push_back(each.owner);
  }
  CHECK(found == std::vector<std::string>{"a%b", "ann", "x*", "zoe"});
  CHECK(OwnerPattern(root + "/home/%u/none").places().empty());
  const std::vector<OwnerPattern::Place> within = OwnerPattern(root + "/home/b%ub/I*x").places();
  REQUIRE(within.size() == 1);
  CHECK(within.front().owner == "o");
}

class Logins {
 public:
  explicit Logins(std::vector<std::string> own_domains = {"ours.example", ".tree.example"})
      : domains_(own_domains), addresses_(domains_) {}

  Logins& read(std::string_view text) {
    test::write_file(folder_.file("logins"), text);
    addresses_.read(folder_.file("logins"));
    return *this;
  }
  Addresses of(std::string_view login) const { return addresses_.of(login); }
  const OwnerAddresses& addresses() const { return addresses_; }

 private:
  test::TemporaryFolder folder_;
  OwnDomains domains_;
  OwnerAddresses addresses_;
};

TEST_CASE("a login's addresses are read as Postfix reads smtpd_sender_login_maps") {
  Logins logins;
  logins.read(
      "# who may write as whom\n"
      "\n"
      "Info@Ours.example\tASmith, bob\r\n"
      "   zoe,,  zoe@a.tree.example\n"
      "  # a comment goes on with nothing\n"
      "@ours.example postmaster\n"
      "ann@elsewhere.example asmith\n"
      "ann.smith@ours.example asmith\n"
      "sales@a.tree.example bob bob");
  CHECK(logins.of("asmith") == Addresses{"ann.smith@ours.example", "info@ours.example"});
  CHECK(logins.of("ASMITH") == Addresses{"ann.smith@ours.example", "info@ours.example"});
  CHECK(logins.of("bob") == Addresses{"info@ours.example", "sales@a.tree.example"});
  CHECK(logins.of("zoe") == Addresses{"info@ours.example"});
  CHECK(logins.of("zoe@a.tree.example") == Addresses{"info@ours.example", "zoe@a.tree.example"});
  CHECK(logins.of("postmaster").empty());
  CHECK(logins.of("ann").empty());
  CHECK(logins.of("x@elsewhere.example").empty());
}

TEST_CASE("a login of which nothing is read has its own address, or that at the only own domain") {
  CHECK(Logins().of("ann@b.tree.example") == Addresses{"ann@b.tree.example"});
  CHECK(Logins().of("ann").empty());
  CHECK(Logins({"ours.example"}).of("Ann") == Addresses{"ann@ours.example"});
  CHECK(Logins({".ours.example"}).of("ann").empty());
  CHECK(Logins({"ours.example"}).of("lost found").empty());
  CHECK(Logins({"ours.example"}).read("bob@ours.example bob\n").of("ann").empty());
}

TEST_CASE("a line of another form is skipped, counted and named by its number") {
  for (const char* const line : {"ann@ours.example", "ann asmith", "/^(.*)@ours.example$/ $1", "a b@ours.example x",
                                 "asmith", "ann@ours.example  ,", "@@ours.example x", "\xef\xbb\xbf# comment"}) {
    CAPTURE(line);
    Logins logins;
    logins.read("zoe@ours.example zoe\n" + std::string(line) + "\n");
    CHECK(logins.of("zoe") == Addresses{"zoe@ours.example"});
    CHECK(logins.addresses().skipped_lines() == 1);
    REQUIRE(logins.addresses().faults().size() == 1);
    CHECK(logins.addresses().faults().front().find("logins:2: not an address") != std::string::npos);
  }
  CHECK(Logins().read("zoe@ours.example zoe\nann@elsewhere.example x\n@ours.example x\n").addresses().faults().empty());
  std::string many = "zoe@ours.example zoe\n";
  for (int at = 0; at < 100; ++at) many += "/x/ y\n";
  CHECK(Logins().read(many).addresses().skipped_lines() == 100);
  CHECK(Logins().read(many).addresses().faults().size() == OwnerAddresses::kMostFaults);
}

TEST_CASE("a file without a line that can be used is refused") {
  struct Case {
    const char *text, *says;
  };
  for (const Case& each : {Case{"", "logins has no line with"}, Case{"# x\n", "logins has no line with"},
                           Case{"ann@elsewhere.example x\n", "logins has no line with"},
                           Case{"\nann@ours.example\n", "logins:2: not an address"}}) {
    CAPTURE(each.text);
    const BloomgateError error = test::error_of([&] { Logins().read(each.text); });
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(std::string(error.what()).find(each.says) != std::string::npos);
  }
  const test::TemporaryFolder folder;
  const OwnDomains domains({"ours.example"});
  CHECK(test::error_code_of([&] { OwnerAddresses(domains).read(folder.file("none")); }) == ErrorCode::cannot_open);
  CHECK(test::error_code_of([&] { OwnerAddresses(domains).read(folder.path()); }) == ErrorCode::cannot_read);
  CHECK_FALSE(domains.contains(std::string(5'000, 'a')));
}

TEST_CASE("a name without a domain is that at the only own domain") {
  CHECK(Logins({"ours.example"}).read("ann.smith asmith\n").of("asmith") == Addresses{"ann.smith@ours.example"});
}

TEST_CASE("the rule which login may write as which sender is that of Postfix") {
  Logins logins({"ours.example", "vanity.example"});
  logins.read(
      "ann@ours.example asmith\n"
      "ann+shop@ours.example bob\n"
      "zoe@ours.example mallory\n"
      "@vanity.example Vera, asmith\n"
      "info@vanity.example bob\n");
  struct Case {
    std::string_view login, sender;
    bool want;
  };
  for (const Case& each : std::initializer_list<Case>{{"asmith", "ann@ours.example", true},
                                                      {"ASmith", "ann@ours.example", true},
                                                      {"bob", "ann@ours.example", false},
                                                      {"asmith", "ann+x@ours.example", true},
                                                      {"asmith", "ann+x+y@ours.example", true},
                                                      {"bob", "ann+x@ours.example", false},
                                                      {"asmith", "ann+shop@ours.example", false},
                                                      {"bob", "ann+shop@ours.example", true},
                                                      {"asmith", "+x@ours.example", false},
                                                      {"vera", "x@vanity.example", true},
                                                      {"asmith", "x+y@vanity.example", true},
                                                      {"vera", "+x@vanity.example", true},
                                                      {"bob", "x@vanity.example", false},
                                                      {"vera", "info@vanity.example", false},
                                                      {"vera", "info+x@vanity.example", false},
                                                      {"bob", "info@vanity.example", true},
                                                      {"vera", "x@ours.example", false},
                                                      {"max@ours.example", "max@ours.example", true},
                                                      {"max@ours.example", "max+x@ours.example", true},
                                                      {"zoe@ours.example", "zoe@ours.example", false},
                                                      {"zoe@ours.example", "zoe+x@ours.example", false},
                                                      {"mallory", "zoe@ours.example", true}}) {
    CAPTURE(each.login, each.sender);
    CHECK(logins.addresses().may_write_as(each.login, each.sender) == each.want);
  }
  // An address of the map is that of its logins alone, in folders, too.
  CHECK(logins.of("zoe@ours.example").empty());
}

}  // namespace
}  // namespace bloomgate
