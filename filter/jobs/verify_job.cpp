#include "filter/jobs/verify_job.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>

#include "filter/base/error.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/engine/bulk_lookup.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/look_up_entries.hpp"
#include "filter/ingest/turns.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/jobs/loss_limits.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/keep/manifest.hpp"
#include "filter/keep/manifest_rules.hpp"
#include "filter/layout/rate_of_bits.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kProbes = 1'000'000;
constexpr std::uint64_t kShownEntries = 10;  // missing entries

struct MissingEntry {
  std::uint64_t line;  // in its block, from 1
  std::string key;
};

// The result for the entries of a block.
struct BlockMembership {
  std::size_t input = 0;
  std::uint64_t lines = 0;
  EntryCounts counts = {};
  std::vector<MissingEntry> first_missing = {};
};

BlockMembership membership_of(const Block& block, const Format& format, const FilterView& view,
                              const Confirmation& confirmation) {
  BlockMembership result = {.input = block.input};
  // Looks up the entry's own key, so that an `@domain` entry cannot hide a missing address.
  result.lines = look_up_entries(
      block, format, view,
      [&](const LookedUp& entry) {
        if (entry.found && (!goes_into_bits(entry.kind) || confirmation.confirms(entry.key))) {
          ++result.counts.found;
        } else if (++result.counts.missing <= kShownEntries) {
          result.first_missing.push_back({entry.line, entry_text(entry.key)});
        }
      },
      [&](const ListLine& line, std::uint64_t, std::string_view) {
        if (line.entry.kind() == EntryKind::rejected) ++result.counts.rejected;
      });
  return result;
}

// Sums up the blocks of lists, which come in the order of their text, and shows the first missing entries.
class MembershipCount {
 public:
  MembershipCount(const Blocks& blocks, JobObserver& observer) : blocks_(blocks), observer_(observer) {}

  const EntryCounts& total() const noexcept { return total_; }

  void add(const BlockMembership& block) {
    if (block.input != input_) lines_ = 0;
    input_ = block.input;
    for (const MissingEntry& entry : block.first_missing) {
      if (++shown_ > kShownEntries) break;
      observer_.warn(blocks_.name(input_) + ':' + std::to_string(lines_ + entry.line) +
                     ": not in the filter: " + entry.key);
    }
    lines_ += block.lines;
    total_.found += block.counts.found;
    total_.missing += block.counts.missing;
    total_.rejected += block.counts.rejected;
  }

 private:
  const Blocks& blocks_;
  JobObserver& observer_;
  std::size_t input_ = 0;
  std::uint64_t lines_ = 0;  // of the input, in the blocks before
  std::uint64_t shown_ = 0;
  EntryCounts total_;
};

// Looks up all entries one by one, and shows the missing ones with their positions.
EntryCounts check_one_by_one(const MappedFilter& filter, const Confirmation& confirmation, OpenLists& lists,
                             unsigned threads, JobObserver& observer) {
  MembershipCount count(lists.blocks, observer);
  for_each_block_in_turn(
      lists.blocks, *lists.format, threads,
      [&](const Block& block) { return membership_of(block, *lists.format, filter.view(), confirmation); },
      [&](const BlockMembership& block) {
        count.add(block);
        return true;
      });
  return count.total();
}

struct FalsePositives {
  std::uint64_t found = 0;          // by the bits alone
  std::uint64_t confirmed = 0;      // how many of these the store confirms
  std::uint64_t other_domains = 0;  // how many of these the filter finds with its sender domains
};

// "0x0123456789abcdef-7@not-a-member.invalid". To make it would take longer than to look it up, unless it is one
// buffer.
void write_probe(std::uint64_t random, std::uint64_t number, std::string& key) {
  key = "0x0123456789abcdef-";
  for (unsigned digit = 0; digit < 16; ++digit) key[2 + digit] = "0123456789abcdef"[random >> (60 - 4 * digit) & 15U];
  std::array<char, 20> decimal;
  key.append(decimal.data(), std::to_chars(decimal.data(), decimal.data() + decimal.size(), number).ptr);
  key += "@not-a-member.invalid";
}

// How many of kProbes random addresses are wrongly found. They are in `.invalid` (RFC 2606), where no real address
// exists, and begin with random text, so that no operator's list has them. They are always the same, so that a result
// can be repeated.
FalsePositives count_false_positives(const FilterView& filter, const Confirmation& confirmation) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): see above
  const FilterView bits = filter.without_sender_domains();
  FalsePositives count;
  std::string key;
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    write_probe(random(), i, key);
    if (!bits.may_contain(key)) continue;
    ++count.found;
    if (confirmation.confirms(key)) ++count.confirmed;
    if (filter.may_contain(key)) ++count.other_domains;
  }
  return count;
}

MeasuredRate measure_rate(const FilterView& filter, const Confirmation& confirmation) {
  const RateOfBits expected = rate_of_bits(filter);
  const FalsePositives count = count_false_positives(filter, confirmation);
  MeasuredRate measured = {.probes = kProbes, .found = count.found, .expected = expected.rate};
  // Three more than the binomial variance, since a count that is nearly always 0 is not normally distributed.
  const double deviation = std::sqrt((expected.rate * (1 - expected.rate) + 3.0 / kProbes) / kProbes);
  measured.deviations = std::max(0.0, std::abs(measured.rate() - expected.rate) - expected.uncertainty) / deviation;
  if (confirmation.store() != nullptr) measured.confirmed = count.confirmed;
  if (filter.sender_domains().is_there()) measured.other_domains = count.other_domains;
  return measured;
}

void check_bits_set(const MappedFilter& filter) {
  const std::uint64_t ones = filter.view().count_ones();
  if (ones != filter.header().bits_set) {
    throw BloomgateError(ErrorCode::bad_header_field,
                         filter.path() + " has " + std::to_string(ones) + " bits set, but its header says " +
                             std::to_string(filter.header().bits_set) + "; build the file again");
  }
}

// The requirement of a daemon with these keys: the manifest of the folder names exactly its layers.
void require_named_layers(const std::string& folder, const std::vector<Layer>& layers, const TrustedKeys& keys) {
  const std::string path = manifest_path(folder);
  const auto refuse = [](const std::string& which, const std::string& why) {
    throw BloomgateError(ErrorCode::bad_input,
                         which + " " + why +
                             "; fetch the whole folder again (bloomgate pull), or where it is made, write another "
                             "manifest (bloomgate sign --key KEYFILE FOLDER)",
                         {.path = which});
  };
  const std::optional<SignedManifest> found = read_manifest(folder);
  if (!found) refuse(path, "is not there, and a daemon with trusted keys uses only what it names");
  require_trusted(*found, keys, path);
  const std::vector<PublishedFile>& files = found->manifest.files;
  for (const PublishedFile& file : files) {
    const std::string named = (std::filesystem::path(folder) / file.name).string();
    if (!std::filesystem::exists(named)) refuse(named, "is not there, and " + path + " names it");
    require_published(file, named);
  }
  for (const Layer& layer : layers) {
    const std::string name = std::filesystem::path(layer.path).filename().string();
    if (std::ranges::find(files, name, &PublishedFile::name) != files.end()) continue;
    refuse(layer.path, "is a layer that " + path + " does not name, so a daemon with trusted keys does not use it");
  }
}

}  // namespace

// Observes `read`, which calls back with the bytes that it has read.
void VerifyJob::check(std::uint64_t total_bytes,
                      const std::function<void(const std::function<void(std::uint64_t)>&)>& read) {
  std::atomic<std::uint64_t> done_bytes{0};
  const ObservedWork work(observer_, [&]() -> WorkState {
    return {.doing = "checking", .done_bytes = done_bytes, .total_bytes = total_bytes};
  });
  read([&](std::uint64_t bytes) {
    check_stop(stop_);
    done_bytes = bytes;
  });
}

void VerifyJob::check_filter(const MappedFilter& filter) {
  check(filter.body_bytes(),
        [&](const auto& progress) { filter.verify_body(options_.threads, progress, options_.trusted); });
  check_bits_set(filter);
  SoundFilter sound = {.path = filter.path(), .body_bytes = filter.body_bytes(), .sections = {}, .signer = {}};
  for (const Section& section : filter.sections()) sound.sections.push_back(section.kind);
  if (filter.signature()) sound.signer = filter.signature()->signer;
  result_.filters.push_back(std::move(sound));
}

void VerifyJob::check_store(const StoreFile& store) {
  check(store.file_bytes(), [&](const auto& progress) { store.verify(options_.threads, progress); });
  result_.store = SoundStore{store.path(), store.header().addresses, store.header().domains};
}

EntryCounts VerifyJob::check_members(const MappedFilter& filter, const Confirmation& confirmation) {
  const std::vector<std::string> files = list_files(options_.lists);
  auto lists = std::make_unique<OpenLists>(files, options_.format, stop_, BlockOrder::in_turn);
  // Usually nothing is missing, and counting is the faster way to see that. Naming the missing entries takes a second
  // reading.
  const bool can_be_read_again = lists->blocks.total_bytes() != 0 && std::ranges::find(files, "-") == files.end();
  if (BulkLookup::suits(filter.view()) && can_be_read_again && confirmation.store() == nullptr) {
    {
      const ObservedWork work(observer_, [&] { return lists->state(); });
      const EntryCounts count = count_entries(*lists, filter.view(), options_.threads, PairFoundBy::itself);
      advice_ = lists->format->advice();
      if (count.missing == 0) return count;
    }
    lists = std::make_unique<OpenLists>(files, options_.format, stop_, BlockOrder::in_turn);
  }
  const ObservedWork work(observer_, [&] { return lists->state(); });
  const EntryCounts count = check_one_by_one(filter, confirmation, *lists, options_.threads, observer_);
  advice_ = lists->format->advice();
  return count;
}

// What was not read was not compared.
void VerifyJob::require_compared(const MappedFilter& filter) const {
  const EntryCounts& members = *result_.members;
  const std::uint64_t entries = members.found + members.missing;
  if (members.missing != 0) return;
  const LinesRead read = {.lines = entries + members.rejected, .rejected = members.rejected, .advice = advice_};
  std::string why = options_.allows_rejects ? std::string() : too_many_rejects(read);
  if (why.empty() && entries == 0 && !options_.allows_empty && entries_of(filter.header()) != 0)
    why = "the lists have no entry";
  if (why.empty()) return;
  throw BloomgateError(ErrorCode::bad_input, why + "; the filter was not compared with them");
}

const VerifyResult& VerifyJob::run() {
  if (is_folder(options_.path)) {
    const std::vector<Layer> layers = usable_layers_in(options_.path);
    for (const Layer& layer : layers) check_filter(MappedFilter(layer.path));
    if (!options_.trusted.empty()) require_named_layers(options_.path, layers, options_.trusted);
    return result_;
  }
  if (is_store(options_.path)) {
    check_store(StoreFile(options_.path));
    return result_;
  }
  const MappedFilter filter(options_.path);
  const Confirmation confirmation(options_.store_path, filter);
  check_filter(filter);
  if (const StoreFile* const store = confirmation.store(); store != nullptr) {
    check_store(*store);
    if (filter.header().sender_domains) {
      require_sender_domains_of(*store, filter);
      result_.sender_domains = filter.header().sender_domains;
    }
  }
  if (options_.lists.empty()) return result_;
  result_.members = check_members(filter, confirmation);
  require_compared(filter);
  result_.rate = measure_rate(filter.view(), confirmation);
  filter.require_whole();
  return result_;
}

}  // namespace bloomgate
