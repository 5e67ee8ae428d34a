#include "filter/inputs/stranger_check.hpp"

#include <sys/stat.h>

#include <set>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/entries.hpp"
#include "filter/ingest/rounds.hpp"
#include "filter/ingest/turns.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kShown = 10;  // excluded senders that are entries

struct ListedLine {
  std::uint64_t line;  // in its block, from 1
  EntryKind kind;
  Match match;
  std::string key;
};

// The excluded senders in a block that are entries.
struct BlockReview {
  std::size_t input = 0;
  std::uint64_t lines = 0;
  std::uint64_t listed = 0;
  std::uint64_t domain_entries = 0;  // among these
  std::vector<ListedLine> first = {};
};

BlockReview review_block(const Block& block, const Format& format, AddressProfile profile, KnownStrangers& strangers) {
  BlockReview review = {.input = block.input};
  const auto look_up = [&](EntryKind kind, std::string_view key, std::uint64_t line) {
    const Match match = strangers.entry_of(kind, key);
    if (match == Match::none) return;
    if (!goes_into_bits(kind)) ++review.domain_entries;
    if (++review.listed > kShown) return;
    review.first.push_back({line, kind, match, std::string(key)});
  };
  review.lines = for_each_entry(
      block, format, profile,
      [&](EntryKind kind, const PlainKey& key, std::uint64_t line) { look_up(kind, key.text(), line); },
      [&](const Entry& entry, std::uint64_t line) { look_up(entry.kind(), entry.key(), line); },
      [](const ListLine&, std::uint64_t, std::string_view) {});
  return review;
}

std::string warning_of(const ListedLine& listed) {
  const bool by_domain = listed.match != Match::address && goes_into_bits(listed.kind);
  return ": warning: " + entry_text(listed.key) + (by_domain ? " is listed by its domain" : " is an entry") +
         ", and stays listed";
}

}  // namespace

StrangerCheck::StrangerCheck(const std::vector<std::string>& files, BuildOptions& options, bool is_strict,
                             std::function<void(std::string_view)> show, const std::atomic<bool>& stop, HashRange range)
    : files_(files),
      profile_(options.profile),
      threads_(options.threads),
      is_strict_(is_strict),
      show_(std::move(show)),
      stop_(stop) {
  if (files_.empty()) return;
  for (const std::string& file : files_) {
    struct stat status = {};
    // A missing file is reported when it is opened.
    if (file != "-" && (stat(file.c_str(), &status) != 0 || S_ISREG(status.st_mode))) continue;
    throw BloomgateError(
        ErrorCode::not_a_regular_file,
        file + ": a list of " + choice_names().strangers + " is read twice; put it into a file, and name that",
        {.path = file});
  }
  options.memory_bytes /= 2;
  strangers_ = std::make_unique<KnownStrangers>(shape_of(options), options.threads, options.memory_bytes, range);
  read_lists();
}

void StrangerCheck::read_lists() {
  Blocks blocks(files_, stop_);
  const std::unique_ptr<Format> format = make_format("text", files_.size());
  std::atomic<std::uint64_t> rejected{0};
  std::atomic<std::uint64_t> blank{0};
  std::atomic<std::uint64_t> lines{0};
  for_each_block_in_rounds(
      blocks, *format, threads_, *strangers_,
      [&](const Block& block, KnownStrangers::Lane& lane) {
        lines += for_each_entry(
            block, *format, profile_, [&](EntryKind, const PlainKey& key, std::uint64_t) { lane.add(key.text()); },
            [&](const Entry& entry, std::uint64_t) {
              if (goes_into_bits(entry.kind())) lane.add(entry.key());
            },
            [&](const ListLine& line, std::uint64_t, std::string_view) {
              ++(line.entry.kind() == EntryKind::rejected ? rejected : blank);
            });
      },
      [] {
        throw BloomgateError(ErrorCode::out_of_memory, "the addresses of " + choice_names().strangers +
                                                           " do not fit into half of the working memory; raise " +
                                                           choice_names().memory + ", or name fewer of them");
      });
  review_.rejected = rejected;
  review_.lines = lines - blank;
  strangers_->settle();
}

std::uint64_t StrangerCheck::show_entries() const {
  KnownStrangers& strangers = *strangers_;
  const std::uint64_t entries = strangers.counts().entries;
  // Usually the lists of excluded senders have no entry, so they need not be read again.
  if (entries == 0 && !strangers.has_domains()) return 0;
  Blocks blocks(files_, stop_, false, BlockOrder::in_turn);
  const std::unique_ptr<Format> format = make_format("text", files_.size());
  std::size_t input = 0;
  std::uint64_t lines = 0;  // of the input, in the blocks before
  std::uint64_t found = 0;  // lines
  std::uint64_t domain_entries = 0;
  std::set<std::string> named;
  for_each_block_in_turn(
      blocks, *format, threads_, [&](const Block& block) { return review_block(block, *format, profile_, strangers); },
      [&](const BlockReview& block) {
        if (block.input != input) lines = 0;
        input = block.input;
        std::uint64_t shown = found;
        for (const ListedLine& listed : block.first) {
          if (++shown > kShown) break;
          show_(blocks.name(input) + ':' + std::to_string(lines + listed.line) + warning_of(listed));
          named.insert(listed.key);
        }
        lines += block.lines;
        if (found <= kShown && found + block.listed > kShown) {
          show_("further senders of " + choice_names().strangers + " that are entries are only counted; " +
                choice_names().stranger_query + " names them");
        }
        found += block.listed;
        domain_entries += block.domain_entries;
        return strangers.has_domains() || (found <= kShown && named.size() < entries);
      });
  const KnownStrangerCounts counts = strangers.counts();
  return counts.entries + counts.by_domain + domain_entries;
}

void StrangerCheck::look_at_entries() {
  review_.listed = show_entries();
  if (!is_strict_ || review_.listed + review_.rejected == 0) return;
  throw BloomgateError(ErrorCode::bad_input, "of what the lists of " + choice_names().strangers + " name, " +
                                                 format_count(review_.listed) + " are entries and " +
                                                 format_count(review_.rejected) + " are no addresses, and " +
                                                 choice_names().strict + " was given; nothing was changed");
}

}  // namespace bloomgate
