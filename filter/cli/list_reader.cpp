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

// Calls `on_plain(key)`, `on_entry(entry)` or `on_other(entry, line number, line)` for each line of the block. Gives
// the number of lines.
template <typename OnPlain, typename OnEntry, typename OnOther>
std::uint64_t for_each_entry(const TextBlock& block, AddressProfile profile, OnPlain on_plain, OnEntry on_entry,
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
    const Entry entry = canonicalize_line(line, profile);
    if (entry.is_key()) {
      on_entry(entry);
    } else {
      on_other(entry, lines, line);
    }
    at = line_end + 1;
  }
  return lines;
}

void add_block(const TextBlock& block, FilterBuilder::Lane& lane, AddressProfile profile, RejectLog& rejects) {
  BlockReport report = {.input = block.input, .index = block.index};
  report.lines = for_each_entry(
      block, profile, [&](std::string_view key) { lane.add_address(key); },
      [&](const Entry& entry) { lane.add(entry); },
      [&](const Entry& entry, std::uint64_t line, std::string_view text) {
        if (entry.kind() != EntryKind::rejected) return;
        report.rejected.push_back({line, entry.reason(), std::string(text.substr(0, kMaxInputBytes + 1))});
      });
  rejects.add(std::move(report));
}

}  // namespace

void read_lists(TextBlocks& blocks, FilterBuilder& builder, const BuildOptions& options, RejectLog& rejects) {
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
        add_block(block, lane, options.profile, rejects);
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

std::optional<std::uint64_t> estimate_entries(TextBlocks& blocks, AddressProfile profile) {
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
          block, profile, [&](std::string_view) { ++entries; }, [&](const Entry&) { ++entries; },
          [](const Entry&, std::uint64_t, std::string_view) {});
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
