// Files of sources: which are read, as what, and how far.
#include "filter/contacts/harvest.hpp"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/list_posts.hpp"
#include "filter/contacts/source_files.hpp"
#include "sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLetter = "From: ann@ours.example\nTo: joe@example.org\n\n";
const SourcePlace kNamed = {kAnn, false};
const SourcePlace kInFolder = {kAnn, true};

struct Harvested : test::InFolder {
  HarvestRules rules = {.own_domains = OwnDomains({"ours.example"}), .needs_user = true, .address_books = true};
  Sink sink = {};
  std::atomic<bool> stop = false;
  Harvest harvest = {rules, sink, 1, stop};

  std::string write(std::string_view name, std::string_view text) const {
    test::write_file(folder.file(name), text);
    return folder.file(name);
  }
};

TEST_CASE_METHOD(Harvested, "the lines of a log without a year are of the year before its file was last written") {
  const std::string log =
      write("log",
            "Nov 20 10:00:00 mx postfix/smtpd[1]: AAAAA1: client=pc[1.2.3.4], sasl_username=ann\n"
            "Nov 20 10:00:00 mx postfix/qmgr[1]: AAAAA1: from=<ann@ours.example>, size=1, nrcpt=1 (x)\n"
            "Nov 20 10:00:00 mx postfix/smtp[1]: AAAAA1: to=<joe@example.org>, status=sent (250 Ok)\n");
  const std::chrono::sys_time<std::chrono::nanoseconds> written = *parse_day("2020-01-10");
  fs::last_write_time(log, fs::file_time_type::clock::from_sys(written));
  CHECK(harvest.read(log, {}) == SourceContent::used);
  CHECK(sink.last.day == parse_day("2019-11-20"));
  const std::string letter = write("letter", kLetter);
  CHECK(harvest.read(letter, kNamed) == SourceContent::used);
  CHECK(harvest.done_bytes() == fs::file_size(log) + fs::file_size(letter));
}

struct Limits : Sink {
  void lift_limit(std::string_view user) override { lifted.emplace_back(user); }
  std::vector<std::string> lifted;
};

TEST_CASE_METHOD(test::InFolder,
                 "what a file holds, and where it is, say whether it is read, and whether it has a limit") {
  const std::string mbox = "From x Fri Nov 20 10:00:00 2026\n" + std::string(kLetter);
  const std::string card = "BEGIN:VCARD\nEMAIL:joe@example.org\nEND:VCARD\n";
  const std::string table = "Name,E-mail\nJoe,joe@example.org\n";
  const std::string log = "Nov 20 10:00:00 mx postfix/qmgr[1]: AAAAA1: removed\n";
  constexpr SourceContent kUsed = SourceContent::used;
  constexpr SourceContent kUnknown = SourceContent::unknown;
  struct Case {
    std::string text;
    SourceContent named, in_folder, in_folder_without_books, received;
    bool is_unlimited = false;  // if it is named
  };
  for (const Case& each : std::initializer_list<Case>{
           {std::string(kLetter), kUsed, kUsed, kUsed, kUsed},
           {mbox, kUsed, kUsed, kUsed, kUsed},
           {card, kUsed, kUsed, kUnknown, kUnknown, true},
           {table, kUsed, kUsed, kUnknown, kUnknown, true},
           {"BEGIN:VCARD\n", SourceContent::no_address, SourceContent::no_address, kUnknown, kUnknown, true},
           {log, kUsed, kUnknown, kUnknown, kUnknown},
           {"some words\n", kUnknown, kUnknown, kUnknown, kUnknown},
           {std::string(100, '\0'), kUnknown, kUnknown, kUnknown, kUnknown},
           {"", SourceContent::nothing, SourceContent::nothing, SourceContent::nothing, SourceContent::nothing}}) {
    CAPTURE(each.text);
    test::write_file(folder.file("source"), each.text);
    const auto read = [&](const SourcePlace& place, bool books, SourceContent want, bool is_unlimited) {
      const HarvestRules rules = {.own_domains = OwnDomains({"ours.example"}), .address_books = books};
      Limits sink;
      const std::atomic<bool> stop = false;
      ListPosts posts(1 << 20, folder.path());
      Harvest harvest(rules, sink, 1, stop, &posts);
      CHECK(harvest.read(folder.file("source"), place) == want);
      CHECK(sink.found.empty() == (want != kUsed || each.text == log));
      CHECK(sink.lifted == (is_unlimited ? kAnn : std::vector<std::string>()));
      CHECK(harvest.read_received(folder.file("source")) == each.received);
    };
    read(kNamed, false, each.named, each.is_unlimited);
    read(kInFolder, true, each.in_folder, false);
    read(kInFolder, false, each.in_folder_without_books, false);
  }
}

TEST_CASE_METHOD(Harvested, "in a folder, a large file with few bytes on the disk is not read") {
  struct Case {
    std::uint64_t bytes, on_disk;
    bool is_read;
  };
  constexpr std::uint64_t kLarge = std::uint64_t{64} << 20;
  for (const Case& each : {Case{kLarge, 0, true}, Case{kLarge + 1, 0, false}, Case{2 * kLarge, kLarge / 64, false},
                           Case{2 * kLarge, kLarge / 16, true}}) {
    CAPTURE(each.bytes, each.on_disk);
    const std::string path = write("letter", std::string(kLetter) + std::string(each.on_disk, 'x'));
    fs::resize_file(path, each.bytes);
    CHECK(harvest.read(path, kInFolder) == (each.is_read ? SourceContent::used : SourceContent::unknown));
    CHECK(harvest.read(path, kNamed) == SourceContent::used);
  }
}

TEST_CASE_METHOD(Harvested, "an address book in UTF-16 is read up to a size", "[no threads]") {
  constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  std::string text = "\xff\xfe";
  for (const char byte : std::string_view("E-mail\njoe@example.org\n")) text.append({byte, '\0'});
  std::string row;
  for (int column = 0; column < 100; ++column) row.append({column == 0 ? '\n' : 'x', '\0'});
  while (text.size() < kMostBytes) text.append(row, 0, kMostBytes - text.size());
  CHECK(harvest.read(write("book", text), kInFolder) == SourceContent::used);
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example"});
  text.append({'\n', '\0'});
  CHECK(harvest.read(write("book", text), kInFolder) == SourceContent::unknown);
}

TEST_CASE_METHOD(test::InFolder,
                 "the files of sources are named with their owners, each once, and what is no file is told") {
  const std::string root = folder.path();
  for (const char* const name : {"home/ann/.Sent/cur", "home/bob/.Sent/cur", "home/eve", "home/x y/.Sent"}) {
    fs::create_directories(folder.path() / name);
  }
  const std::string letter = root + "/home/ann/.Sent/cur/1.mx:2,S";
  test::write_file(letter, kLetter);
  test::write_file(root + "/home/ann/.Sent/cur/2.mx:2,DS", kLetter);
  test::write_file(root + "/home/x y/.Sent/1", kLetter);
  test::write_file(root + "/log", "x\n");
  fs::create_hard_link(letter, root + "/home/ann/.Sent/cur/3.mx:2,S");
  fs::create_symlink("1.mx:2,S", root + "/home/ann/.Sent/cur/4.mx:2,S");
  REQUIRE(mkfifo((root + "/home/eve/.Sent").c_str(), 0600) == 0);
  const std::string pattern = root + "/home/%u/.Sent";
  const OwnDomains domains({"ours.example"});
  const OwnerAddresses addresses(domains);
  HarvestRules rules = {.own_domains = domains, .needs_user = true};
  const auto users_of = [](const SourceFiles& sources, std::string_view name) {
    for (const auto& [file, place] : sources.files()) {
      if (file.path.find(name) == std::string::npos) continue;
      return std::string(place.is_found ? "found" : "named") + (place.users.empty() ? "" : " " + place.users.front());
    }
    return std::string("none");
  };
  const SourceFiles pairs({pattern, root + "/none/%u", root + "/log"}, "", addresses, rules);
  CHECK(pairs.files().size() == 2);
  CHECK(pairs.total_bytes() == kLetter.size() + 2);
  CHECK(users_of(pairs, "home/ann/") == "found ann@ours.example");
  CHECK(users_of(pairs, "/log") == "named");
  CHECK(pairs.owners() == 4);
  CHECK(pairs.without_address() == std::vector<std::string>{"x y"});
  CHECK(pairs.absent() == std::vector<std::string>{root + "/none/%u"});
  CHECK(pairs.empty_folders() == 1);
  CHECK(pairs.unreadable() == std::vector<std::string>{root + "/home/eve/.Sent is not a file"});
  rules.needs_user = false;
  const SourceFiles all({pattern, root + "/log"}, "", addresses, rules);
  CHECK(users_of(all, "home/ann/") == "found ann@ours.example");
  CHECK(users_of(all, "home/x y/") == "found x y");
  CHECK(users_of(all, "/log") == "named " + root + "/log");
  const std::string bob = "bob@ours.example";
  CHECK(users_of(SourceFiles({root + "/home/ann/.Sent"}, bob, addresses, rules), "/home/ann/") == "found " + bob);
  CHECK(users_of(SourceFiles({letter}, bob, addresses, rules), "/1.mx") == "named " + bob);
}

TEST_CASE_METHOD(test::InFolder, "a draft, and a message that is still being delivered, are known by their paths") {
  for (const char* const name : {"Maildir/cur", "Maildir/tmp", "mail/tmp"})
    fs::create_directories(folder.path() / name);
  for (const char* const path : {"Maildir/tmp/1.mx", "Maildir/cur/1.mx:2,D", "Maildir/cur/1.mx:2,DS"}) {
    CAPTURE(path);
    CHECK(is_unsent(folder.path() / path));
  }
  for (const char* const path : {"mail/tmp/1.mx", "Maildir/cur/1.D.mx:2,S", "Maildir/cur/D", "Maildir/new/1.mx:2,D"}) {
    CAPTURE(path);
    CHECK_FALSE(is_unsent(folder.path() / path));
  }
}

}  // namespace
}  // namespace bloomgate
