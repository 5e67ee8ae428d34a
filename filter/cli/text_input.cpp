#include "filter/cli/text_input.hpp"

#include <algorithm>

#include "filter/address.hpp"
#include "filter/cli/input_files.hpp"
#include "filter/cli/text_blocks.hpp"

namespace bloomgate::cli {

void for_each_line(const std::vector<std::string>& inputs, const std::atomic<bool>& stop,
                   const std::function<void(const InputLine&)>& visit) {
  // To a single reader the blocks come in order.
  TextBlocks blocks(list_files(inputs), stop);
  TextBlock block;
  std::uint64_t number = 0;
  while (blocks.next(block)) {
    if (block.index == 0) number = 0;
    std::string_view text = block.text;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      visit({blocks.name(block.input), ++number, text.substr(0, std::min(end, kMaxInputBytes + 1))});
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
}

}  // namespace bloomgate::cli
