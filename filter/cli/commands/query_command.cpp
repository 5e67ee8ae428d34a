// `bloomgate query`: tells whether addresses are listed.
#include <sysexits.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "filter/base/ascii.hpp"
#include "filter/base/json.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/configured_whitelist.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/jobs/query_job.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr int kNotListed = 1;  // the exit status if some address is not listed, as in grep(1)

void write_line(const Answer& answer, std::string& text) {
  text += answer.is_listed ? "listed\t" : "not-listed\t";
  if (answer.fault != nullptr) {
    text.append("-\t").append(answer.fault->name).append(": ").append(answer.fault->text);
  } else {
    text += answer.entry;
    if (answer.is_excluded && !answer.is_listed) text += "\texcluded";
    if (!answer.by.empty()) text.append("\tby ").append(answer.by);
  }
  text += '\n';
}

void write_json(const Answer& answer, std::string& text) {
  const auto or_null = [](std::string_view value) { return value.empty() ? Json(nullptr) : Json(value); };
  Json json = {{"entry", or_null(answer.entry)},
               {"listed", answer.is_listed},
               {"by", or_null(answer.by)},
               {"excluded", answer.is_excluded && !answer.is_listed},
               {"fault", nullptr}};
  if (answer.fault != nullptr) json["fault"] = {{"code", answer.fault->name}, {"message", answer.fault->text}};
  text.append(json.dump(-1)) += '\n';
}

void print_counts(const QueryCounts& total) {
  std::cout << "listed\t" << total.listed << "\nnot-listed\t" << total.not_listed << "\nrejected\t" << total.rejected
            << '\n';
}

void print_counts_json(const QueryCounts& total) {
  print_report({{"listed", total.listed}, {"not_listed", total.not_listed}, {"rejected", total.rejected}});
}

// Flushes after each block, for a reader at the other end of a pipe.
bool print_answers(std::string_view text) {
  std::cout << text << std::flush;
  return std::cout.good();
}

struct Question {
  bool shows_any = true;
  bool hints = true;                         // on standard error, for a person
  std::string command = "bloomgate query ";  // that asks the same filter, up to the address
  bool of_layers = false;
  std::string_view prompt = "address> ";
  std::vector<std::string> addresses;
  std::vector<std::string> lists;
  ListOptions options;
};

bool has_condition(std::string_view text) {
  return text.find(" > ") != std::string_view::npos || ascii::lower_case(text).find(" signed-by ") != std::string::npos;
}

// A sender that is not listed by itself may be listed with a signer or for a recipient. The filter has the hashes of
// such entries only, so it answers for a condition that is named.
void print_how_to_ask(const QueryJob& job, const Question& question, std::string_view sender) {
  const auto ask = [&](std::string_view condition) {
    return question.command + shell_word(std::string(sender).append(condition), "ENTRY");
  };
  std::string how;
  if (job.holds_signers()) how = "with a signer: " + ask(" signed-by DOMAIN");
  if (job.holds_pairs()) how += (how.empty() ? "" : "; ") + ("for one recipient: " + ask(" > RECIPIENT"));
  if (!how.empty()) std::cerr << "hint: a sender may also be listed " << how << '\n';
}

void look_up(QueryJob& job, Question& question, const std::string& text) {
  const std::uint64_t before = job.total().not_listed;
  job.look_up(text);
  if (!question.hints || job.total().not_listed == before || has_condition(text)) return;
  print_how_to_ask(job, question, text);
  question.hints = false;  // once is enough
}

// Until the end of input, with a prompt for each line if there is one.
void look_up_lines(QueryJob& job, Question& question, std::string_view prompt) {
  std::string line;
  while (std::cout << prompt && (prompt.empty() || std::cout.flush()) && std::getline(std::cin, line)) {
    if (prompt.empty()) {
      job.look_up(line);
    } else if (!line.empty()) {
      look_up(job, question, line);
    }
  }
  if (!prompt.empty()) std::cout << '\n';
}

void look_up_lists(QueryJob& job, Question& question, const std::vector<std::string>& lists) {
  if (question.of_layers) return look_up_lines(job, question, "");
  const ListOptions& options = question.options;
  // The bar would stand between the answers on a terminal, and in a log the reader did not ask for it.
  const bool bar = isatty(STDERR_FILENO) != 0 && (isatty(STDOUT_FILENO) == 0 || !question.shows_any);
  JobProgress progress(options.quiet || !bar);
  job.look_up_lists(lists, options.format, options.chosen_threads(), progress, stop_flag());
}

void look_up_all(QueryJob& job, Question& question) {
  if (question.addresses.empty() && question.lists.empty()) {
    const bool asks = !question.of_layers && isatty(STDIN_FILENO) != 0;
    return asks ? look_up_lines(job, question, question.prompt) : look_up_lists(job, question, {"-"});
  }
  for (const std::string& address : question.addresses) {
    address == "-" ? look_up_lists(job, question, {"-"}) : look_up(job, question, address);
  }
  if (!question.lists.empty()) look_up_lists(job, question, question.lists);
}

// The daemon's answer depends on more than its whitelist.
void print_what_else_counts(const std::vector<std::string>& lists, const std::string& other_config,
                            const std::vector<std::string>& addresses) {
  if (lists.empty()) return;
  const bool has_one = !addresses.empty() && addresses.front() != "-" && !has_condition(addresses.front());
  std::cerr << "hint: the daemon also asks the " << (lists.size() == 1 ? "list " : "lists ") << lists.front()
            << (lists.size() == 1 ? "" : " and " + lists.back()) << ": bloomgate-milter explain " << other_config
            << "--from " << shell_word(has_one ? addresses.front() : "", "ADDRESS") << '\n';
}

// An address, a mailing list, or - for standard input, may stand where the filter would be.
bool begins_with_filter(const std::vector<std::string>& operands) {
  if (operands.empty() || operands.front() == "-") return false;
  const std::string& first = operands.front();
  std::error_code none;
  if (std::filesystem::exists(first, none)) return true;
  if (first.find('@') != std::string::npos || first.starts_with("list:")) return false;
  if (operands.size() == 1 && first.find_first_of("./") == std::string::npos) {
    throw UsageError("there is no file " + printable(first) + ", and an address has an '@': bloomgate query " +
                     shell_word(first, "NAME") + "@example.org");
  }
  return true;
}

}  // namespace

int run_query(const Arguments& arguments) {
  std::vector<std::string> operands;
  Question question;
  std::string store_path;
  bool count = false;
  bool json = false;
  bool only_listed = false;
  bool only_not_listed = false;
  std::string config_file;
  po::options_description visible("options");
  visible.add_options()  //
      ("list", po::value(&question.lists)->multitoken()->value_name("INPUT..."),
       "look up all lines of these lists: files, folders, or - for standard input")  //
      ("confirm", po::value(&store_path)->value_name("STORE"),
       "an address is listed only if this store has it, too: the one that was built with the filter")           //
      ("count", po::bool_switch(&count), "print only how many are listed, not listed, or not addresses")        //
      ("listed", po::bool_switch(&only_listed), "print only the addresses that are listed")                     //
      ("not-listed", po::bool_switch(&only_not_listed), "print only what is not listed, or is not an address")  //
      ("config", po::value(&config_file)->default_value(usual_config_file())->value_name("FILE"),
       "the daemon's configuration, which names the whitelist");
  question.options.add_to(visible);
  add_json(json, visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate query [FILE|FOLDER] [ADDRESS...|-] [--list INPUT...] [OPTION...]",
       .purpose = "Prints one line for each address: 'listed' or 'not-listed', a TAB, and the key that was looked up. "
                  "SENDER is listed if it has an entry for all recipients. 'SENDER > RECIPIENT' is listed if SENDER "
                  "has an entry for all recipients or for that one; 'SENDER signed-by DOMAIN' if it has an entry with "
                  "that signer. - reads addresses from standard input, one in each line; without addresses, on a "
                  "terminal, the program asks for them. FILE may be a folder of layers: an address is listed if one "
                  "layer lists it. Without FILE, the whitelist of the daemon's configuration is asked. The exit status "
                  "is 0 if all are listed, and 1 if one is not.",
       .examples = "  bloomgate query joe@example.org\n"
                   "  bloomgate query /var/lib/bloomgate/whitelist.bloom joe@example.org '<Ann@Example.NET>'\n"
                   "  cut -f2 senders.log | bloomgate query whitelist.bloom -\n"
                   "  bloomgate query whitelist.bloom --count --list customers.txt partners.txt.gz\n"});
  if (!values) return EX_OK;
  const bool asks = !operands.empty() || !question.lists.empty();
  ConfiguredWhitelist configured;
  const std::string other_config =
      config_file == usual_config_file() ? "" : "--config " + shell_word(config_file, "FILE") + ' ';
  if (asks && !begins_with_filter(operands)) {
    const auto filter = std::ranges::find_if(operands, is_filter);
    if (filter != operands.end()) {
      throw UsageError("name the filter before the addresses: bloomgate query " + shell_word(*filter, "FILE") +
                       " ADDRESS...");
    }
    configured = configured_whitelist(config_file);
    operands.insert(operands.begin(), configured.path);
    question.command += other_config;
  } else if (!operands.empty()) {
    question.command += shell_word(operands.front(), "FILE") + ' ';
  }
  if (operands.empty()) throw UsageError("name a filter file");
  if (count + only_listed + only_not_listed > 1) throw UsageError("give one of --count, --listed and --not-listed");
  question.options.chosen_threads();
  const std::string& path = operands.front();
  question.of_layers = is_folder(path);
  if (question.of_layers && !(question.lists.empty() && store_path.empty())) {
    throw UsageError("--list and --confirm go with one filter; name a layer of " + path +
                     ", or give addresses on standard input");
  }
  question.addresses.assign(operands.begin() + 1, operands.end());
  const ShownAnswers shown = {.listed = !count && !only_not_listed, .not_listed = !count && !only_listed};
  question.shows_any = shown.any();
  question.hints = shown.not_listed && !json && !question.options.quiet;
  if (json) question.prompt = "";
  QueryJob job({path, store_path, shown}, json ? write_json : write_line, print_answers);
  look_up_all(job, question);
  const QueryCounts& total = job.total();
  if (count) (json ? print_counts_json : print_counts)(total);
  if (!json && !question.options.quiet) print_what_else_counts(configured.beside, other_config, question.addresses);
  return total.not_listed + total.rejected == 0 ? EX_OK : kNotListed;
}

}  // namespace bloomgate::cli
