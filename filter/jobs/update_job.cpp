#include "filter/jobs/update_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/engine/store_update.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/inputs/store_inputs.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/layout/layout.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

// The lists of changes for an update.
struct Changes {
  Changes(std::vector<std::string> files, const std::string& format, const StoreFile& old,
          const std::atomic<bool>& stop)
      : stores(files), lists(files, format, stop) {
    if (!stores.empty()) require_one_shape(old, *stores.stores().front());
  }

  WorkState state() const { return state_of(lists, stores); }

  void read_into(GatheredEntries& entries, const BuildOptions& options, const BroadDomains& broad_domains,
                 RejectLog& rejects, const std::atomic<bool>& stop) {
    stores.add_to(entries, options.threads, {}, stop);
    add_entries(lists.blocks, *lists.format, entries, options, {}, broad_domains, rejects);
  }

  StoreInputs stores;
  OpenLists lists;
};

}  // namespace

UpdatePlan::UpdatePlan(UpdateRequest request) : UpdateRequest(std::move(request)) {
  add = list_files(add);
  remove = list_files(remove);
  complete(add, remove);
  options.store_path = store_path();
  options.seed = seed ? *seed : random_seed();
  options.memory_bytes = memory_bytes.value_or(std::uint64_t{256} << 20);
}

double bits_per_entry_of(const FilterHeader& header) noexcept {
  constexpr double kUsual = 8;
  constexpr double kLeast = 1;
  constexpr double kMost = 64;
  const double entries = static_cast<double>(std::max<std::uint64_t>(1, header.expected_entries));
  const double of_block = 8.0 * header.shape.block_bytes / entries;
  // With bits per entry above `above`, and up to `most`, a filter has this number of blocks.
  const double above = static_cast<double>(header.shape.block_count - 1) * of_block;
  const double most = static_cast<double>(header.shape.block_count) * of_block;
  if (above < kUsual && kUsual <= most) return kUsual;
  for (double step = 1; step > 1e-6; step /= 10) {
    const double round = std::floor(most / step) * step;
    if (round > above) return std::clamp(round, kLeast, kMost);
  }
  return std::clamp(most, kLeast, kMost);
}

// The requested shape, or that of the old filter if none is requested.
void UpdatePlan::choose_shape() {
  options.bits_per_entry = bits_per_entry.value_or(options.bits_per_entry);
  options.hashes = hashes.value_or(options.hashes);
  if (layout) {
    options.layout = *layout;
    options.block_bytes = block_bytes;
  }
  std::error_code error;
  if (std::filesystem::exists(output, error)) {
    const FilterHeader old = MappedFilter(output).header();
    if (!bits_per_entry) options.bits_per_entry = bits_per_entry_of(old);
    if (!layout) {
      options.layout = old.shape.layout;
      options.block_bytes = old.shape.block_bytes;
    }
    if (!hashes && options.layout == old.shape.layout) options.hashes = old.shape.hashes;
  }
  if (!hashes) options.hashes = std::min(options.hashes, layout_rules(options.layout).most_hashes());
}

std::string UpdatePlan::choose_sender_domains(const StoreFile& old) {
  const bool is_lacking = options.sender_domains && !old.header().knows_sender_domains();
  if (!is_lacking) return {};
  options.sender_domains = false;
  return "warning: " + store +
         " does not have the domains of its senders, so neither has the new pair, and unlisted senders at any domain "
         "may be "
         "found; build the store from its lists again, or give " +
         choice_names().no_sender_domains;
}

// A typing mistake must not cost the operator a list.
void refuse_to_overwrite_inputs(const UpdatePlan& plan) {
  const ChoiceNames& names = choice_names();
  const auto refuse_same = [](const std::string& a, const std::string& b, const std::string& advice = {}) {
    throw UsageError(a + " and " + b + " are the same file" + advice);
  };
  if (are_same_place(plan.output, plan.store)) refuse_same(names.store, names.output);
  if (!plan.is_in_place() && are_same_place(plan.new_store, plan.store)) {
    refuse_same(names.new_store, names.store, "; leave " + names.new_store + " out");
  }
  if (!plan.is_in_place() && are_same_place(plan.new_store, plan.output)) refuse_same(names.new_store, names.output);
  for (const std::vector<std::string>* lists : {&plan.add, &plan.remove, &plan.strangers}) {
    for (const std::string& list : *lists) {
      if (are_same_place(list, plan.output)) throw UsageError(names.output + " would overwrite the list " + list);
      if (are_same_place(list, plan.store_path())) throw UsageError("the store would overwrite the list " + list);
    }
  }
}

// The old pair stays if the new one has a place of its own. Without changes, both stores have one identity.
void require_other_filter(const UpdatePlan& plan, const StoreFile& old) {
  if (access(plan.output.c_str(), F_OK) != 0) return;
  if (MappedFilter(plan.output).header().store_identity != old.identity()) return;
  if (access(plan.new_store.c_str(), F_OK) == 0 && StoreFile(plan.new_store).identity() == old.identity()) return;
  const ChoiceNames& names = choice_names();
  throw UsageError(plan.output + " is the filter of " + plan.store +
                   ", which would be left without one; name another " + names.output + ", or leave " + names.new_store +
                   " out");
}

std::unique_ptr<StoreFile> open_old_store(const UpdatePlan& plan) {
  if (!plan.is_in_place()) {
    auto old = std::make_unique<StoreFile>(plan.store);
    require_other_filter(plan, *old);
    return old;
  }
  if (access(plan.output.c_str(), F_OK) != 0) {
    throw UsageError(plan.output + " is not there; name the filter of " + plan.store + " in " + choice_names().output +
                     ", or with " + choice_names().new_store + " where to put a new pair");
  }
  const FilterHeader old = MappedFilter(plan.output).header();
  if (old.strangers.known != 0 && plan.strangers.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         plan.output +
                             " keeps excluded senders out, and has no list of them: with another seed they might pass. "
                             "Name their lists with " +
                             choice_names().strangers,
                         {.path = plan.output});
  }
  return open_store(plan.store, old.store_identity, plan.output);
}

void require_lines(const UpdatePlan& plan, const LinesRead& added, std::uint64_t rejected_of_remove) {
  if (rejected_of_remove != 0) throw refusal_of_removals(rejected_of_remove, " of " + choice_names().removals);
  if (auto refusal = refusal_of_lines(plan, added, "nothing was changed")) throw BloomgateError(std::move(*refusal));
}

void require_entries_left(const UpdatePlan& plan, const StoreHeader& old, const UpdateCounts& counts,
                          JobObserver& observer) {
  const std::uint64_t entries = old.addresses + old.domains + counts.added - counts.removed;
  plan.limits.require(entries, plan.output, observer.warns());
}

UpdateResult update_store(UpdateRequest request, JobObserver& observer, const std::atomic<bool>& stop) {
  UpdatePlan plan(std::move(request));
  refuse_to_overwrite_inputs(plan);
  plan.choose_shape();
  const auto start = std::chrono::steady_clock::now();
  require_output(plan, plan.options);
  const ChangeLock lock(plan.store);
  const std::unique_ptr<StoreFile> old = open_old_store(plan);
  const std::string lack = plan.choose_sender_domains(*old);
  Changes add(plan.add, plan.format, *old, stop);
  Changes remove(plan.remove, plan.format, *old, stop);
  BuildOptions options = StoreUpdate::options_for(*old, plan.options);
  std::atomic<const Changes*> read_now{&add};  // null: the job is writing
  WriteProgress written;
  const ObservedWork work(observer, [&]() -> WorkState {
    const Changes* const changes = read_now;
    return changes == nullptr ? state_of(written) : changes->state();
  });
  const auto show = observer.warns();
  if (!lack.empty()) show(lack);
  RejectLog rejected_of_add("", names_of(add.lists.blocks), show);
  RejectLog rejected_of_remove("", names_of(remove.lists.blocks), show);
  options.kept_generations = generations_to_keep(plan, options, show);
  StrangerCheck strangers(plan.strangers, options, plan.is_strict, show, stop);
  require_strangers(plan, strangers.review());
  StoreUpdate update(*old, options);
  strangers.attach_to(update);
  add.read_into(update.added(), options, usual_broad_domains(plan.broad_files, show), rejected_of_add, stop);
  read_now = &remove;
  remove.read_into(update.removed(), options, {}, rejected_of_remove, stop);
  rejected_of_add.show_kinds();
  rejected_of_remove.show_kinds();
  require_lines(plan, LinesRead::of(rejected_of_add, *add.lists.format), rejected_of_remove.count());
  read_now = nullptr;
  const UpdateCounts counts = update.count(stop);
  require_entries_left(plan, old->header(), counts, observer);
  const FilterHeader header = update.write(plan.output, stop, written);
  return {result_of(plan, header, rejected_of_add.count(), strangers.review(), update.spilled_bytes(), start), counts};
}

}  // namespace bloomgate
