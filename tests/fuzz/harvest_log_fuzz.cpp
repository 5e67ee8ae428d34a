// Lines of a log that strangers have a part in: what is found is an address with a user of ours, and nobody has more
// messages open than may be.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "filter/contacts/open_messages.hpp"
#include "filter/contacts/source_reader.hpp"
#include "filter/mail/mail_header.hpp"

namespace {

using namespace bloomgate;

class CheckingSink : public ContactSink {
 public:
  explicit CheckingSink(bool needs_user) : needs_user_(needs_user) {}
  void add(std::string_view contact, std::string_view user, const MessageMark&) override {
    const Entry from = canonicalize_path(user);
    const Entry to = canonicalize_path(contact);
    // Where users are only counted, a login may stand for one.
    if (user.empty() || (needs_user_ && (from.key() != user || from.domain() != "ours.example"))) std::abort();
    if (to.key() != contact || to.domain() == "ours.example") std::abort();
  }

 private:
  bool needs_user_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostOpen = 4;
  static const OwnDomains kOwnDomains({"ours.example"});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const HarvestRules rules = {.own_domains = kOwnDomains, .needs_user = size % 4 < 2, .without_login = size % 2 == 0};
  HarvestCounts counts;
  CheckingSink sink(rules.needs_user);
  OpenMessages messages(rules, counts, sink, kMostOpen);
  while (!text.empty()) {
    if (const auto event = read_log_line(take_text_line(text))) messages.use(*event);
    if (messages.open() > kMostOpen) std::abort();
  }
  return 0;
}
