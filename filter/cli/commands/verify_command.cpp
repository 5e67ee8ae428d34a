// `bloomgate verify`: checks a filter file, and that it holds the lists it was built from.
#include <sysexits.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <random>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/engine/bulk_lookup.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/gather/sender_domains_section.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/look_up_entries.hpp"
#include "filter/ingest/turns.hpp"
#include "filter/jobs/confirmation.hpp"
#include "filter/jobs/count_entries.hpp"
#include "filter/jobs/open_lists.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/layout/rate_of_bits.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr std::uint64_t kProbes = 1'000'000;
// A sound filter strays this far from theory once in 500 million runs.
constexpr double kMaxDeviations = 6;

struct MissingEntry {
  std::uint64_t line;  // in its block, from 1
  std::string key;
};

// The result for the entries of a block.
struct BlockMembership {
  std::size_t input = 0;
  std::uint64_t lines = 0;
  std::uint64_t found = 0;
  std::uint64_t missing = 0;
  std::uint64_t rejected = 0;
  std::vector<MissingEntry> first_missing = {};
};

constexpr std::uint64_t kShownEntries = 10;  // missing entries

BlockMembership membership_of(const Block& block, const Format& format, const FilterView& view,
                              const Confirmation& confirmation) {
  BlockMembership result = {.input = block.input};
  // Looks up the entry's own key, so that an `@domain` entry cannot hide a missing address.
  result.lines = look_up_entries(
      block, format, view,
      [&](const LookedUp& entry) {
        if (entry.found && (!goes_into_bits(entry.kind) || confirmation.confirms(entry.key))) {
          ++result.found;
        } else if (++result.missing <= kShownEntries) {
          result.first_missing.push_back({entry.line, entry_text(entry.key)});
        }
      },
      [&](const ListLine& line, std::uint64_t, std::string_view) {
        if (line.entry.kind() == EntryKind::rejected) ++result.rejected;
      });
  return result;
}

// Adds up the blocks of lists, which come in the order of their text, and shows the first missing entries.
class MembershipCount {
 public:
  MembershipCount(const Blocks& blocks, Progress& progress) : blocks_(blocks), progress_(progress) {}

  const EntryCounts& total() const noexcept { return total_; }

  void add(const BlockMembership& block) {
    if (block.input != input_) lines_ = 0;
    input_ = block.input;
    for (const MissingEntry& entry : block.first_missing) {
      if (++shown_ > kShownEntries) break;
      progress_.show(blocks_.name(input_) + ':' + std::to_string(lines_ + entry.line) +
                     ": not in the filter: " + entry.key);
    }
    lines_ += block.lines;
    total_.found += block.found;
    total_.missing += block.missing;
    total_.rejected += block.rejected;
  }

 private:
  const Blocks& blocks_;
  Progress& progress_;
  std::size_t input_ = 0;
  std::uint64_t lines_ = 0;  // of the input, in the blocks before
  std::uint64_t shown_ = 0;
  EntryCounts total_;
};

// Looks up all entries one by one, and shows the missing ones with their places.
EntryCounts check_one_by_one(const MappedFilter& filter, const Confirmation& confirmation, OpenLists& lists,
                             unsigned threads, Progress& progress) {
  MembershipCount count(lists.blocks, progress);
  for_each_block_in_turn(
      lists.blocks, *lists.format, threads,
      [&](const Block& block) { return membership_of(block, *lists.format, filter.view(), confirmation); },
      [&](const BlockMembership& block) {
        count.add(block);
        return true;
      });
  return count.total();
}

EntryCounts check_members(const MappedFilter& filter, const Confirmation& confirmation,
                          const std::vector<std::string>& inputs, const ListOptions& options) {
  const std::vector<std::string> files = list_files(inputs);
  auto lists = std::make_unique<OpenLists>(files, options.format, stop_flag(), BlockOrder::in_turn);
  const Progress::Style style = options.quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  const auto make_progress = [&] {
    return std::make_unique<Progress>(style, [&] { return lists->state(); }, Progress::interval_of(style));
  };
  auto progress = make_progress();
  // Usually nothing is missing, and counting is the faster way to see that. Naming the missing entries takes a second
  // reading.
  const bool can_be_read_again = lists->blocks.total_bytes() != 0 && std::ranges::find(files, "-") == files.end();
  if (BulkLookup::suits(filter.view()) && can_be_read_again && confirmation.store() == nullptr) {
    const EntryCounts count = count_entries(*lists, filter.view(), options.chosen_threads(), PairFoundBy::itself);
    if (count.missing == 0) return count;
    progress.reset();
    lists = std::make_unique<OpenLists>(files, options.format, stop_flag(), BlockOrder::in_turn);
    progress = make_progress();
  }
  return check_one_by_one(filter, confirmation, *lists, options.chosen_threads(), *progress);
}

struct FalsePositives {
  std::uint64_t found = 0;
  std::uint64_t confirmed = 0;  // of these
};

// How many of kProbes random addresses are wrongly found. The names are in `.invalid` (RFC 2606), where nobody has an
// address, and begin with random text, so that no operator's list holds them. They are always the same, so that a
// result can be repeated.
FalsePositives count_false_positives(const FilterView& filter, const Confirmation& confirmation) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): see above
  FalsePositives count;
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    const std::string key = format_seed(random()) + "-" + std::to_string(i) + "@not-a-member.invalid";
    if (!filter.may_contain(key)) continue;
    ++count.found;
    if (confirmation.confirms(key)) ++count.confirmed;
  }
  return count;
}

using CallWithBytes = std::function<void(std::uint64_t)>;

// Shows the progress of `check`, which calls back with the bytes that it has read.
void show_check(std::uint64_t total_bytes, const ListOptions& options,
                const std::function<void(const CallWithBytes&)>& check) {
  std::atomic<std::uint64_t> done_bytes{0};
  const Progress::Style style = options.quiet ? Progress::Style::none : Progress::style_for(STDERR_FILENO);
  const auto look = [&]() -> WorkState {
    return {.doing = "checking", .done_bytes = done_bytes, .total_bytes = total_bytes};
  };
  const Progress progress(style, look, Progress::interval_of(style));
  check([&](std::uint64_t bytes) { done_bytes = bytes; });
}

void verify_store(const StoreFile& store, const ListOptions& options) {
  show_check(store.file_bytes(), options,
             [&](const CallWithBytes& progress) { store.verify(options.chosen_threads(), progress); });
  std::cout << "sound      " << store.path() << ": a store of " << format_count(store.header().addresses)
            << " addresses and " << format_count(store.header().domains)
            << " domain entries; its pages match their checksums and are in order\n";
}

// The filter's section against the hashes that the store has of the same domains.
void compare_sender_domains(const MappedFilter& filter, const StoreFile& store) {
  if (!filter.header().sender_domains) return;
  require_sender_domains_of(store, filter);
  std::cout << "senders    their " << format_count(*filter.header().sender_domains)
            << (*filter.header().sender_domains == 1 ? " domain is that" : " domains are those") << " of the store\n";
}

void verify_filter(const MappedFilter& filter, const TrustedKeys& trusted, const ListOptions& options) {
  show_check(filter.body_bytes(), options,
             [&](const CallWithBytes& progress) { filter.verify_body(options.chosen_threads(), progress, trusted); });
}

void check_bits_set(const MappedFilter& filter) {
  const std::uint64_t ones = filter.view().count_ones();
  if (ones != filter.header().bits_set) {
    throw BloomgateError(ErrorCode::bad_header_field,
                         filter.path() + " has " + std::to_string(ones) + " bits set, but its header says " +
                             std::to_string(filter.header().bits_set) + "; build the file again");
  }
}

// Whether the measured rate agrees with that of the bits that are set.
bool report_false_positives(const MappedFilter& filter, const Confirmation& confirmation) {
  const RateOfBits expected = rate_of_bits(filter.view());
  const FalsePositives count = count_false_positives(filter.view().without_sender_domains(), confirmation);
  const double measured = static_cast<double>(count.found) / kProbes;
  // Three more than the binomial variance: a count that is nearly always 0 is not normally distributed.
  const double deviation = std::sqrt((expected.rate * (1 - expected.rate) + 3.0 / kProbes) / kProbes);
  const double off = std::max(0.0, std::abs(measured - expected.rate) - expected.uncertainty);
  std::cout << "FPR        " << format_rate(measured) << " of " << format_count(kProbes)
            << " random addresses that are not listed; expected from the fill: " << format_rate(expected.rate) << " ("
            << format_decimal(off / deviation, 1) << " standard deviations away)\n";
  if (confirmation.store() != nullptr) {
    std::cout << "confirmed  " << format_count(count.confirmed) << " of these " << format_count(count.found) << '\n';
  }
  if (filter.view().sender_domains().is_there()) {
    const FalsePositives passed = count_false_positives(filter.view(), confirmation);
    std::cout << "strangers  " << format_count(passed.found) << " of these " << format_count(kProbes)
              << ", whose domain has no entry, are found\n";
  }
  return off <= kMaxDeviations * deviation;
}

int verify_against(const MappedFilter& filter, const Confirmation& confirmation, const std::vector<std::string>& inputs,
                   const ListOptions& options) {
  const EntryCounts members = check_members(filter, confirmation, inputs, options);
  std::cout << "found      " << format_count(members.found) << " entries of the lists\nmissing    "
            << format_count(members.missing) << "\nrejected   " << format_count(members.rejected)
            << " lines that are not entries\n";
  const bool fpr_agrees = report_false_positives(filter, confirmation);
  filter.require_whole();
  if (members.missing != 0) {
    std::cerr << "the filter does not hold these lists; build it again from them\n";
    return 1;
  }
  if (!fpr_agrees) {
    std::cerr << "the false-positive rate is not what the fill promises; build the file again and report a bug\n";
    return EX_DATAERR;
  }
  return EX_OK;
}

// "the sections bits, domains".
std::string sections_text(const MappedFilter& filter) {
  std::string text = filter.sections().size() == 1 ? "the section" : "the sections";
  for (const Section& section : filter.sections()) {
    text.append(&section == &filter.sections().front() ? " " : ", ").append(section_name(section.kind));
  }
  return text;
}

void verify_sound(const MappedFilter& filter, const TrustedKeys& trusted, const ListOptions& options) {
  verify_filter(filter, trusted, options);
  check_bits_set(filter);
  std::cout << "sound      " << filter.path() << ": header, tables and " << format_bytes(filter.body_bytes()) << " in "
            << sections_text(filter) << " match their checksums\n";
  if (!filter.signature()) return;
  std::cout << "signed     by " << filter.signature()->signer.text()
            << (trusted.empty() ? ", which was not checked: give the keys that you trust with --trusted-key\n" : "\n");
}

TrustedKeys trusted_keys(const std::vector<std::string>& texts) {
  TrustedKeys keys;
  for (const std::string& text : texts) {
    const std::optional<PublicKey> key = PublicKey::parse(text);
    if (!key) throw UsageError("--trusted-key: " + public_key_fault(text));
    keys.push_back(*key);
  }
  return keys;
}

}  // namespace

int run_verify(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::vector<std::string> inputs;
  ListOptions options;
  po::options_description visible("options");
  std::string store_path;
  std::vector<std::string> key_texts;
  visible.add_options()  //
      ("against", po::value(&inputs)->multitoken()->value_name("INPUT..."),
       "lists; every entry of them must be in the filter (- is standard input)")  //
      ("confirm", po::value(&store_path)->value_name("STORE"),
       "also check the store that was built with the filter, and look up in it what the filter finds")  //
      ("trusted-key", po::value(&key_texts)->composing()->value_name("KEY"),
       "the filter must be signed with the secret key that belongs to this public one; may be given several times");
  options.add_to(visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate verify FILE [--against INPUT...] [OPTION...]",
       .purpose =
           "Reads the whole file, a filter or a store, or each layer of a folder, and checks every checksum. "
           "With lists, also checks that\n"
           "each of their entries is found, and counts how many of 1,000,000 unlisted addresses are found too.\n"
           "The exit status is 0 for a sound file, 1 if an entry is missing, 65 for a damaged one, or for one that no\n"
           "trusted key has signed.",
       .examples = "  bloomgate verify /var/lib/bloomgate/whitelist.bloom\n"
                   "  bloomgate verify whitelist.bloom --against customers.txt partners.txt\n"});
  if (!values) return EX_OK;
  const std::string& path = only_filter(operands);
  options.chosen_threads();
  const TrustedKeys trusted = trusted_keys(key_texts);
  if (is_folder(path)) {
    if (!inputs.empty() || !store_path.empty()) {
      throw UsageError("--against and --confirm go with one filter; name a layer of " + path);
    }
    for (const Layer& layer : usable_layers_in(path)) {
      verify_sound(MappedFilter(layer.path), trusted, options);
    }
    return EX_OK;
  }
  if (is_store(path)) {
    if (!inputs.empty() || !store_path.empty()) throw UsageError("name the filter first, and its store with --confirm");
    if (!trusted.empty()) throw UsageError("a store has no signature: --trusted-key goes with a filter");
    verify_store(StoreFile(path), options);
    return EX_OK;
  }
  const MappedFilter filter(path);
  const Confirmation confirmation(store_path, filter);
  verify_sound(filter, trusted, options);
  if (confirmation.store() != nullptr) {
    verify_store(*confirmation.store(), options);
    compare_sender_domains(filter, *confirmation.store());
  }
  return inputs.empty() ? EX_OK : verify_against(filter, confirmation, inputs, options);
}

}  // namespace bloomgate::cli
