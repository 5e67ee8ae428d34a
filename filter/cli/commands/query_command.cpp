// `bloomgate query`: tells whether addresses are listed.
#include <sysexits.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/progress.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/engine/bulk_lookup.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/look_up_entries.hpp"
#include "filter/ingest/turns.hpp"
#include "filter/jobs/confirmation.hpp"
#include "filter/jobs/count_entries.hpp"
#include "filter/jobs/open_lists.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::string_view kPairSign = " > ";

namespace po = boost::program_options;

constexpr int kNotListed = 1;  // the exit status if some address is not listed, as in grep(1)

// Which answers are printed.
struct ShownAnswers {
  bool listed = true;
  bool not_listed = true;  // rejected ones too

  bool any() const noexcept { return listed || not_listed; }
};

// The answers to what was asked.
struct Answers {
  std::string text;  // a line for each answer that is shown
  std::uint64_t listed = 0;
  std::uint64_t not_listed = 0;
  std::uint64_t rejected = 0;  // not addresses, so not listed either
};

// Whether an entry is listed, and by which entry other than itself.
struct Answer {
  bool is_listed = false;
  bool is_excluded = false;  // its bits are all set, but it is a known stranger
  std::string by = {};
};

// Adds an answer. If there is no key, `entry` says why.
class AnswerWriter {
 public:
  AnswerWriter(Answers& answers, ShownAnswers shown) : answers_(answers), shown_(shown) {}

  void write_key(std::string_view key, EntryKind kind, const FoundEntry& found) {
    const auto domain_entry = found.domain_entry();
    const bool is_by_domain = (kind == EntryKind::address && !domain_entry.view().empty()) ||
                              (kind == EntryKind::mailing_list && found.match == Match::mailing_list_tree);
    write(key, {.is_listed = found.is_listed(),
                .is_excluded = found.is_excluded,
                .by = is_by_domain ? std::string(domain_entry.view()) : std::string()});
  }

  // Of a pair, or of an entry with a signer.
  void write_answer(std::string_view key, const Answer& answer) { write(entry_text(key), answer); }

  void write_other(EntryKind kind, const LineFault& fault) {
    if (kind == EntryKind::blank) return;
    if (kind == EntryKind::null_sender) {
      if (start(false)) answers_.text += "<>\n";
      return;
    }
    if (start(false)) answers_.text.append("-\t").append(fault.name).append(": ").append(fault.text) += '\n';
    --answers_.not_listed;
    ++answers_.rejected;
  }

 private:
  void write(std::string_view text, const Answer& answer) {
    if (!start(answer.is_listed)) return;
    answers_.text += text;
    if (answer.is_excluded && !answer.is_listed) answers_.text += "\texcluded";
    if (!answer.by.empty()) answers_.text.append("\tby ").append(answer.by);
    answers_.text += '\n';
  }

  // Whether the answer is shown.
  bool start(bool listed) {
    ++(listed ? answers_.listed : answers_.not_listed);
    if (!(listed ? shown_.listed : shown_.not_listed)) return false;
    answers_.text += listed ? "listed\t" : "not-listed\t";
    return true;
  }

  Answers& answers_;
  ShownAnswers shown_;
};

class Query {
 public:
  Query(const std::string& path, const std::string& store_path, ShownAnswers shown)
      : filter_(path), confirmation_(store_path, filter_), shown_(shown) {}

  const Answers& total() const noexcept { return total_; }

  // Looks up what a person or a log has: an address with or without brackets, `<>`, or any other entry of a list.
  void look_up(std::string_view text) { use(answers_to(text)); }

  Answers answers_to(std::string_view text) const {
    const AddressProfile profile = filter_.header().shape.profile;
    const Entry entry = entry_of(text, profile);
    Answers answers;
    AnswerWriter writer(answers, shown_);
    if (entry.is_pair()) {
      writer.write_answer(entry.key(), answer_to_pair(entry.key(), entry.kind(), holds(entry)));
    } else if (entry.kind() == EntryKind::with_signer) {
      writer.write_answer(entry.key(), answer_to_signer(entry.key()));
    } else if (entry.is_key()) {
      writer.write_key(entry.key(), entry.kind(), confirmation_.find(filter_.view(), entry));
    } else {
      writer.write_other(entry.kind(), {reject_reason_name(entry.reason()), reject_text(entry)});
    }
    return answers;
  }

  // Prints answers and counts them. False if nobody reads them any more.
  bool use(const Answers& answers) {
    filter_.require_whole();
    total_.listed += answers.listed;
    total_.not_listed += answers.not_listed;
    total_.rejected += answers.rejected;
    if (answers.text.empty()) return true;
    // Flushes after each block, for a reader at the other end of a pipe.
    std::cout << answers.text << std::flush;
    return std::cout.good();
  }

  // Looks up the lines of lists; skips blank lines and comments.
  void look_up_lists(const std::vector<std::string>& inputs, const ListOptions& options) {
    // Counting asks for an address by its own key alone.
    const bool counts = !shown_.any() && filter_.view().domains().empty() && confirmation_.store() == nullptr &&
                        BulkLookup::suits(filter_.view());
    OpenLists lists(list_files(inputs), options.format, stop_flag(), counts ? BlockOrder::any : BlockOrder::in_turn);
    // No progress between the answers, and none in a log: whoever reads those did not ask for it.
    const bool bar = !options.quiet && isatty(STDERR_FILENO) != 0 && (isatty(STDOUT_FILENO) == 0 || !shown_.any());
    const Progress::Style style = bar ? Progress::style_for(STDERR_FILENO) : Progress::Style::none;
    Progress progress(style, [&] { return lists.state(); }, Progress::interval_of(style));
    if (counts) {
      const EntryCounts count = count_entries(lists, filter_.view(), options.chosen_threads(), PairFoundBy::sender_too);
      use({.text = {}, .listed = count.found, .not_listed = count.missing, .rejected = count.rejected});
      return;
    }
    for_each_block_in_turn(
        lists.blocks, *lists.format, options.chosen_threads(),
        [&](const Block& block) { return answers_of(block, *lists.format); },
        [&](const Answers& answers) { return use(answers); });
  }

 private:
  Answers answers_of(const Block& block, const Format& format) const {
    Answers answers;
    AnswerWriter writer(answers, shown_);
    // Enough for short answers to short lines; longer text is moved once or twice.
    if (shown_.listed && shown_.not_listed) answers.text.reserve(block.text.size() + block.text.size() / 2);
    const FilterView& view = filter_.view();
    look_up_entries(
        block, format, view,
        [&](const LookedUp& entry) {
          if (entry.kind == EntryKind::pair || entry.kind == EntryKind::domain_pair) {
            writer.write_answer(entry.key, answer_to_pair(entry.key, entry.kind, entry.found));
          } else if (entry.kind == EntryKind::with_signer) {
            writer.write_answer(entry.key, answer_to_signer(entry.key));
          } else {
            writer.write_key(entry.key, entry.kind, found_by(entry));
          }
        },
        [&](const ListLine& line, std::uint64_t, std::string_view) {
          writer.write_other(line.entry.kind(), line.fault);
        });
    return answers;
  }

  static Entry entry_of(std::string_view text, AddressProfile profile) {
    // To a list a line that begins with '#' is a comment; to who asks, `#joe@example.org` is an address like any other,
    // and so it is in a pair.
    if (const std::size_t sign = text.find(kPairSign); text.starts_with('#') && sign != std::string_view::npos) {
      const std::string sender = "<" + std::string(text.substr(0, sign)) + ">";
      return canonicalize_pair(sender, text.substr(sign + kPairSign.size()), profile);
    }
    // To a mail server what follows an address is a parameter, and is skipped.
    const std::size_t signer = ascii::lower_case(text).rfind(ascii::trimmed_back(kSignerSign, " "));
    const bool has_signer = signer != std::string::npos;
    if (text.starts_with('#') && has_signer) {
      const std::string line = "<" + std::string(text.substr(0, signer)) + ">" + std::string(text.substr(signer));
      return canonicalize_list_line(line, profile);
    }
    const Entry line = canonicalize_list_line(text, profile);
    const bool is_of_lists = (line.is_key() && line.kind() != EntryKind::address) || text.starts_with('@') ||
                             is_mailing_list_key(text) || has_signer;
    return is_of_lists ? line : canonicalize_path(text, profile);
  }

  // Whether the filter has the key of a pair.
  bool holds(const Entry& pair) const {
    const FilterView& view = filter_.view();
    return goes_into_bits(pair.kind()) ? view.may_contain(pair.key()) : view.contains_domain(pair.key());
  }

  // A pair that is not listed itself may be by a wider one, or its sender is listed for everybody.
  Answer answer_to_pair(std::string_view key, EntryKind kind, bool found) const {
    if (found && (!goes_into_bits(kind) || confirmation_.confirms(key))) return {.is_listed = true};
    const FilterView& view = filter_.view();
    const PairSides sides = sides_of_pair(key);
    if (std::string sender = entry_of_sender(sides.sender); !sender.empty()) {
      return {.is_listed = true, .by = std::move(sender)};
    }
    const FoundPair wider = view.find_wider_pair(sides.sender, sides.recipient);
    if (wider.is_listed()) return {.is_listed = true, .by = entry_text(wider.key.view())};
    return {.is_excluded = goes_into_bits(kind) && !found && !view.excluded().empty() && view.is_excluded(key)};
  }

  // The entry that lists the sender of a pair for everybody; empty if there is none.
  std::string entry_of_sender(std::string_view sender) const {
    const FilterView& view = filter_.view();
    if (is_mailing_list_key(sender) || sender.starts_with('@')) {
      // What has no local part has no tag, and is no comment: the key is its spelling.
      return std::string(view.find(canonicalize_list_line(sender)).domain_entry().view());
    }
    if (view.may_contain(sender) && confirmation_.confirms(sender)) return std::string(sender);
    return std::string(view.find_by_domain(sender.substr(sender.rfind('@'))).domain_entry().view());
  }

  // An entry with a signer that is not listed itself may be by a wider one with that signer.
  Answer answer_to_signer(std::string_view key) const {
    const SignerSides sides = sides_of_signer_key(key);
    const SignerKey found = filter_.view().find_with_signer(sides.entry, sides.signer);
    return {.is_listed = !found.view().empty(), .by = std::string(found.view() == key ? "" : found.view())};
  }

  // An address that is not listed itself may be by its domain.
  FoundEntry found_by(const LookedUp& entry) const {
    if (entry.kind != EntryKind::address) {
      if (entry.kind != EntryKind::mailing_list) return {.match = entry.found ? match_of(entry.kind) : Match::none};
      return find_mailing_list(entry.key, [&](std::string_view key) { return filter_.view().contains_domain(key); });
    }
    if (entry.found && confirmation_.confirms(entry.key)) return {Match::address};
    const FilterView& view = filter_.view();
    FoundEntry found = view.find_by_domain(entry.key.substr(entry.key.rfind('@')));
    found.is_excluded = !entry.found && !view.excluded().empty() && view.is_excluded(entry.key);
    return found;
  }

  MappedFilter filter_;
  Confirmation confirmation_;
  ShownAnswers shown_;
  Answers total_;
};

// Asks until the end of input.
void ask(Query& query) {
  std::string line;
  while (std::cout << "address> " << std::flush && std::getline(std::cin, line)) {
    if (!line.empty()) query.look_up(line);
  }
  std::cout << '\n';
}

void look_up_all(Query& query, const std::vector<std::string>& addresses, const std::vector<std::string>& lists,
                 const ListOptions& options) {
  if (addresses.empty() && lists.empty()) {
    if (isatty(STDIN_FILENO) != 0) return ask(query);
    return query.look_up_lists({"-"}, options);
  }
  for (const std::string& address : addresses) {
    if (address == "-") {
      query.look_up_lists({"-"}, options);
    } else {
      query.look_up(address);
    }
  }
  if (!lists.empty()) query.look_up_lists(lists, options);
}

// The layers of a folder: who is listed by one of them is listed.
class LayeredQuery {
 public:
  LayeredQuery(const std::string& folder, ShownAnswers shown) {
    for (const Layer& layer : usable_layers_in(folder)) {
      layers_.push_back(std::make_unique<Query>(layer.path, std::string(), shown));
    }
  }

  void look_up(std::string_view text) {
    for (const auto& layer : layers_) {
      const Answers answers = layer->answers_to(text);
      // The last one has the last word.
      if (answers.listed == 0 && layer != layers_.back()) continue;
      layer->use(answers);
      return;
    }
  }

  void look_up_lines(std::istream& lines) {
    for (std::string line; std::getline(lines, line);) look_up(line);
  }

  Answers total() const {
    Answers total;
    for (const auto& layer : layers_) {
      total.listed += layer->total().listed;
      total.not_listed += layer->total().not_listed;
      total.rejected += layer->total().rejected;
    }
    return total;
  }

 private:
  std::vector<std::unique_ptr<Query>> layers_;
};

Answers look_up_in_layers(const std::vector<std::string>& operands, ShownAnswers shown) {
  LayeredQuery query(operands.front(), shown);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (operands[i] == "-") {
      query.look_up_lines(std::cin);
    } else {
      query.look_up(operands[i]);
    }
  }
  if (operands.size() == 1) query.look_up_lines(std::cin);
  return query.total();
}

}  // namespace

int run_query(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::vector<std::string> lists;
  std::string store_path;
  bool count = false;
  bool only_listed = false;
  bool only_not_listed = false;
  ListOptions options;
  po::options_description visible("options");
  visible.add_options()  //
      ("list", po::value(&lists)->multitoken()->value_name("INPUT..."),
       "look up all lines of these lists: files, folders, or - for standard input")  //
      ("confirm", po::value(&store_path)->value_name("STORE"),
       "an address is listed only if this store has it, too: the one that was built with the filter")     //
      ("count", po::bool_switch(&count), "print only how many are listed, not listed, or not addresses")  //
      ("listed", po::bool_switch(&only_listed), "print only the addresses that are listed")               //
      ("not-listed", po::bool_switch(&only_not_listed), "print only what is not listed, or is not an address");
  options.add_to(visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate query FILE [ADDRESS...|-] [--list INPUT...] [OPTION...]",
       .purpose =
           "Prints one line per address: 'listed' or 'not-listed', a TAB, and the key that was looked up.\n"
           "An address is asked for everybody; 'SENDER > RECIPIENT' is listed if the sender is, for everybody or for\n"
           "that recipient; 'SENDER signed-by DOMAIN' if it is with that signer. - reads addresses from standard\n"
           "input, one per line. Without addresses, on a terminal, it asks for them. FILE may be a folder of\n"
           "layers: listed is who is by one of them.\n"
           "The exit status is 0 if all are listed and 1 if one is not.",
       .examples = "  bloomgate query /var/lib/bloomgate/whitelist.bloom joe@example.org '<Ann@Example.NET>'\n"
                   "  cut -f2 senders.log | bloomgate query whitelist.bloom -\n"
                   "  bloomgate query whitelist.bloom --count --list customers.txt partners.txt.gz\n"});
  if (!values) return EX_OK;
  if (operands.empty()) throw UsageError("name a filter file");
  if (count + only_listed + only_not_listed > 1) throw UsageError("give one of --count, --listed and --not-listed");
  options.chosen_threads();
  const ShownAnswers shown = {.listed = !count && !only_not_listed, .not_listed = !count && !only_listed};
  Answers total;
  if (is_folder(operands.front())) {
    if (!lists.empty() || !store_path.empty()) {
      throw UsageError("--list and --confirm go with one filter; name a layer of " + operands.front() +
                       ", or give addresses on standard input");
    }
    total = look_up_in_layers(operands, shown);
  } else {
    Query query(operands.front(), store_path, shown);
    look_up_all(query, {operands.begin() + 1, operands.end()}, lists, options);
    total = query.total();
  }
  if (count) {
    std::cout << "listed\t" << total.listed << "\nnot-listed\t" << total.not_listed << "\nrejected\t" << total.rejected
              << '\n';
  }
  return total.not_listed + total.rejected == 0 ? EX_OK : kNotListed;
}

}  // namespace bloomgate::cli
