// `bloomgate import`: the lists of other programs become a list of ours.
#include <sysexits.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/foreign/foreign_list.hpp"
#include "filter/foreign/written_list.hpp"
#include "filter/ingest/decompressor.hpp"
#include "filter/ingest/format.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr mode_t kMode = 0644;
constexpr std::string_view kFirstWords = "# From ";  // of each list that this command writes

constexpr HelpText kImportHelp = {
    .synopsis = "bloomgate import [--from PROGRAM] [--output FILE] [OPTION...] LIST...",
    .purpose =
        "Converts the lists of another program into a list for 'bloomgate build'. The program is spamassassin, "
        "rspamd,\n"
        "postfix, exim, ldif (a directory), microsoft (a tenant's allow list) or amavis (what amavis-lists prints). "
        "Lines\n"
        "that have no exact entry are omitted. Comments in the list name them with the reason: read the list before "
        "you\n"
        "build.",
    .examples =
        "  bloomgate import --from spamassassin --output welcome.txt /etc/spamassassin/local.cf\n"
        "  bloomgate import --from rspamd --output known.txt /etc/rspamd/local.d/maps.d/dmarc_whitelist.inc.local\n"
        "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom welcome.txt known.txt\n"};

struct Source {
  std::string path;
  ForeignKind kind = ForeignKind::spamassassin;
};

struct Imported {
  std::vector<Source> files;
  ForeignList list;
};

std::string names_of_kinds() {
  std::string names;
  for (std::size_t kind = 0; kind < kForeignKinds; ++kind) {
    names += (kind == 0                   ? ""
              : kind + 1 == kForeignKinds ? " or "
                                          : ", ") +
             std::string(name_of(static_cast<ForeignKind>(kind)));
  }
  return names;
}

// Lists for `bloomgate build` may be compressed, these not.
void require_plain_text(std::string_view text, const std::string& name) {
  if (recognise_compression(text.substr(0, kCompressionMarkBytes), true) != Compression::none) {
    throw BloomgateError(ErrorCode::bad_input,
                         printable(name) + " is compressed; decompress it, and give its text on standard input: -",
                         {.path = name});
  }
  require_list(text, false, printable(name));
}

ForeignKind kind_of(const std::string& from, std::string_view text, const std::string& path) {
  if (!from.empty()) {
    if (const auto kind = foreign_kind_of(from)) return *kind;
    std::vector<std::string> kinds;
    for (std::size_t i = 0; i < kForeignKinds; ++i) kinds.emplace_back(name_of(static_cast<ForeignKind>(i)));
    throw UsageError("--from takes " + names_of_kinds() + ", not '" + from + "'" + nearest_word_hint(from, kinds));
  }
  if (const auto kind = recognise(text)) return *kind;
  throw UsageError(printable(path) + " does not show which program it is from; give --from " + names_of_kinds());
}

[[noreturn]] void refuse_output(const std::string& output, const std::string& why) {
  throw BloomgateError(ErrorCode::cannot_write, output + " " + why + "; name another output, or remove that file first",
                       {.path = output});
}

// The command must not replace the file of another program, a filter, or what an operator has edited.
void require_own_list(const std::string& output) {
  std::error_code none;
  if (output.empty() || !std::filesystem::exists(output, none)) return;
  const auto refuse = [&](const char* why) { refuse_output(output, why); };
  if (!std::filesystem::is_regular_file(output, none)) refuse("is not a file");
  if (std::filesystem::file_size(output, none) == 0) return;
  std::string first(kFirstWords.size(), '\0');
  std::ifstream(output, std::ios::binary).read(first.data(), static_cast<std::streamsize>(first.size()));
  if (first != kFirstWords) refuse("is not a list from 'bloomgate import'");
  if (!is_as_written(read_text(output))) refuse("was edited since 'bloomgate import' wrote it");
}

// Nor its own list of another program's. `output` passed require_own_list().
void require_list_of_same_program(const std::string& output, const std::vector<Source>& files) {
  constexpr std::string_view kBeforeProgram = ", of ";
  std::string first;
  if (output.empty() || !std::getline(std::ifstream(output), first)) return;
  const std::string program = first.substr(std::min(first.rfind(kBeforeProgram) + kBeforeProgram.size(), first.size()));
  if (std::ranges::any_of(files, [&](const Source& file) { return name_of(file.kind) == program; })) return;
  refuse_output(output, "is the list of " + program);
}

std::string shown(const std::string& item) {
  constexpr std::size_t kMostBytes = 200;
  return printable(item.size() <= kMostBytes ? item : item.substr(0, kMostBytes) + "...");
}

// Of an entry of that width: what the list says of it, and what the report says of all such entries.
struct WidthText {
  std::string_view json_name;
  std::string_view note;
  std::string_view title;
  std::string_view sum;
};

constexpr std::array<WidthText, kWidths> kWidthTexts = {
    WidthText{},
    WidthText{"with_domain", "this also lists the domain itself", "wider",
              "of them list the domain itself, and not only what is below it"},
    WidthText{"with_below", "this also lists all below the domain", "below",
              "of them list all below a domain, as rspamd's whitelist does"},
    WidthText{"narrower", "this does not list other names that end so", "narrower",
              "of them do not list names that just end alike"},
    WidthText{"by_dmarc", "rspamd counts this name only if DMARC passes", "by DMARC",
              "of them count in rspamd only if DMARC passes"}};

std::string place_of(const Imported& all, std::size_t file, std::uint64_t line, const std::string& item) {
  return (all.files.size() == 1 ? "line " : printable(all.files[file].path) + ", line ") + std::to_string(line) + ", " +
         shown(item);
}

std::string note_of(const Imported& all, const Taken& taken) {
  const std::string_view note = kWidthTexts[static_cast<std::size_t>(taken.width)].note;
  if (note.empty()) return {};
  return "# " + place_of(all, taken.file, taken.line, taken.item) + ": " + std::string(note) + '\n';
}

std::string line_of(const Imported& all, const Omitted& left) {
  return place_of(all, left.file, left.line, left.item) + ": " + std::string(left.reason) + '\n';
}

// The text of the list, with each entry once.
std::string text_of(const Imported& all) {
  std::string text;
  for (const Source& file : all.files) {
    text += std::string(kFirstWords) + printable(file.path) + ", of " + std::string(name_of(file.kind)) + '\n';
  }
  for (const Omitted& left : all.list.left_out()) {
    if (left.may_block_entries) text += "# Take care: entries below may list senders of " + line_of(all, left);
  }
  std::set<std::string, std::less<>> seen;
  for (const Taken& taken : all.list.taken()) {
    if (seen.insert(taken.entry).second) text += note_of(all, taken) + taken.entry + '\n';
  }
  for (const Omitted& left : all.list.left_out()) {
    if (!left.may_block_entries) text += "# Left out: " + line_of(all, left);
  }
  return with_checksum(std::move(text));
}

struct Sums {
  std::size_t taken = 0;
  std::array<std::size_t, kWidths> by_width = {};
  std::size_t unproven = 0;
  std::size_t take_care = 0;
  std::size_t left_out = 0;
  std::map<std::string_view, std::size_t> reasons = {};

  explicit Sums(const ForeignList& list) : left_out(list.left_out().size()) {
    std::set<std::string_view> seen;
    for (const Taken& entry : list.taken()) {
      if (!seen.insert(entry.entry).second) continue;
      ++taken;
      ++by_width[static_cast<std::size_t>(entry.width)];
      unproven += entry.was_unproven ? 1 : 0;
    }
    for (const Omitted& left : list.left_out()) {
      ++reasons[left.reason];
      take_care += left.may_block_entries ? 1 : 0;
    }
  }
};

Json json_of(const Imported& all, const Sums& sums, const std::string& output) {
  Json left_out = Json::array();
  for (const Omitted& left : all.list.left_out()) {
    left_out.push_back({{"path", all.files[left.file].path},
                        {"line", left.line},
                        {"item", printable(left.item)},
                        {"reason", left.reason},
                        {"may_block_entries", left.may_block_entries}});
  }
  Json json = {{"output", output}, {"entries", sums.taken}};
  for (std::size_t width = 1; width < kWidths; ++width) {
    json[std::string(kWidthTexts[width].json_name)] = sums.by_width[width];
  }
  json["unproven"] = sums.unproven;
  json["left_out"] = std::move(left_out);
  return json;
}

void print(const Sums& sums, const std::string& output, std::ostream& out) {
  const auto line = [&](std::string_view title, std::size_t count, std::string_view text) {
    if (count == 0) return;
    out << title << std::string(10 - title.size(), ' ') << format_count(count) << ' ' << text << '\n';
  };
  out << "made      " << output << "\nentries   " << format_count(sums.taken) << '\n';
  for (std::size_t width = 1; width < kWidths; ++width)
    line(kWidthTexts[width].title, sums.by_width[width], kWidthTexts[width].sum);
  line("proven", sums.unproven, "of them were believed there without a proof; here their mail must be authenticated");
  line("take care", sums.take_care,
       word_for(sums.take_care, "line blocks senders whom the entries may list; the list names it at its beginning",
                "lines block senders whom the entries may list; the list names them at its beginning"));
  out << "left out  " << format_count(sums.left_out) << '\n';
  for (const auto& [reason, count] : sums.reasons) out << "          " << format_count(count) << ": " << reason << '\n';
}

}  // namespace

int run_import(const Arguments& arguments) {
  std::string from;
  std::string output;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> paths;
  po::options_description visible("options");
  visible.add_options()  //
      ("from", po::value(&from)->value_name("spamassassin|rspamd|postfix|exim|ldif|microsoft|amavis"),
       "the program that the lists are from (default: recognised by their content)")  //
      ("output,o", po::value(&output)->value_name("FILE"), "where to put the list (default: standard output)");
  add_quiet(quiet, visible);
  add_json(json, visible);
  const auto values = parse_command_line(arguments, visible, &paths, kImportHelp);
  if (!values) return EX_OK;
  if (paths.empty()) throw UsageError("name at least one list, or - for standard input");
  if (json && output.empty()) throw UsageError("with --json give --output: standard output has the report");
  if (output == "-") output.clear();
  require_own_list(output);
  Imported all;
  for (const std::string& path : paths) {
    const std::string text = read_text(path == "-" ? "/dev/stdin" : path);
    const std::string name = path == "-" ? "standard input" : path;
    require_plain_text(text, name);
    all.files.push_back({name, kind_of(from, text, name)});
    read_foreign(all.files.back().kind, text, all.list);
  }
  require_list_of_same_program(output, all.files);
  all.list.settle();
  const Sums sums(all.list);
  if (sums.taken == 0) {
    const auto most = std::ranges::max_element(sums.reasons, {}, [](const auto& reason) { return reason.second; });
    const std::string why = most == sums.reasons.end() ? "there is none" : std::string(most->first);
    throw BloomgateError(ErrorCode::no_entries, "no line of the lists could be converted to an entry: " + why);
  }
  if (output.empty()) {
    std::cout << text_of(all);
  } else {
    replace_file(output, text_of(all), kMode);
  }
  if (json) {
    print_report(json_of(all, sums, output));
  } else if (!quiet) {
    print(sums, output.empty() ? "a list" : output, output.empty() ? std::cerr : std::cout);
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
