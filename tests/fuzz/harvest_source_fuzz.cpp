// Sent mail, received mail of mailing lists, and address books: each reader takes any text, in any pieces of whole
// lines, and finds the same in it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/entry_forms.hpp"
#include "filter/contacts/address_book.hpp"
#include "filter/contacts/list_posts.hpp"
#include "filter/contacts/mail_reader.hpp"
#include "filter/mail/utf16_text.hpp"

namespace {

using namespace bloomgate;

const std::vector<std::string> kUsers = {"ann.smith@ours.example", "ann@ours.example"};

class Sink : public ContactSink {
 public:
  void add(std::string_view contact, std::string_view user, const MessageMark&) override {
    const bool is_list = is_mailing_list_key(contact);
    if ((is_list ? canonicalize_list_line(contact) : canonicalize_path(contact)).key() != contact) std::abort();
    const std::string pair = std::string(contact) + '>' + std::string(user);
    // A list has its name from an address to which that user wrote.
    if (is_list && std::ranges::find(found, address_of(pair)) == found.end()) std::abort();
    found.push_back(pair);
  }
  std::vector<std::string> found;

 private:
  // `list:dev.lists.example>ann@…` -> `dev@lists.example>ann@…`
  static std::string address_of(std::string pair) {
    pair.erase(0, kMailingListPrefix.size());
    pair[pair.find('.')] = '@';
    return pair;
  }
};

std::unique_ptr<SourceReader> reader_of(int kind, const HarvestRules& rules, HarvestCounts& counts, Sink& sink,
                                        ListPosts& posts) {
  if (kind == 0) return std::make_unique<MailReader>(rules, kUsers, counts, sink, false, &posts);
  if (kind == 1) return std::make_unique<MailReader>(rules, kUsers, counts, sink, true, &posts);
  if (kind == 2) return std::make_unique<CsvContactsReader>(rules, counts, sink, kUsers, true);
  return std::make_unique<VcardReader>(rules, counts, sink, kUsers);
}

void read_with(SourceReader& reader, std::string_view text, std::size_t most_lines) {
  while (!text.empty() && reader.wants_more()) {
    std::size_t end = 0;
    for (std::size_t line = 0; line < most_lines && end < text.size(); ++line) {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    reader.read(text.substr(0, end));
    text.remove_prefix(end);
  }
  reader.finish();
}

std::vector<std::string> read(int kind, std::string_view text, std::size_t most_lines) {
  static const HarvestRules kRules = {.own_domains = OwnDomains({"ours.example"})};
  HarvestCounts counts;
  Sink sink;
  ListPosts posts(std::uint64_t{1} << 24, "/tmp");
  read_with(*reader_of(kind, kRules, counts, sink, posts), text, most_lines);
  // The same text as received mail, too: an mbox may have a post and what the list made of it.
  ReceivedReader received(counts, posts, kind == 1);
  read_with(received, text, most_lines);
  posts.give_to(sink);
  return sink.found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  recognise_source(text);
  utf8_of_utf16(text);
  for (const int kind : {0, 1, 2, 3}) {
    if (read(kind, text, size + 1) != read(kind, text, 1)) std::abort();
  }
  return 0;
}
