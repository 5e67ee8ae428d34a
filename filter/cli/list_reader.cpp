#include "filter/cli/list_reader.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "filter/error.hpp"
#include "filter/parallel.hpp"
#include "filter/plain_line.hpp"

namespace bloomgate::cli {
namespace {

// The shortest entry with its line end is `@a`.
constexpr std::uint64_t kMostEntriesOfBlock = (TextBlock::kTextBytes + kMaxInputBytes) / 3 + 2;

// Calls `on_plain(key)`, `on_entry(entry)` or `on_other(line, line number, text)` for each line of a block of text.
// Gives the number of lines.
template <typename OnPlain, typename OnEntry, typename OnOther>
std::uint64_t for_each_text_entry(const TextBlock& block, AddressProfile profile, OnPlain on_plain, OnEntry on_entry,
                                  OnOther on_other) {
  std::array<char, kPlainLineReadable> folded;
  const char* at = block.text.data();
  const char* const end = at + block.text.size();
  std::uint64_t lines = 0;
  while (at < end) {
    ++lines;
    if (!profile.keep_local_part_case) {
      const PlainLine plain = read_plain_line(at, folded.data());
      // Behind the block's text is that of an earlier one: a line end in there is not this line's.
      if (plain.line_bytes != 0 && plain.line_bytes <= static_cast<std::size_t>(end - at)) {
        on_plain(plain.key);
        at += plain.line_bytes;
        continue;
      }
    }
    const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    const char* const line_end = found == nullptr ? end : static_cast<const char*>(found);
    const std::string_view line(at, static_cast<std::size_t>(line_end - at));
    const ListLine read = read_text_line(line, profile);
    if (read.entry.is_key()) {
      on_entry(read.entry);
    } else {
      on_other(read, lines, line);
    }
    at = line_end + 1;
  }
  return lines;
}

// The same for any format.
template <typename OnPlain, typename OnEntry, typename OnOther>
std::uint64_t for_each_entry(const TextBlock& block, const ListFormat& format, AddressProfile profile, OnPlain on_plain,
                             OnEntry on_entry, OnOther on_other) {
  if (format.is_text()) return for_each_text_entry(block, profile, on_plain, on_entry, on_other);
  return for_each_line(block, format, profile, [&](const ListLine& line, std::uint64_t number, std::string_view text) {
    if (line.entry.is_key()) {
      on_entry(line.entry);
    } else {
      on_other(line, number, text);
    }
  });
}

void add_block(const TextBlock& block, FilterBuilder::Lane& lane, const ListFormat& format, AddressProfile profile,
               RejectLog& rejects) {
  BlockReport report = {.input = block.input, .index = block.index};
  report.lines = for_each_entry(
      block, format, profile, [&](std::string_view key) { lane.add_address(key); },
      [&](const Entry& entry) { lane.add(entry); },
      [&](const ListLine& line, std::uint64_t number, std::string_view text) {
        if (line.entry.kind() != EntryKind::rejected) return;
        report.rejected.push_back({number, line.fault, std::string(text.substr(0, kMaxInputBytes + 1))});
      });
  rejects.add(std::move(report));
}

}  // namespace

void read_lists(TextBlocks& blocks, ListFormat& format, FilterBuilder& builder, const BuildOptions& options,
                RejectLog& rejects) {
  bool more = true;
  while (more) {
    std::atomic<bool> full{false};
    std::atomic<bool> worked{false};
    run_parallel(options.threads, [&](unsigned index) {
      FilterBuilder::Lane& lane = builder.lane(index);
      TextBlock block;
      while (true) {
        if (!builder.has_room_for(kMostEntriesOfBlock)) {
          full = true;
          break;
        }
        if (!blocks.next(block)) break;
        worked = true;
        format.start_block(block, blocks.name(block.input));
        add_block(block, lane, format, options.profile, rejects);
      }
      lane.settle();
    });
    more = full;
    if (more && !worked) {
      throw BloomgateError(ErrorCode::out_of_memory, "the working memory is too small for one block; raise --memory");
    }
    if (more) builder.flush();
  }
}

std::optional<std::uint64_t> estimate_entries(TextBlocks& blocks, const ListFormat& format, AddressProfile profile) {
  constexpr std::uint64_t kWorthIt = std::uint64_t{1} << 30;  // less is counted, in memory
  constexpr std::uint64_t kSampleBytes = std::uint64_t{1} << 15;
  constexpr std::uint64_t kOneSampleIn = std::uint64_t{1} << 24;
  if (!blocks.in_parts() || blocks.total_bytes() < kWorthIt) return std::nullopt;
  std::uint64_t total = 0;
  TextBlock block;
  for (std::size_t input = 0; input < blocks.input_count(); ++input) {
    const std::uint64_t file_bytes = blocks.file_bytes(input);
    const std::uint64_t samples = file_bytes / kOneSampleIn + 1;
    std::uint64_t entries = 0;
    std::uint64_t sampled_bytes = 0;
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::uint64_t offset = file_bytes / samples * i;
      blocks.sample(input, offset, kSampleBytes, block);
      for_each_entry(
          block, format, profile, [&](std::string_view) { ++entries; }, [&](const Entry&) { ++entries; },
          [](const ListLine&, std::uint64_t, std::string_view) {});
      sampled_bytes += std::min(kSampleBytes, file_bytes - offset);
    }
    // Each file's share is rounded by itself, so that the sum does not depend on the order of the files.
    if (sampled_bytes != 0) {
      total += static_cast<std::uint64_t>(std::llround(
          static_cast<double>(entries) / static_cast<double>(sampled_bytes) * static_cast<double>(file_bytes)));
    }
  }
  return total;
}

}  // namespace bloomgate::cli
