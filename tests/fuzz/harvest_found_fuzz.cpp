// A file that a user has put into a folder of sent mail, compressed or not: it lists for that user alone, and a log or
// a table of it is not read, nor an address book unless address books are wanted.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/contacts/harvest.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;
using bloomgate::test::require;

const std::vector<std::string> kMallory = {"mallory@ours.example"};

class Sink : public ContactSink {
 public:
  void add(std::string_view contact, std::string_view user, const MessageMark&) override {
    require(user == kMallory.front(), "it lists for its owner alone", user);
    const Entry entry = canonicalize_path(contact);
    require(entry.key() == contact && entry.domain() != "ours.example", "a contact is an address of others", contact);
    found.push_back(std::string(contact));
  }
  std::vector<std::string> found;
};

// The bytes as a file.
std::string path_of(std::string_view bytes) {
  static const int file = memfd_create("found", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), bytes.size(), 0) < 0) std::abort();
  return path;
}

// Whether it was read as a source, and whom it has listed.
bool read(std::string_view bytes, bool address_books, Sink& sink) {
  const HarvestRules rules = {
      .own_domains = OwnDomains({"ours.example"}), .needs_user = true, .address_books = address_books};
  static const std::atomic<bool> kStop = false;
  Harvest harvest(rules, sink, 1, kStop);
  try {
    return harvest.read(path_of(bytes), {.users = kMallory, .is_found = true}) != SourceContent::unknown;
  } catch (const BloomgateError& error) {
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::cannot_read, error.what());
    return true;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Sink mail_only;
  const bool is_mail = read(bytes, false, mail_only);
  Sink all;
  const bool is_read = read(bytes, true, all);
  require(is_read || !is_mail, "what is read without address books is read with them");
  require(is_mail || mail_only.found.empty(), "what is not read lists no sender");
  if (is_mail) require(mail_only.found == all.found, "mail says the same with address books and without");
  // Plain bytes only: a compressed one has its kind inside, and where lines end with CR alone, these become LF.
  if (is_mail || size == 0 || bytes.find('\r') != std::string_view::npos) return 0;
  // A file's last line is whole, with an end or without one.
  const auto kind = recognise_source(std::string(bytes) + '\n');
  require(!kind || (*kind != SourceKind::message && *kind != SourceKind::mbox), "mail is read", bytes);
  if (kind == SourceKind::log) require(!is_read, "a log in a folder is not read", bytes);
  return 0;
}
