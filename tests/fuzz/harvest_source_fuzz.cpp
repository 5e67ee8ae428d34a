// Sent mail and address books: each reader takes any text, in any pieces of whole lines, and finds the same in it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/cli/harvest/address_book.hpp"
#include "filter/cli/harvest/mail_reader.hpp"

namespace {

using namespace bloomgate;
using namespace bloomgate::cli;

class Sink : public ContactSink {
 public:
  void add(std::string_view contact, std::string_view user) override {
    if (canonicalize_path(contact).key() != contact) std::abort();
    found.push_back(std::string(contact) + '>' + std::string(user));
  }
  std::vector<std::string> found;
};

std::unique_ptr<SourceReader> reader_of(int kind, const HarvestRules& rules, HarvestCounts& counts, Sink& sink) {
  if (kind == 0) return std::make_unique<MailReader>(rules, counts, sink, false);
  if (kind == 1) return std::make_unique<MailReader>(rules, counts, sink, true);
  return std::make_unique<VcardReader>(rules, counts, sink, "ann@ours.example");
}

std::vector<std::string> read(int kind, std::string_view text, std::size_t most_lines) {
  static const HarvestRules kRules = {.own_domains = OwnDomains({"ours.example"})};
  HarvestCounts counts;
  Sink sink;
  const auto reader = reader_of(kind, kRules, counts, sink);
  while (!text.empty() && reader->wants_more()) {
    std::size_t end = 0;
    for (std::size_t line = 0; line < most_lines && end < text.size(); ++line) {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    reader->read(text.substr(0, end));
    text.remove_prefix(end);
  }
  reader->finish();
  return sink.found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  recognise_source(text);
  for (const int kind : {0, 1, 2}) {
    if (read(kind, text, size + 1) != read(kind, text, 1)) std::abort();
  }
  static const HarvestRules kRules = {.own_domains = OwnDomains({"ours.example"})};
  HarvestCounts counts;
  Sink sink;
  CsvContactsReader table(kRules, counts, sink, "ann@ours.example");
  table.read(text);
  return 0;
}
