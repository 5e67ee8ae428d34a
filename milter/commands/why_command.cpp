#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/log/journal.hpp"
#include "milter/commands/commands.hpp"
#include "milter/commands/conditional_entries.hpp"
#include "milter/commands/message_decision.hpp"
#include "milter/why/message_search.hpp"
#include "milter/why/why_sentence.hpp"

namespace bloomgate {
namespace {

constexpr int kNothingFound = 1;
constexpr std::chrono::days kJournalDays{7};
constexpr std::string_view kJournalPart = "the journal of the last 7 days";

// What was searched, and what of it could not be read.
struct Searched {
  std::vector<std::string> places;
  std::vector<std::string> faults;
};

LogTime now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// The program that unpacks a log; empty if it is not compressed. What was read of it is put back: standard input cannot
// be read twice.
std::string_view unpacked_by(std::istream& log) {
  const int first = log.get();
  const int second = log.peek();
  log.clear();
  if (first != std::istream::traits_type::eof()) log.unget();
  if (first == 0x1f && second == 0x8b) return "zcat";
  if (first == 0x28 && second == 0xb5) return "zstdcat";
  if (first == 0xfd && second == 0x37) return "xzcat";
  if (first == 'B' && second == 'Z') return "bzcat";
  return {};
}

void search_file(const std::string& path, MessageSearch& search) {
  errno = 0;
  std::ifstream log(path);
  const auto fail = [&] {
    throw BloomgateError(ErrorCode::cannot_open,
                         "open the log " + path + ": " + system_reason(ErrorCode::cannot_open, path, errno),
                         {.path = path});
  };
  if (!log) fail();
  if (const std::string_view program = unpacked_by(log); !program.empty()) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " is compressed; run this instead: " + std::string(program) + ' ' +
                             shell_word(path, "FILE") + " | bloomgate-milter why ... --log -",
                         {.path = path});
  }
  search.read(log, path);
  if (log.bad()) fail();
}

void search_input(std::istream& input, MessageSearch& search) {
  if (const std::string_view program = unpacked_by(input); !program.empty()) {
    throw BloomgateError(ErrorCode::bad_input, "standard input is compressed; unpack it first: " +
                                                   std::string(program) + " | bloomgate-milter why ... --log -");
  }
  search.read(input, "standard input");
}

void search_journal(MessageSearch& search) {
  const LogTime from = now() - kJournalDays;
  Journal journal(
      {"_SYSTEMD_UNIT=bloomgate-milter.service", "--since=@" + std::to_string(from.time_since_epoch().count())});
  std::ifstream text(journal.path());
  search.read(text, std::string(kJournalPart));
  journal.finish();
}

void search_usual(MessageSearch& search, Searched& searched) {
  const auto try_it = [&](std::string_view place, const auto& read) {
    try {
      read();
      searched.places.emplace_back(place);
    } catch (const BloomgateError& error) {
      searched.faults.emplace_back(error.what());
    }
  };
  // The older one has what was written before the last rotation.
  for (const char* const path : {"/var/log/mail.log.1", "/var/log/mail.log"}) {
    if (access(path, F_OK) == 0) try_it(path, [&] { search_file(path, search); });
  }
  if (search.found() == 0) try_it(kJournalPart, [&] { search_journal(search); });
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + printable(word);
  return text;
}

std::string time_of(const FoundMessage& message) {
  return message.time ? format_local(*message.time) : "at an invalid time";
}

std::string text_of(const FoundMessage& message) {
  std::string text = time_of(message) + "  " + message.queue_id + "  " + message.sender;
  const bool has_from = !message.header_from.empty() && message.header_from != "-";
  if (has_from && '<' + message.header_from + '>' != message.sender) text += "  From: " + message.header_from;
  return text + "\n    " + message.why + '\n';
}

// What the daemon's lists say of the sender now, or why that is not known; both are empty where no address is asked
// about.
struct SaidNow {
  std::string sentence = {};
  std::string fault = {};
};

SaidNow said_now(const DaemonCommand& command, const MessageSearch& search) {
  if (!command.why.config_fault.empty()) return {.fault = printable(command.why.config_fault)};
  if (!search.is_by_address()) return {};
  try {
    return {.sentence = printable(explained_sentence(command, search.asked()))};
  } catch (const std::exception& error) {
    return {.fault = printable(error.what())};
  }
}

// Completes the sentences on senders that were not listed. The lists are loaded once, if they can be.
AddListed listed_now(const DaemonCommand& command) {
  return [&command, lists = std::shared_ptr<const LoadedLists>(),
          is_loaded = !command.why.config_fault.empty()](KnownDecision& known) mutable {
    if (known.reason != Reason::not_listed) return;
    try {
      if (!is_loaded) lists = loaded_lists(command.options);
    } catch (const BloomgateError&) {  // NOLINT(bugprone-empty-catch): the log's own words have to do
    }
    is_loaded = true;
    if (lists != nullptr) add_conditional_entries(known, command.options, *lists);
  };
}

// How to find more. Each is a sentence.
std::vector<std::string> advice(const DaemonCommand& command, const MessageSearch& search, const Searched& searched,
                                const SaidNow& said) {
  std::vector<std::string> lines;
  const std::string again = "bloomgate-milter why " + shell_word(search.subject(), "ADDRESS");
  for (const std::string& fault : searched.faults) lines.push_back("Not read: " + printable(fault) + '.');
  if (!said.fault.empty()) lines.push_back("The lists are not known: " + said.fault + '.');
  if (search.daemon_lines() == 0) {
    lines.emplace_back(
        "No line of bloomgate-milter is there: its option log-target says where it logs. Name the file: --log FILE.");
  } else if (search.decisions() == 0) {
    lines.emplace_back("The daemon writes a line for each message only if its option log-level is info.");
  }
  if (command.why.logs.empty()) {
    lines.push_back("Older messages: zcat /var/log/mail.log.*.gz | " + again + " --log -, or journalctl -u " +
                    "bloomgate-milter -o short-iso | " + again + " --log -");
  } else {
    lines.push_back("Other logs: " + again + " --log FILE, once for each file; - is standard input.");
  }
  return lines;
}

std::string nothing_text(const DaemonCommand& command, const MessageSearch& search, const Searched& searched) {
  std::string text = search.is_by_sender() ? "No message of " : "No message with the queue ID ";
  text += search.subject() + " is in " + (searched.places.empty() ? "any log" : listed(searched.places)) + " (" +
          format_counted(search.lines(), "line", "lines") + " read, " + format_count(search.decisions()) +
          " of them decisions of the daemon).\n";
  const SaidNow said = said_now(command, search);
  if (!said.sentence.empty()) text += "An unsigned message from this sender would now be: " + said.sentence + '\n';
  if (!search.is_by_sender() && search.subject().find('.') != std::string::npos) {
    text += "The messages of a domain: bloomgate-milter why " + shell_word('@' + search.subject(), "@DOMAIN") + '\n';
  }
  for (const std::string& line : advice(command, search, searched, said)) text += line + '\n';
  return text;
}

std::string json_of(const DaemonCommand& command, const MessageSearch& search, const Searched& searched) {
  Json messages = Json::array();
  for (const FoundMessage& each : search.messages()) {
    messages.push_back({{"time", each.time ? Json(each.time->time_since_epoch().count()) : Json()},
                        {"local_time", each.time ? Json(format_local(*each.time)) : Json()},
                        {"queue_id", each.queue_id},
                        {"sender", each.sender},
                        {"header_from", each.header_from},
                        {"decision", each.decision},
                        {"reason", each.reason},
                        {"why", each.why}});
  }
  Json searched_places = Json::array();
  for (const std::string& place : searched.places) searched_places.push_back(printable(place));
  Json advised = Json::array();
  SaidNow said;
  if (search.found() == 0) {
    said = said_now(command, search);
    for (const std::string& line : advice(command, search, searched, said)) advised.push_back(line);
  }
  const Json all = {
      {"asked", search.subject()}, {"found", search.found()}, {"messages", messages}, {"searched", searched_places},
      {"lines", search.lines()},   {"now", said.sentence},    {"advice", advised}};
  return all.dump(2) + '\n';
}

std::string found_text(const MessageSearch& search) {
  const std::vector<FoundMessage> messages = search.messages();
  std::string text;
  if (search.found() > messages.size()) {
    text = "The last " + std::to_string(messages.size()) + " of " + std::to_string(search.found()) + " messages:\n";
  }
  for (const FoundMessage& each : messages) text += text_of(each);
  return text;
}

}  // namespace

int why(const DaemonCommand& command, std::istream& standard_input, std::ostream& out) {
  MessageSearch search(command.why.subject, now(), listed_now(command));
  Searched searched;
  for (const std::string& path : command.why.logs) {
    if (path == "-") {
      search_input(standard_input, search);
    } else {
      search_file(path, search);
    }
    searched.places.push_back(path == "-" ? "standard input" : path);
  }
  if (command.why.logs.empty()) search_usual(search, searched);
  if (command.why.json) {
    out << json_of(command, search, searched);
  } else {
    out << (search.found() == 0 ? nothing_text(command, search, searched) : found_text(search));
  }
  return search.found() == 0 ? kNothingFound : EX_OK;
}

}  // namespace bloomgate
