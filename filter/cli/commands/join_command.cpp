// `bloomgate join`: puts the parts of a filter together that several machines or tasks have made.
#include <sysexits.h>

#include <iostream>

#include "filter/base/number_text.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/saturating_sum.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/engine/join_parts.hpp"
#include "filter/engine/part_file.hpp"
#include "filter/file/output_check.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

namespace {

std::uint64_t entries_of(const std::vector<std::string>& parts) {
  std::uint64_t entries = 0;
  for (const std::string& part : parts) {
    entries = saturating_sum(entries, PartFile(part).header().filter.addresses);
  }
  return entries;
}

}  // namespace

int run_join(const Arguments& arguments) {
  std::string output;
  std::vector<std::string> parts;
  bool json = false;
  po::options_description visible("options");
  visible.add_options()("output,o", po::value(&output)->required()->value_name("FILE"), "where to put the filter");
  LossLimits limits;
  add_allow_empty(limits, visible);
  add_allow_shrink(limits, visible);
  add_json(json, visible);
  const auto values = parse_command_line(
      arguments, visible, &parts,
      {.synopsis = "bloomgate join --output FILE [OPTION...] PART...",
       .purpose =
           "Writes the filter that these parts make. A part has a range of its blocks, and is made with the\n"
           "library: bloomgate_part_write() in C, write_part() in Python. All parts must be there, and be of one\n"
           "filter. The file is the one that 'bloomgate build' makes of all entries, with the same options.",
       .examples = "  bloomgate join --output whitelist.bloom parts/*.part\n"});
  if (!values) return EX_OK;
  if (parts.empty()) throw UsageError("name the parts");
  if (is_store(parts.front())) {
    throw UsageError(parts.front() + " is a store; 'bloomgate build' makes a filter of the parts of 'bloomgate part'");
  }
  require_can_write(output, 0);
  limits.require(entries_of(parts), output);
  const FilterHeader header = join_parts(parts, output, default_threads(), stop_flag());
  if (json) {
    print_report(filter_json(output, header));
    return EX_OK;
  }
  std::cout << "built     " << output << "\naddresses " << format_count(header.addresses)
            << " (duplicates counted)\nsize      " << format_bytes(file_bytes(header)) << '\n'
            << rates_lines(header);
  return EX_OK;
}

}  // namespace bloomgate::cli
