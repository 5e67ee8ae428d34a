// `bloomgate size`: the calculator. From any of entries, bits per entry, hashes, false-positive rate and memory to the
// others.
#include <sys/ioctl.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iostream>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/fpr_plot.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/commands/shape_options.hpp"
#include "filter/cli/commands/size_choice.hpp"
#include "filter/cli/numbers.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/file/output_check.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;
struct SizeCommand {
  SizeWishes wishes;
  bool json = false;
  std::optional<std::string> plot = {};  // where to; "-" is the terminal
};

// Nothing given: --help was.
std::optional<SizeCommand> parse_size(const Arguments& arguments) {
  std::string entries;
  std::string fpr;
  std::string memory;
  std::string plot;
  double bits_per_entry = 0;
  std::uint32_t hashes = 0;
  SizeCommand command;
  ShapeOptions shape;
  po::options_description visible("options");
  visible.add_options()                                                                                    //
      ("entries", po::value(&entries)->value_name("N"), "number of entries, such as 1e9")                  //
      ("bits-per-entry", po::value(&bits_per_entry)->value_name("B"), "size for each entry (default: 8)")  //
      ("hashes", po::value(&hashes)->value_name("K"), "bits set for each entry (default: the best)")       //
      ("fpr", po::value(&fpr)->value_name("P"), "false-positive rate to reach, such as 0.01 or 1%")        //
      ("memory", po::value(&memory)->value_name("M"), "size of the file, such as 500M or 2G")              //
      ("plot", po::value(&plot)->implicit_value("-")->value_name("FILE.svg"),
       "draw the false-positive rate over the bits per entry, into FILE.svg or on standard output");
  shape.add_layout_to(visible);
  add_json(command.json, visible);
  const auto values = parse_command_line(
      arguments, visible, nullptr,
      {.synopsis = "bloomgate size [--entries N] [--bits-per-entry B] [--hashes K] [--fpr P] [--memory M] [OPTION...]",
       .purpose =
           "Calculates how large a filter is and what false-positive rate it has. Any two of entries, bits per entry\n"
           "and memory give the third; so do any two of bits per entry, hashes and false-positive rate. Shows the\n"
           "choice in each layout, and a table of the neighbouring choices.",
       .examples = "  bloomgate size --entries 1e9\n"
                   "  bloomgate size --entries 50000000 --fpr 0.1%\n"
                   "  bloomgate size --memory 2G --fpr 0.01 --layout line --plot rates.svg\n"});
  if (!values) return std::nullopt;
  SizeWishes& wishes = command.wishes;
  wishes.layout = shape.chosen_layout();
  wishes.block_bytes = shape.chosen_block_bytes();
  if (values->count("entries") != 0) wishes.entries = parse_count(entries, "--entries");
  if (values->count("bits-per-entry") != 0) wishes.bits_per_entry = bits_per_entry;
  if (values->count("hashes") != 0) wishes.hashes = hashes;
  if (values->count("fpr") != 0) wishes.fpr = parse_rate(fpr, "--fpr");
  if (values->count("memory") != 0) wishes.memory_bytes = parse_bytes(memory, "--memory");
  if (values->count("plot") != 0) command.plot = plot;
  if (command.json && command.plot == "-") throw UsageError("--json leaves no room for a plot; give --plot a file");
  return command;
}

// The content of the tables after the choice.
struct Table {
  SizeChoice choice;
  std::vector<SizeChoice> layouts;         // the same bits per entry in each layout
  std::vector<SizeChoice> rows;            // whole bits per entry around the choice, each with its best k
  std::vector<std::uint32_t> columns;      // numbers of hashes around that of the choice
  std::vector<std::vector<double>> rates;  // of each row with that many hashes
};

Table make_table(const SizeWishes& wishes, const SizeChoice& choice) {
  constexpr int kEachSide = 4;
  constexpr int kColumnsEachSide = 2;
  Table table = {.choice = choice, .layouts = {}, .rows = {}, .columns = {}, .rates = {}};
  for (const Layout layout : kLayouts) {
    SizeWishes other = wishes;
    other.layout = layout;
    if (layout != wishes.layout) other.block_bytes.reset();
    table.layouts.push_back(choice_at(other, choice.entries, choice.bits_per_entry, wishes.hashes));
  }
  const auto hashes = static_cast<int>(choice.shape.hashes);
  for (int k = hashes - kColumnsEachSide; k <= hashes + kColumnsEachSide; ++k) {
    if (k >= 1 && k <= static_cast<int>(layout_rules(wishes.layout).most_hashes()))
      table.columns.push_back(static_cast<std::uint32_t>(k));
  }
  const auto middle = static_cast<int>(std::lround(choice.bits_per_entry));
  for (int bits = std::max(1, middle - kEachSide); bits <= std::min(64, middle + kEachSide); ++bits) {
    table.rows.push_back(choice_at(wishes, choice.entries, bits, std::nullopt));
    std::vector<double>& rates = table.rates.emplace_back();
    for (const std::uint32_t k : table.columns) rates.push_back(choice_at(wishes, choice.entries, bits, k).fpr);
  }
  return table;
}

std::string layout_name(const SizeChoice& choice) {
  return std::string(layout_rules(choice.shape.layout).name());
}

// Prints cells as a row of columns with these `widths`, without space at its end.
void print_row(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    row += cells[i];
    const std::size_t width = widths[std::min(i, widths.size() - 1)];
    row.append(cells[i].size() < width ? width - cells[i].size() : 1, ' ');
  }
  row.erase(row.find_last_not_of(' ') + 1);
  std::cout << row << '\n';
}

// What the domains of the senders add to the size, which depends on how many there are.
std::string sender_domains_text(const SizeChoice& choice) {
  constexpr std::uint64_t kUsual = 100'000;
  const auto most = choice.most_sender_domain_bytes();
  if (!most) return "4 to 7 bytes more for each";
  const bool has_usual = *choice.entries > kUsual;
  return (has_usual ? format_short_bytes(DomainCoding(kUsual).section_bytes()) + " more for " + format_count(kUsual) +
                          " of them, and "
                    : "") +
         "at most " + format_short_bytes(*most) + " more, if each entry has one of its own (--no-sender-domains: none)";
}

void print_table(const Table& table) {
  const SizeChoice& choice = table.choice;
  const auto bytes = choice.file_bytes();
  // Without a number of entries there is no size.
  const auto size_of = [](const SizeChoice& row) { return row.entries ? format_short_bytes(*row.file_bytes()) : "-"; };
  std::cout << "entries         " << (choice.entries ? format_count(*choice.entries) : "any number")
            << "\nbits per entry  " << format_ratio(choice.bits_per_entry) << "\nlayout          "
            << layout_name(choice) << "\nhashes          " << choice.shape.hashes << "\nsize            "
            << (bytes ? format_bytes(*bytes) : "-") << "\nsender domains  " << sender_domains_text(choice)
            << "\nFPR             " << format_rate(choice.fpr)
            << " for a look-up, at the domains of its senders\nmessages        " << message_rates_text(choice.fpr)
            << "\n\n";

  // A rare one is longer than a share in percent.
  const auto is_rare = [](const SizeChoice& row) { return format_rate(row.fpr).size() > 10; };
  const bool has_rare = std::ranges::any_of(table.layouts, is_rare) || std::ranges::any_of(table.rows, is_rare);
  const std::size_t rate_width = has_rare ? 22 : 12;
  print_row({"layout", "hashes", "FPR", "size"}, {13, 8, rate_width});
  for (const SizeChoice& row : table.layouts) {
    print_row({layout_name(row), std::to_string(row.shape.hashes), format_rate(row.fpr), size_of(row)},
              {13, 8, rate_width});
  }

  std::cout << '\n';
  std::vector<std::string> cells = {"bits per entry", "hashes", "FPR", "size"};
  for (const std::uint32_t k : table.columns) cells.push_back("k=" + std::to_string(k));
  const std::vector<std::size_t> widths = {16, 8, rate_width, 12, rate_width - 1};
  print_row(cells, widths);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SizeChoice& best = table.rows[i];
    cells = {format_decimal(best.bits_per_entry, 0), std::to_string(best.shape.hashes), format_rate(best.fpr),
             size_of(best)};
    for (const double rate : table.rates[i]) cells.push_back(format_rate(rate));
    print_row(cells, widths);
  }
}

Json json_of(const SizeChoice& choice) {
  const auto bytes = choice.file_bytes();
  const auto domain_bytes = choice.most_sender_domain_bytes();
  return {{"entries", choice.entries ? Json(*choice.entries) : Json(nullptr)},
          {"bits_per_entry", choice.bits_per_entry},
          {"layout", layout_name(choice)},
          {"block_bytes", choice.shape.block_bytes},
          {"hashes", choice.shape.hashes},
          {"file_bytes", bytes ? Json(*bytes) : Json(nullptr)},
          {"most_sender_domains_bytes", domain_bytes ? Json(*domain_bytes) : Json(nullptr)},
          {"fpr", choice.fpr},
          {"fpr_either", either_fpr(choice.fpr)},
          {"fpr_both", choice.fpr}};
}

void print_table_json(const Table& table) {
  Json json = json_of(table.choice);
  json["layouts"] = Json::array();
  for (const SizeChoice& layout : table.layouts) json["layouts"].push_back(json_of(layout));
  json["table"] = Json::array();
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    Json line = json_of(table.rows[row]);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      line["fpr_by_hashes"][std::to_string(table.columns[i])] = table.rates[row][i];
    }
    json["table"].push_back(line);
  }
  print_report(json);
}

FprPlot make_plot(const SizeWishes& wishes, const SizeChoice& choice) {
  constexpr double kStep = 0.5;
  constexpr double kLeast = 24;
  FprPlot plot = {.curves = {}, .chosen = 0, .bits_per_entry = choice.bits_per_entry, .fpr = choice.fpr};
  const double end = std::min(64.0, std::max(kLeast, std::ceil(choice.bits_per_entry) + 4));
  for (const Layout layout : kLayouts) {
    if (!layout_rules(layout).why_not_asked().empty()) continue;  // it is exported as page, which has a curve
    SizeWishes other = wishes;
    other.layout = layout;
    if (layout != wishes.layout) other.block_bytes.reset();
    if (layout == wishes.layout) plot.chosen = plot.curves.size();
    FprCurve& curve = plot.curves.emplace_back(FprCurve{layout_rules(layout).name(), {}});
    for (double bits = 1; bits <= end; bits += kStep) {
      curve.points.push_back({bits, choice_at(other, std::nullopt, bits, wishes.hashes).fpr});
    }
  }
  return plot;
}

void draw(const FprPlot& plot, const std::string& path) {
  if (path == "-") {
    winsize size = {};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    std::cout << '\n' << fpr_plot_text(plot, known ? size.ws_col : 80, 20);
    return;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << fpr_plot_svg(plot);
  file.close();
  if (!file) throw system_error(ErrorCode::cannot_write, "write", path, errno);
}

}  // namespace

int run_size(const Arguments& arguments) {
  const std::optional<SizeCommand> command = parse_size(arguments);
  if (!command) return EX_OK;
  const SizeChoice choice = choose_size(command->wishes);
  if (command->plot && command->plot != "-") require_own_text(*command->plot, is_fpr_plot, "a plot", "--plot");
  (command->json ? print_table_json : print_table)(make_table(command->wishes, choice));
  if (command->plot) draw(make_plot(command->wishes, choice), *command->plot);
  return EX_OK;
}

}  // namespace bloomgate::cli
