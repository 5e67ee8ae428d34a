// Files of sources: which are read, as what, and how far.
#include "filter/contacts/harvest.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

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

TEST_CASE_METHOD(Harvested, "an address book in UTF-16 is read up to a size") {
  constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  std::string text = "\xff\xfe";
  for (const char byte : std::string_view("E-mail\njoe@example.org\n")) text.append({byte, '\0'});
  std::string row;
  for (int column = 0; column < 5'000; ++column) row.append({column == 0 ? '\n' : 'x', '\0'});
  while (text.size() < kMostBytes) text.append(row, 0, kMostBytes - text.size());
  CHECK(harvest.read(write("book", text), kInFolder) == SourceContent::used);
  CHECK(sink.found == Found{"joe@example.org > ann@ours.example"});
  text.append({'\n', '\0'});
  CHECK(harvest.read(write("book", text), kInFolder) == SourceContent::unknown);
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
