// `bloomgate harvest`: from logs, sent mail and address books to a dated list of those to whom our users write.
#include <sysexits.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

#include "filter/address/entry_forms.hpp"
#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/harvest_report.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/contacts/contact_limit.hpp"
#include "filter/contacts/contact_sorter.hpp"
#include "filter/contacts/dated_list_writer.hpp"
#include "filter/contacts/forgotten_people.hpp"
#include "filter/contacts/harvest.hpp"
#include "filter/contacts/list_posts.hpp"
#include "filter/contacts/mail_journal.hpp"
#include "filter/contacts/owners.hpp"
#include "filter/contacts/source_files.hpp"
#include "filter/ingest/input_files.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

// 20 years with 1,000 new ones in each.
constexpr std::uint64_t kMostContacts = 20'000;

struct HarvestCommand {
  std::string output;
  std::string date;
  std::string memory;
  std::string user;
  std::string owner_addresses;
  std::string forgotten;
  std::vector<std::string> own_domains;
  std::vector<std::string> received;
  std::uint32_t most_recipients = 20;
  std::uint64_t most_contacts = kMostContacts;
  std::uint64_t at_least = 1;
  unsigned threads = default_threads();
  bool for_all = false;
  bool pairs = false;
  bool without_login = false;
  bool address_books = false;
  bool allow_empty = false;
  bool journal = false;
  std::string journal_cursor;
  bool quiet = false;
  bool json = false;
  std::vector<std::string> sources;
};

// Nothing given: --help was.
std::optional<HarvestCommand> parse_harvest(const Arguments& arguments) {
  HarvestCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("output,o", po::value(&command.output)->required()->value_name("FOLDER"),
       "the folder for the lists: each run writes a file such as 2026-11-20.txt.zst; a missing folder is made")  //
      ("own-domain", po::value(&command.own_domains)->required()->composing()->value_name("DOMAIN"),
       "a domain of your own users, or .DOMAIN for it and all domains below it; may be repeated")  //
      ("for-all", po::bool_switch(&command.for_all),
       "write addresses: a person to whom one user has written is listed for all users")  //
      ("pairs", po::bool_switch(&command.pairs),
       "write pairs: a person to whom a user has written is listed for that user only")  //
      ("at-least", po::value(&command.at_least)->default_value(1)->value_name("N"),
       "leave out a person to whom fewer than N users have written; with --pairs, to whom the user has written less "
       "than N times")  //
      ("most-recipients", po::value(&command.most_recipients)->default_value(20)->value_name("N"),
       "leave out messages to more than N recipients")  //
      ("most-contacts", po::value(&command.most_contacts)->default_value(kMostContacts)->value_name("N"),
       "take at most N contacts of a user, and name each user who has more; 0: no limit")  //
      ("without-login", po::bool_switch(&command.without_login),
       "also take messages of clients that have not logged in: for a server that accepts mail from its own network "
       "only")  //
      ("mailing-lists", po::value(&command.received)->composing()->value_name("RECEIVED"),
       "also write the mailing lists to which users have posted, as list:HOST. RECEIVED is received mail, which shows "
       "their names: a message, an mbox or a folder; may be repeated")  //
      ("user", po::value(&command.user)->value_name("ADDRESS"),
       "the owner of the sent mail and of the address books. With --pairs, these need it, or a pattern such as %u in "
       "the path")  //
      ("journal", po::bool_switch(&command.journal),
       "read the mail log from the journal, by journalctl, on a machine without mail.log")  //
      ("journal-cursor", po::value(&command.journal_cursor)->value_name("FILE"),
       "with --journal: begin where the last run ended, and store in FILE where this run ends")  //
      ("owner-addresses", po::value(&command.owner_addresses)->value_name("FILE"),
       "the addresses of each mailbox's owner: lines 'ADDRESS LOGIN...', as in Postfix's smtpd_sender_login_maps")  //
      ("address-books", po::bool_switch(&command.address_books),
       "also read address books in folders; one in the folder of a user counts for that user")  //
      ("forgotten", po::value(&command.forgotten)->value_name("FILE"),
       "leave out mail from before a person was forgotten, and mail without a date. FILE is '.forgotten' in the folder "
       "that 'bloomgate learned forget --lists' has changed")  //
      ("allow-empty", po::bool_switch(&command.allow_empty),
       "skip, and name, each file that is empty, damaged or of an unknown kind, and each empty folder of received "
       "mail")  //
      ("date", po::value(&command.date)->value_name("DAY"),
       "the list's day, such as 2026-11-20 (default: today, in UTC)")  //
      ("memory", po::value(&command.memory)->default_value("256M")->value_name("M"),
       "working memory; what does not fit goes to disk, into the folder")  //
      ("threads", po::value(&command.threads)->value_name("N"), "use N threads (default: one for each processor)");
  add_quiet(command.quiet, visible);
  add_json(command.json, visible);
  const auto values = parse_command_line(
      arguments, visible, &command.sources,
      {.synopsis = "bloomgate harvest --output FOLDER --own-domain DOMAIN --for-all|--pairs [OPTION...] SOURCE...",
       .purpose =
           "Makes a list of the people to whom your users write. SOURCE is a log of Postfix or Sendmail, a message or "
           "an mbox of sent mail, an address book (vCard, CSV), a folder of sent mail (also a Maildir), or - for "
           "standard input; compressed files are read, too. A pattern in a path says whose mail it is: %u is the name "
           "of the mailbox's owner, %n and %d are the two parts of a name such as ann@example.net.",
       .examples =
           "  bloomgate harvest --output /var/lib/bloomgate/lists --own-domain example.net --pairs /var/log/mail.log*\n"
           "  bloomgate harvest --output /var/lib/bloomgate/lists --own-domain example.net --pairs --journal\n"
           "  bloomgate harvest --output /var/lib/bloomgate/lists --own-domain example.net --pairs "
           "'/home/%u/Maildir/.Sent'\n"
           "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom --newest 180d /var/lib/bloomgate/lists\n"});
  if (!values) return std::nullopt;
  if (command.sources.empty() && !command.journal) {
    throw UsageError("name at least one source, or - for standard input, or give --journal");
  }
  if (!command.journal && !command.journal_cursor.empty()) throw UsageError("--journal-cursor needs --journal");
  if (command.for_all == command.pairs) throw UsageError("give either --for-all or --pairs");
  if (command.at_least == 0) throw UsageError("--at-least takes a number from 1");
  if (!command.date.empty() && !parse_day(command.date)) {
    throw UsageError("--date takes a day such as 2026-11-20, not '" + command.date + "'");
  }
  if (!command.user.empty()) {
    const Entry user = canonicalize_path(command.user);
    if (user.kind() != EntryKind::address) throw UsageError("--user takes an address, not '" + command.user + "'");
    command.user = user.key();
  }
  checked_threads(command.threads);
  return command;
}

bool is_of_one_file(ErrorCode code) noexcept {
  return code == ErrorCode::cannot_open || code == ErrorCode::cannot_read || code == ErrorCode::bad_input ||
         code == ErrorCode::changed_while_open;
}

void name_unreadable(std::string_view fault, Skipped& skipped) {
  if (++skipped.unreadable <= kMostNamed) std::cerr << "bloomgate harvest: skipped: " << printable(fault) << '\n';
}

void skip_unreadable(const TimedFile& file, const BloomgateError& error, Skipped& skipped) {
  std::error_code unknown;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file.path, unknown))) {
    ++skipped.vanished;
  } else {
    name_unreadable(error.what(), skipped);
  }
}

// What becomes of a file that gives nothing.
enum class Found : std::uint8_t {
  in_folder,  // it is skipped
  optional,   // named: it is skipped and named
  required,   // named: an error
};

std::string fault_of(SourceContent content, std::string_view what) {
  if (content == SourceContent::nothing) return " is empty";
  if (content == SourceContent::no_address) return " has no mail address";
  return " is " + std::string(what) + "; its first lines show none of them";
}

// `what` is what the file may be.
void read_file(const TimedFile& file, Found found, const std::function<SourceContent()>& read, std::string_view what,
               Skipped& skipped) {
  SourceContent content = SourceContent::used;
  try {
    content = read();
  } catch (const BloomgateError& error) {
    const bool is_fatal = found == Found::in_folder ? !is_of_one_file(error.code())
                                                    : found == Found::required || error.code() != ErrorCode::bad_input;
    if (is_fatal) throw;
    return skip_unreadable(file, error, skipped);
  }
  const bool is_empty = content == SourceContent::nothing || content == SourceContent::no_address;
  if (content == SourceContent::used || (is_empty && found == Found::in_folder)) return;
  if (found != Found::in_folder) {
    const std::string fault = file.path + fault_of(content, what);
    if (found == Found::required) {
      throw BloomgateError(ErrorCode::bad_input, fault + "; --allow-empty skips such files", {.path = file.path});
    }
    std::cerr << "bloomgate harvest: skipped: " << printable(fault) << '\n';
  }
  ++skipped.no_sources;
}

// Where received mail is. An empty folder is like a named file that is empty.
std::vector<TimedFile> received_files(const std::vector<std::string>& received, bool allow_empty, Skipped& skipped) {
  std::vector<TimedFile> files = files_by_time(received, [&](std::size_t source, const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_input) throw error;
    const std::string fault = "the folder " + received[source] + " holds no file";
    if (!allow_empty) {
      throw BloomgateError(ErrorCode::bad_input, fault + "; --allow-empty skips such folders",
                           {.path = received[source]});
    }
    std::cerr << "bloomgate harvest: skipped: " << printable(fault) << '\n';
    ++skipped.no_sources;
  });
  std::erase_if(files, [](const TimedFile& file) { return !file.named && is_unsent(file.path); });
  return files;
}

void read_journal(MailJournal& journal, bool allow_empty, Harvest& harvest, Skipped& skipped) {
  if (journal.read(harvest) == SourceContent::used) return;
  const std::string fault = "the journal has no line of " + std::string(MailJournal::kUnits) +
                            "; if the mail server logs elsewhere, name its log, such as /var/log/mail.log";
  if (!allow_empty) throw BloomgateError(ErrorCode::bad_input, fault + "; --allow-empty skips an empty journal");
  std::cerr << "bloomgate harvest: skipped: " << fault << '\n';
  ++skipped.no_sources;
}

void read_sources(const SourceFiles& sources, const std::vector<TimedFile>& received, bool allow_empty,
                  Harvest& harvest, Skipped& skipped) {
  const Found named = allow_empty ? Found::optional : Found::required;
  for (const std::string& pattern : sources.absent()) {
    std::cerr << "bloomgate harvest: there is no " << printable(pattern) << '\n';
  }
  for (const std::string& fault : sources.unreadable()) name_unreadable(fault, skipped);
  for (const auto& [file, place] : sources.files()) {
    read_file(
        file, place.is_found ? Found::in_folder : named, [&] { return harvest.read(file.path, place); },
        "neither a log of Postfix or Sendmail, a message, an mbox, a vCard nor a table with a column of mail addresses",
        skipped);
  }
  for (const TimedFile& file : received) {
    read_file(
        file, file.named ? named : Found::in_folder, [&] { return harvest.read_received(file.path); },
        "neither a message nor an mbox, as --mailing-lists takes", skipped);
  }
}

// Written in order, each once.
Written write_list(ContactSorter& sorter, ContactLimit& limit, const HarvestCommand& command, DatedListWriter& list) {
  // A pair that is not written needs no room.
  const auto is_wanted = [&](std::uint64_t times) { return command.for_all || times >= command.at_least; };
  if (command.most_contacts != 0) {
    sorter.for_each([&](std::string_view, std::string_view user, std::uint64_t times) {
      if (is_wanted(times)) limit.count(user, times);
    });
  }
  Written written;
  std::string contact;
  std::uint64_t users = 0;
  const auto write = [&](const std::string& line) {
    list.write(line);
    ++written.entries;
    if (is_mailing_list_key(line)) ++written.mailing_lists;
  };
  const auto flush = [&] {
    if (users >= command.at_least) write(address_line(contact));
    users = 0;
  };
  sorter.for_each([&](std::string_view found, std::string_view user, std::uint64_t times) {
    if (!is_wanted(times) || !limit.takes(user, times)) return;
    if (command.pairs) return write(pair_line(found, user));
    if (users != 0 && found != contact) flush();
    contact = found;
    ++users;
  });
  if (users != 0) flush();
  return written;
}

}  // namespace

int run_harvest(const Arguments& arguments) {
  const std::optional<HarvestCommand> command = parse_harvest(arguments);
  if (!command) return EX_OK;
  const std::atomic<bool>& stop = stop_flag();
  std::signal(SIGPIPE, SIG_IGN);  // the work goes on if nobody reads the progress or the report
  const auto start = std::chrono::steady_clock::now();
  const HarvestRules rules = {.own_domains = OwnDomains(command->own_domains),
                              .most_recipients = command->most_recipients,
                              .needs_user = command->pairs,
                              .address_books = command->address_books,
                              .without_login = command->without_login};
  OwnerAddresses addresses(rules.own_domains);
  if (!command->owner_addresses.empty()) addresses.read(command->owner_addresses);
  for (const std::string& fault : addresses.faults()) {
    std::cerr << "bloomgate harvest: skipped: " << printable(fault) << '\n';
  }
  const ForgottenPeople forgotten =
      command->forgotten.empty() ? ForgottenPeople() : ForgottenPeople::read(command->forgotten);
  const SourceFiles sources(command->sources, command->user, addresses, rules);
  if (!command->journal && sources.absent().size() == command->sources.size()) {
    throw BloomgateError(ErrorCode::cannot_open, "there is no " + sources.absent().front());
  }
  Skipped skipped;
  const std::vector<TimedFile> received = received_files(command->received, command->allow_empty, skipped);
  const std::uint64_t total = sources.total_bytes() + total_bytes(received);
  // Before the sources are read, so that a folder that cannot be written to shows at once.
  DatedListWriter list(command->output, command->date.empty() ? today() : *parse_day(command->date));
  const bool wants_lists = !command->received.empty();
  // Sorting takes as much again.
  const std::uint64_t memory_bytes = parse_bytes(command->memory, "--memory") / (wants_lists ? 4 : 2);
  ContactSorter sorter(memory_bytes, command->output, command->pairs && command->at_least > 1);
  ContactLimit limit(command->most_contacts, sorter);
  ForgottenContacts remembered(forgotten, limit);
  ListPosts posts(memory_bytes, command->output, &forgotten);
  Harvest harvest(rules, remembered, command->threads, stop, wants_lists ? &posts : nullptr,
                  command->owner_addresses.empty() ? nullptr : &addresses);
  JobProgress progress(command->quiet);
  progress.begin(
      [&]() -> WorkState { return {.doing = "reading", .done_bytes = harvest.done_bytes(), .total_bytes = total}; });
  std::optional<MailJournal> journal;
  if (command->journal) {
    journal.emplace(command->journal_cursor);
    read_journal(*journal, command->allow_empty, harvest, skipped);
  }
  read_sources(sources, received, command->allow_empty, harvest, skipped);
  posts.give_to(limit);
  const Written written = write_list(sorter, limit, *command, list);
  const std::string path = list.finish();
  if (journal) journal->keep_place();
  progress.end();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  HarvestCounts counts = harvest.counts();
  counts.leave_out(LeftOut::over_limit, limit.left_out());
  counts.leave_out(LeftOut::forgotten, remembered.left_out());
  if (shows_result(command->json, command->quiet))
    (command->json ? print_harvest_json : print_harvest)(
        {path, written, wants_lists, sources, addresses, skipped, counts, limit.users(), harvest.done_bytes(),
         sorter.spilled_bytes() + posts.spilled_bytes(), elapsed.count()});
  return EX_OK;
}

}  // namespace bloomgate::cli
