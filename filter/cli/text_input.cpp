#include "filter/cli/text_input.hpp"

#include "filter/cli/input_files.hpp"
#include "filter/cli/list_format.hpp"
#include "filter/cli/text_blocks.hpp"

namespace bloomgate::cli {

void for_each_entry(const std::vector<std::string>& inputs, const std::string& format_name, AddressProfile profile,
                    const std::atomic<bool>& stop, const std::function<void(const InputEntry&)>& visit) {
  const std::vector<std::string> files = list_files(inputs);
  const std::unique_ptr<ListFormat> format = make_list_format(format_name, files.size());
  // To a single reader the blocks come in order.
  TextBlocks blocks(files, stop, format->quotes_line_ends());
  TextBlock block;
  std::uint64_t lines = 0;
  while (blocks.next(block)) {
    if (block.index == 0) lines = 0;
    const std::string& name = blocks.name(block.input);
    format->start_block(block, name);
    lines += for_each_line(block, *format, profile, [&](const ListLine& line, std::uint64_t number, std::string_view) {
      visit({name, lines + number, line.entry});
    });
  }
}

}  // namespace bloomgate::cli
