// `bloomgate import`: the lists of other programs become a list of ours.
#include <sysexits.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/foreign/foreign_list.hpp"
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
        "  bloomgate import --output welcome.txt /etc/spamassassin/local.cf\n"
        "  bloomgate import --from rspamd --output known.txt /etc/rspamd/local.d/maps.d/dmarc_whitelist.inc.local\n"
        "  bloomgate build --output /var/lib/bloomgate/whitelist.bloom welcome.txt known.txt\n"};

struct Imported {
  std::string path;
  ForeignKind kind = ForeignKind::spamassassin;
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

ForeignKind kind_of(const std::string& from, std::string_view text, const std::string& path) {
  if (!from.empty()) {
    if (const auto kind = foreign_kind_of(from)) return *kind;
    throw UsageError("--from takes " + names_of_kinds() + ", not '" + from + "'");
  }
  if (const auto kind = recognise(text)) return *kind;
  throw UsageError(path + " does not show whose list it is; give --from " + names_of_kinds());
}

// The command must not replace the file of another program, or a filter.
void require_own_list(const std::string& output) {
  std::error_code none;
  if (output.empty() || !std::filesystem::exists(output, none) || read_text(output).starts_with(kFirstWords)) return;
  throw BloomgateError(
      ErrorCode::cannot_write,
      output + " is not a list from 'bloomgate import'; name another output, or remove that file first",
      {.path = output});
}

std::string shown(const std::string& item) {
  constexpr std::size_t kMostBytes = 200;
  return printable(item.size() <= kMostBytes ? item : item.substr(0, kMostBytes) + "...");
}

std::string note_of(const Taken& taken) {
  const std::string where = "# line " + std::to_string(taken.line) + ", " + shown(taken.item) + ": ";
  switch (taken.width) {
    case Width::same:
      break;
    case Width::with_domain:
      return where + "this also lists the domain itself\n";
    case Width::with_below:
      return where + "this also lists all below the domain\n";
    case Width::narrower:
      return where + "this does not list other names that end so\n";
  }
  return {};
}

// The text of the list, with each entry once.
std::string text_of(const std::vector<Imported>& all) {
  std::string text;
  std::set<std::string, std::less<>> seen;
  for (const Imported& each : all) {
    text += std::string(kFirstWords) + printable(each.path) + ", of " + std::string(name_of(each.kind)) + "\n";
    for (const Taken& taken : each.list.taken()) {
      if (seen.insert(taken.entry).second) text += note_of(taken) + taken.entry + '\n';
    }
    for (const Omitted& left : each.list.left_out()) {
      text += "# line " + std::to_string(left.line) + ", left out: " + shown(left.item) + ": " +
              std::string(left.reason) + '\n';
    }
  }
  return text;
}

struct Sums {
  std::size_t taken = 0;
  std::size_t with_domain = 0;
  std::size_t with_below = 0;
  std::size_t narrower = 0;
  std::size_t unproven = 0;
  std::size_t left_out = 0;
  std::map<std::string_view, std::size_t> reasons = {};

  explicit Sums(const std::vector<Imported>& all) {
    std::set<std::string_view> seen;
    for (const Imported& each : all) {
      for (const Taken& entry : each.list.taken()) {
        if (!seen.insert(entry.entry).second) continue;
        ++taken;
        with_domain += entry.width == Width::with_domain ? 1 : 0;
        with_below += entry.width == Width::with_below ? 1 : 0;
        narrower += entry.width == Width::narrower ? 1 : 0;
        unproven += entry.was_unproven ? 1 : 0;
      }
      for (const Omitted& left : each.list.left_out()) ++reasons[left.reason];
      left_out += each.list.left_out().size();
    }
  }
};

Json json_of(const std::vector<Imported>& all, const Sums& sums, const std::string& output) {
  Json left_out = Json::array();
  for (const Imported& each : all) {
    for (const Omitted& left : each.list.left_out()) {
      left_out.push_back(
          {{"path", each.path}, {"line", left.line}, {"item", printable(left.item)}, {"reason", left.reason}});
    }
  }
  return {{"output", output},
          {"entries", sums.taken},
          {"with_domain", sums.with_domain},
          {"with_below", sums.with_below},
          {"narrower", sums.narrower},
          {"unproven", sums.unproven},
          {"left_out", std::move(left_out)}};
}

void print(const Sums& sums, const std::string& output, std::ostream& out) {
  out << "made      " << output << "\nentries   " << format_count(sums.taken) << '\n';
  if (sums.with_domain != 0) {
    out << "wider     " << format_count(sums.with_domain)
        << " of them list the domain itself, and not only what is below it\n";
  }
  if (sums.with_below != 0) {
    out << "below     " << format_count(sums.with_below)
        << " of them list all below a domain, as rspamd's whitelist does\n";
  }
  if (sums.narrower != 0) {
    out << "narrower  " << format_count(sums.narrower) << " of them do not list names that just end alike\n";
  }
  if (sums.unproven != 0) {
    out << "proven    " << format_count(sums.unproven)
        << " of them were believed there without a proof; here their mail must be authenticated\n";
  }
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
      ("from", po::value(&from)->value_name("PROGRAM"),
       "whose lists they are: spamassassin, rspamd, postfix, exim, ldif, microsoft or amavis (default: as they "
       "look)")                                                                                                 //
      ("output,o", po::value(&output)->value_name("FILE"), "where to put the list (default: standard output)")  //
      ("quiet", po::bool_switch(&quiet), "do not say what was taken and what was left out");
  add_json(json, visible);
  const auto values = parse_command_line(arguments, visible, &paths, kImportHelp);
  if (!values) return EX_OK;
  if (paths.empty()) throw UsageError("name at least one list, or - for standard input");
  if (json && output.empty()) throw UsageError("with --json give --output: standard output has the report");
  require_own_list(output);
  std::vector<Imported> all;
  for (const std::string& path : paths) {
    const std::string text = read_text(path == "-" ? "/dev/stdin" : path);
    Imported imported = {.path = path == "-" ? "standard input" : path, .kind = kind_of(from, text, path), .list = {}};
    read_foreign(imported.kind, text, imported.list);
    all.push_back(std::move(imported));
  }
  const Sums sums(all);
  if (sums.taken == 0) {
    std::string why = sums.reasons.empty() ? "" : ": " + std::string(sums.reasons.begin()->first);
    throw BloomgateError(ErrorCode::no_entries, "no list has an entry that could be taken over" + why);
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
