// `bloomgate query`: tells whether addresses are listed.
#include <sysexits.h>
#include <unistd.h>

#include <iostream>

#include "filter/cli/command.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/cli/text_input.hpp"
#include "filter/error.hpp"
#include "filter/mapped_filter.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr int kNotListed = 1;  // the exit status where some address is not listed, as grep(1) has it

class Query {
 public:
  explicit Query(const std::string& path) : filter_(path) {}

  bool all_listed() const noexcept { return all_listed_; }

  // Looks up what a person or a log has: an address with or without brackets, `<>`, `@domain` or `@.domain`.
  void look_up(std::string_view text) {
    const AddressProfile profile = filter_.header().shape.profile;
    const bool domain = text.starts_with('@');
    look_up(domain ? canonicalize_line(text, profile) : canonicalize_path(text, profile));
  }

  // Looks up the lines of standard input; blank ones and comments are passed over.
  void look_up_list() {
    for_each_entry({"-"}, "text", filter_.header().shape.profile, stop_flag(), [this](const InputEntry& line) {
      if (line.entry.kind() != EntryKind::blank) look_up(line.entry);
    });
  }

 private:
  void look_up(const Entry& entry) {
    const Match match = filter_.view().find(entry);
    if (filter_.damaged()) {
      throw BloomgateError(ErrorCode::changed_while_open, filter_.path() + " was truncated while it was open");
    }
    all_listed_ &= match != Match::none;
    std::cout << (match == Match::none ? "not-listed" : "listed") << '\t';
    if (entry.is_key()) {
      std::cout << entry.key();
    } else if (entry.kind() == EntryKind::null_sender) {
      std::cout << "<>";
    } else {
      std::cout << "-\t" << reject_reason_name(entry.reason()) << ": " << reject_reason_text(entry.reason());
    }
    if (entry.kind() == EntryKind::address && (match == Match::domain || match == Match::domain_tree)) {
      std::cout << "\tby " << match_name(match);
    }
    std::cout << '\n';
  }

  MappedFilter filter_;
  bool all_listed_ = true;
};

// Asks until the end of input.
void ask(Query& query) {
  std::string line;
  while (std::cout << "address> " << std::flush && std::getline(std::cin, line)) {
    if (!line.empty()) query.look_up(line);
  }
  std::cout << '\n';
}

}  // namespace

int run_query(const Arguments& arguments) {
  std::vector<std::string> operands;
  po::options_description visible("options");
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate query FILE [ADDRESS...|-]",
       .purpose = "Prints one line an address: 'listed' or 'not-listed', a TAB, and the key that was looked up.\n"
                  "- reads addresses from standard input, one a line; on a terminal, without addresses, it asks.\n"
                  "The exit status is 0 when all are listed and 1 when one is not.",
       .examples = "  bloomgate query /var/lib/bloomgate/whitelist.bloom joe@example.org '<Ann@Example.NET>'\n"
                   "  cut -f2 senders.log | bloomgate query whitelist.bloom -\n"});
  if (!values) return EX_OK;
  if (operands.empty()) throw UsageError("name a filter file");
  const std::string path = operands.front();
  std::vector<std::string> addresses(operands.begin() + 1, operands.end());
  Query query(path);
  if (addresses.empty() && isatty(STDIN_FILENO) != 0) {
    ask(query);
    return query.all_listed() ? EX_OK : kNotListed;
  }
  if (addresses.empty()) addresses.emplace_back("-");
  for (const std::string& address : addresses) {
    if (address == "-") {
      query.look_up_list();
    } else {
      query.look_up(address);
    }
  }
  return query.all_listed() ? EX_OK : kNotListed;
}

}  // namespace bloomgate::cli
