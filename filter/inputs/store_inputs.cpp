#include "filter/inputs/store_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/gather/gathered_entries.hpp"
#include "filter/gather/sender_domains_section.hpp"

namespace bloomgate {
namespace {

// A builder can take the hashes of so many pages at once, however densely they are coded.
constexpr std::uint64_t kPagesAtOnce = 8;
static_assert(kPagesAtOnce * kMostHashesOfStorePage <= kEntriesAtOnce);

// The hashes of entries that are left out.
class ExceptHashes {
 public:
  ExceptHashes(const ExceptList& exceptions, const StoreFile& store) {
    if (exceptions.has_domains()) {
      throw BloomgateError(
          ErrorCode::bad_argument,
          store.path() + " is a store, which has no addresses: the senders in a domain of " +
              choice_names().exceptions +
              " cannot be left out; name addresses there, or leave the domain out when the store is made",
          {.path = store.path()});
    }
    const KindsHeld& kinds = store.header().kinds;
    if (exceptions.has_senders() && (kinds.any_pairs() || kinds.signers)) {
      const std::string held = !kinds.signers ? "pairs" : kinds.any_pairs() ? "pairs and signers" : "signers";
      throw BloomgateError(
          ErrorCode::bad_argument,
          store.path() + " is a store with " + held + ", and has no addresses: the pairs of a sender of " +
              choice_names().exceptions +
              ", and its entries with signed-by, cannot be left out; leave the sender out when the store is made",
          {.path = store.path()});
    }
    for (const std::string& key : exceptions.keys()) hashes_.insert(store.hash_of(key));
  }

  // Returns how many hashes it has removed.
  std::uint64_t take_out_of(std::vector<KeyHash>& hashes) const {
    if (hashes_.empty()) return 0;
    return std::erase_if(hashes, [this](KeyHash hash) { return hashes_.contains(hash); });
  }

 private:
  std::unordered_set<KeyHash> hashes_;
};

// For stores, what for_each_block_in_rounds() does for lists.
template <typename Builder>
std::uint64_t add_addresses(const StoreFile& store, Builder& builder, unsigned threads, const ExceptHashes& exceptions,
                            const std::atomic<bool>& stop, std::atomic<std::uint64_t>& done_bytes) {
  const std::uint64_t pieces = (store.header().pages + kPagesAtOnce - 1) / kPagesAtOnce;
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> found{0};
  std::atomic<std::uint64_t> excepted{0};
  while (next < pieces) {
    run_parallel(threads, [&](unsigned index) {
      auto& lane = builder.lane(index);
      std::vector<KeyHash> hashes;
      while (builder.has_room_for(kEntriesAtOnce)) {
        const std::uint64_t piece = next.fetch_add(1);
        if (piece >= pieces) break;
        check_stop(stop);
        hashes.clear();
        const std::uint64_t end = std::min(store.header().pages, (piece + 1) * kPagesAtOnce);
        store.read_pages(piece * kPagesAtOnce, end, hashes);
        found += hashes.size();
        excepted += exceptions.take_out_of(hashes);
        lane.add_stored(hashes);
        done_bytes += (end - piece * kPagesAtOnce) * kStorePageBytes;
      }
      lane.settle();
    });
    if (next < pieces) builder.flush();
  }
  store.require_addresses(found);
  return excepted;
}

template <typename Builder>
std::uint64_t add_domains(const StoreFile& store, Builder& builder, const ExceptHashes& exceptions) {
  std::uint64_t excepted = 0;
  auto& lane = builder.lane(0);
  store.for_each_domain([&](std::span<const KeyHash> run) {
    std::vector<KeyHash> hashes(run.begin(), run.end());
    excepted += exceptions.take_out_of(hashes);
    if (!builder.has_room_for(kEntriesAtOnce)) builder.flush();
    lane.add_stored_domains(hashes);
    lane.settle();
  });
  return excepted;
}

// Checks that the parts of each run are complete.
class WholeRuns {
 public:
  void add(const StoreFile& store) {
    const StorePart& part = store.header().part;
    if (!part.is_one()) return;
    Parts& parts = runs_[{part.run, part.parts}];
    const auto [at, is_new] = parts.emplace(part.index, store.path());
    if (is_new) return;
    throw BloomgateError(ErrorCode::bad_argument,
                         at->second + " and " + store.path() + " are both part " + std::to_string(part.index) + " of " +
                             std::to_string(part.parts) + "; name one of them",
                         {.path = store.path()});
  }

  void require_whole() const {
    if (runs_.size() > 1) throw of_several_runs();
    for (const auto& [run, parts] : runs_) {
      if (parts.size() < run.second) throw missing(parts, run.second);
    }
  }

 private:
  using Run = std::pair<std::uint64_t, std::uint32_t>;  // the run, and its number of parts
  using Parts = std::map<std::uint32_t, std::string>;   // index, path

  BloomgateError of_several_runs() const {
    const std::string& a = runs_.begin()->second.begin()->second;
    const std::string& b = runs_.rbegin()->second.begin()->second;
    return {
        ErrorCode::bad_argument,
        a + " and " + b +
            " are parts of different lists or of different runs: all jobs must see the same lists, and be given the "
            "same " +
            choice_names().run + " and options; make all parts anew, or leave out those of the other run",
        {.path = b}};
  }

  static BloomgateError missing(const Parts& parts, std::uint32_t count) {
    constexpr std::size_t kMostNamed = 10;
    std::string names;
    std::size_t named = 0;
    for (std::uint32_t index = 0; index < count && named < kMostNamed; ++index) {
      if (parts.contains(index)) continue;
      names += (named == 0 ? "" : ", ") + std::to_string(index);
      ++named;
    }
    const std::size_t missing = count - parts.size();
    const std::string& path = parts.begin()->second;
    return {ErrorCode::bad_argument,
            path + " is one of " + std::to_string(count) + " parts, and " +
                (missing == 1 ? "part " + names + " is"
                              : "parts " + names + (missing > named ? " and others are" : " are")) +
                " missing; name all of them once each has been made",
            {.path = path}};
  }

  std::map<Run, Parts> runs_;
};

// As a list it would have no entry, or few: with other lists, nothing would say that those of the store are missing.
void refuse_damaged_store(const std::string& file) {
  std::error_code none;
  if (!file.ends_with(".store") || !std::filesystem::is_regular_file(file, none)) return;
  throw BloomgateError(ErrorCode::bad_input,
                       file +
                           " is named as a store, but does not begin as one: it is damaged or empty; restore it, or "
                           "make it again (a list needs another name)",
                       {.path = file});
}

template <typename Builder>
void add_sender_domains(const StoreFile& store, Builder& builder) {
  if (!builder.gathers_sender_domains()) return;
  require_sender_domains(store);
  auto& lane = builder.lane(0);
  store.for_each_sender_domain([&](std::span<const KeyHash> hashes) {
    if (!builder.has_room_for(kEntriesAtOnce)) builder.flush();
    lane.add_stored_sender_domains(hashes);
    lane.settle();
  });
}

}  // namespace

void require_one_shape(const StoreFile& a, const StoreFile& b) {
  if (a.header().shape == b.header().shape) return;
  const ChoiceNames& names = choice_names();
  throw BloomgateError(ErrorCode::bad_argument,
                       a.path() + " and " + b.path() +
                           " keep different hashes of the same address, so that no filter can be made from both; make "
                           "both stores with the same " +
                           names.store_seed + ", " + names.hash + ", " + names.keep_case + " and " +
                           names.tag_separators,
                       {.path = b.path()});
}

StoreInputs::StoreInputs(std::vector<std::string>& files) {
  WholeRuns runs;
  std::erase_if(files, [this, &runs](const std::string& file) {
    if (!is_store(file)) {
      refuse_damaged_store(file);
      return false;
    }
    stores_.push_back(std::make_unique<StoreFile>(file));
    require_one_shape(*stores_.front(), *stores_.back());
    total_bytes_ += stores_.back()->file_bytes();
    runs.add(*stores_.back());
    return true;
  });
  runs.require_whole();
}

bool StoreInputs::know_sender_domains() const noexcept {
  return std::ranges::all_of(stores_, [](const auto& store) { return store->header().knows_sender_domains(); });
}

std::uint64_t StoreInputs::addresses() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& store : stores_) sum += store->header().addresses + store->header().part.repeated;
  return sum;
}

template <typename Builder>
std::uint64_t StoreInputs::add_to(Builder& builder, unsigned threads, const ExceptList& exceptions,
                                  const std::atomic<bool>& stop) {
  done_bytes_ = 0;
  std::uint64_t excepted = 0;
  for (const auto& store : stores_) {
    const ExceptHashes hashes(exceptions, *store);
    excepted += add_addresses(*store, builder, threads, hashes, stop, done_bytes_);
    excepted += add_domains(*store, builder, hashes);
    add_sender_domains(*store, builder);
    builder.lane(0).note_stored_kinds(store->header().kinds);
    builder.lane(0).note_repeated(store->header().part.repeated);
    store->require_unchanged();
  }
  return excepted;
}

template std::uint64_t StoreInputs::add_to(FilterBuilder&, unsigned, const ExceptList&, const std::atomic<bool>&);
template std::uint64_t StoreInputs::add_to(GatheredEntries&, unsigned, const ExceptList&, const std::atomic<bool>&);

}  // namespace bloomgate
