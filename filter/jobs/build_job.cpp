#include "filter/jobs/build_job.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/domains/domain_coding.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sizing.hpp"
#include "filter/system/available_memory.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

// A list with a day in the future stays in use for longer than `newest` says. Either the clock was wrong when the list
// was made, or it is wrong now.
void warn_of_days_to_come(const std::vector<std::string>& lists, const std::function<void(std::string_view)>& show) {
  const Day now = today();
  for (const std::string& list : lists) {
    if (day_of_list(list).value_or(now) <= now + std::chrono::days(1)) continue;
    show("warning: " + printable(list) + " has a future date: today is " + format_day(now) +
         " by this machine's clock; correct the clock, or rename the list");
  }
}

// The stores among the inputs decide how hashes are made. Throws UsageError if the request asks for anything else.
void follow_stores(BuildPlan& plan) {
  const StoreFile& store = *plan.stores->stores().front();
  const StoreShape& shape = store.header().shape;
  const auto require = [&](bool is_same, const std::string& asked) {
    if (!is_same)
      throw UsageError(asked + " differs from that of the store " + store.path() + "; leave the option out");
  };
  BuildOptions& options = plan.options;
  require(plan.store_seed.value_or(shape.seed) == shape.seed, choice_names().store_seed);
  require(!options.profile.keep_local_part_case || shape.profile.keep_local_part_case, choice_names().keep_case);
  require(plan.tag_separators.value_or(shape.profile.tag_separators) == shape.profile.tag_separators,
          choice_names().tag_separators);
  require(plan.hash_family.value_or(shape.hash_family) == shape.hash_family, choice_names().hash);
  options.store_seed = shape.seed;
  options.profile = shape.profile;
  options.hash_family = shape.hash_family;
}

void choose_seeds(BuildPlan& plan) {
  BuildOptions& options = plan.options;
  std::optional<FilterShape> other;
  if (plan.seed_from) other = MappedFilter(*plan.seed_from).header().shape;
  options.seed = other ? other->seed : plan.seed ? *plan.seed : random_seed();
  if (!plan.stores->empty()) return follow_stores(plan);
  if (options.store_path.empty()) {
    if (plan.store_seed) throw UsageError(choice_names().store_seed + " goes with " + choice_names().store);
  } else if (plan.store_seed) {
    options.store_seed = plan.store_seed;
  } else if (other) {
    options.store_seed = other->store_seed.value_or(other->seed);
  } else {
    options.store_seed = plan.seed ? *plan.seed : random_seed();
  }
}

// Divides the available memory: one part to work with, the rest for the bit array. If the array is larger, it is made
// in parts.
void share_memory(BuildPlan& plan) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMostByDefault = 1024 * kMiB;
  BuildOptions& options = plan.options;
  // For code, stacks and text, and the minimum that a thread needs for the domains of senders.
  const std::uint64_t of_thread = options.sender_domains ? 22 : 16;
  const std::uint64_t kept = (64 + of_thread * options.threads) * kMiB;
  const std::uint64_t available = available_memory();
  const std::uint64_t usable = available > kept ? available - kept : 0;
  // If all hashes must be kept, there is no other use for the remaining memory.
  const std::uint64_t by_default = keeps_all_hashes(options) ? usable / 4 * 3 : std::min(kMostByDefault, usable / 4);
  options.memory_bytes = plan.memory_bytes.value_or(by_default);
  options.body_memory_bytes = usable > options.memory_bytes ? usable - options.memory_bytes : 0;
}

// A slip in that name must not lift the limit.
void check_replaced(BuildPlan& plan, const std::function<void(std::string_view)>& show) {
  if (plan.replaces.empty()) return;
  const std::optional<FileStamp> there = FileStamp::of_path(plan.replaces);
  if (!there) {
    show("warning: " + printable(plan.replaces) + " is not there, so the new filter is compared with " +
         printable(plan.output));
    plan.replaces.clear();
    return;
  }
  if (there->size_bytes() == 0) return;
  try {
    const MappedFilter filter(plan.replaces);
  } catch (const BloomgateError& error) {
    // A filter that is damaged, or of another version, is one all the same: it has no entries to lose.
    constexpr std::array kOfOthers = {ErrorCode::cannot_open, ErrorCode::cannot_read, ErrorCode::not_a_regular_file,
                                      ErrorCode::too_short, ErrorCode::bad_magic};
    if (std::ranges::find(kOfOthers, error.code()) != kOfOthers.end()) throw;
  }
}

}  // namespace

BuildPlan::BuildPlan(BuildRequest request, const std::function<void(std::string_view)>& show)
    : BuildRequest(std::move(request)) {
  inputs = list_files(inputs);
  complete(inputs, exceptions);
  check_replaced(*this, show);
  if (newest) {
    inputs = newest_lists(std::move(inputs), *newest, today());
    warn_of_days_to_come(inputs, show);
  }
  stores = std::make_unique<StoreInputs>(inputs);
  lacks_sender_domains = options.sender_domains && !stores->know_sender_domains();
  options.sender_domains = options.sender_domains && !lacks_sender_domains;
  options.hash_family = hash_family.value_or(options.hash_family);
  options.profile.tag_separators = tag_separators.value_or(options.profile.tag_separators);
  choose_seeds(*this);
  share_memory(*this);
}

// A typing mistake must not cost the operator a list.
void refuse_to_overwrite_inputs(const BuildPlan& plan) {
  const ChoiceNames& names = choice_names();
  const std::string& store = plan.options.store_path;
  const auto refuse_over = [&](const std::string& input, const std::string& what, const std::string& advice) {
    if (is_same_file(input, plan.output)) throw UsageError(names.output + " would overwrite the " + what + input);
    if (is_same_file(input, store)) throw UsageError(names.store + " would overwrite the " + what + input + advice);
    if (is_same_file(input, plan.reject_file)) {
      throw UsageError(names.reject_file + " would overwrite the " + what + input);
    }
  };
  for (const std::vector<std::string>* lists : {&plan.inputs, &plan.exceptions, &plan.strangers}) {
    for (const std::string& list : *lists) refuse_over(list, "list ", "");
  }
  for (const auto& input : plan.stores->stores()) {
    refuse_over(input->path(), "store ", "; 'bloomgate update-store' changes a store");
  }
  for (const std::string& other : {plan.output, plan.reject_file}) {
    if (!store.empty() && are_same_place(store, other)) {
      throw UsageError(names.store + " and " + other + " are the same file");
    }
  }
  if (are_same_place(plan.reject_file, plan.output)) {
    throw UsageError(names.reject_file + " and " + names.output + " are the same file");
  }
}

std::uint64_t expected_bytes(const BuildOptions& options) {
  if (!options.expected_entries) return 0;
  const LayoutRules& rules = layout_rules(options.layout);
  const std::uint32_t block_bytes = options.block_bytes.value_or(rules.default_block_bytes(options.hashes));
  return blocks_for(std::max<std::uint64_t>(1, *options.expected_entries), options.bits_per_entry, block_bytes) *
         block_bytes * bits_of_place(options.layout);
}

std::optional<std::uint64_t> estimate_of_inputs(OpenLists& lists, const StoreInputs& stores, AddressProfile profile) {
  if (lists.blocks.input_count() == 0) return stores.addresses();
  const std::optional<std::uint64_t> estimate = estimate_addresses(lists.blocks, *lists.format, profile);
  return estimate ? std::optional(*estimate + stores.addresses()) : std::nullopt;
}

bool is_estimate_off(std::uint64_t estimate, std::uint64_t addresses) {
  constexpr double kSizeTolerance = 0.01;  // how far the bits per entry may be from the requested number
  return std::abs(static_cast<double>(estimate) - static_cast<double>(addresses)) >
         kSizeTolerance * static_cast<double>(addresses);
}

std::string cost_of_sender_domains(const BuildOptions& options) {
  constexpr std::uint64_t kMuch = std::uint64_t{256} << 20;
  if (!options.sender_domains || !options.expected_entries) return {};
  const std::uint64_t domains = std::min(*options.expected_entries, kMostSenderDomains);
  const std::uint64_t most = DomainCoding(domains).section_bytes();
  if (most < kMuch) return {};
  const std::string of_store =
      options.store_path.empty() ? "" : " and " + format_bytes(domains * sizeof(KeyHash)) + " of the store";
  return "the domains of all addresses take up to " + format_bytes(most) + " of the filter" + of_store +
         ", if each address has one of its own; " + choice_names().no_sender_domains + " leaves them out";
}

std::optional<BloomgateError> refusal_of_lists(const BuildPlan& plan, const LinesRead& read, std::uint64_t entries) {
  if (auto refusal = refusal_of_lines(plan, read, "no filter was built")) return refusal;
  return plan.limits.refusal_of(entries, plan.replaced());
}

BuildResult build_from_lists(BuildRequest request, JobObserver& observer, const std::atomic<bool>& stop) {
  const BuildPlan plan(std::move(request), observer.warns());
  refuse_to_overwrite_inputs(plan);
  const auto start = std::chrono::steady_clock::now();
  OpenLists first(plan.inputs, plan.format, stop);
  std::optional<OpenLists> second;
  std::atomic<const OpenLists*> read_now{&first};  // null: the job is writing
  WriteProgress written;
  const ObservedWork work(observer, [&]() -> WorkState {
    const OpenLists* const lists = read_now;
    return lists == nullptr ? state_of(written) : state_of(*lists, *plan.stores);
  });
  const auto show = observer.warns();
  RejectLog rejects(plan.reject_file, names_of(first.blocks), show);
  if (plan.lacks_sender_domains) {
    show(
        "warning: a store among the inputs does not have the domains of its senders, so the filter is without them, "
        "and unlisted senders at any domain may be found; build that store from its lists again");
  }
  const BroadDomains broad_domains = usual_broad_domains(plan.broad_files, show);
  const ExceptList exceptions(list_files(plan.exceptions), plan.options.profile, stop);
  BuildOptions options = plan.options;
  std::optional<std::uint64_t> estimate;
  if (!options.expected_entries) {
    options.expected_entries = estimate = estimate_of_inputs(first, *plan.stores, options.profile);
  }
  require_output(plan, options, expected_bytes(options));
  if (const std::string cost = cost_of_sender_domains(options); !cost.empty()) observer.note(cost);
  const std::optional<ChangeLock> lock = ChangeLock::if_there(options.store_path);
  options.kept_generations = generations_to_keep(plan, options, show);
  StrangerCheck strangers(plan.strangers, options, plan.is_strict, show, stop);
  require_strangers(plan, strangers.review());
  std::unique_ptr<FilterBuilder> builder;
  const auto read = [&](OpenLists& lists) {
    builder = std::make_unique<FilterBuilder>(options);
    strangers.attach_to(*builder);
    rejects.add_excepted(plan.stores->add_to(*builder, options.threads, exceptions, stop));
    add_entries(lists.blocks, *lists.format, *builder, options, exceptions, broad_domains, rejects);
  };
  read(first);
  if (estimate && is_estimate_off(*estimate, builder->addresses())) {
    // The samples were not like the rest. Now the number is known, but only a second run can size the filter as
    // requested.
    options.expected_entries = builder->addresses();
    builder.reset();
    rejects.restart();
    read_now = &second.emplace(plan.inputs, plan.format, stop);
    read(*second);
  }
  if (!plan.limits.empty.is_lifted) require_sent(first.blocks, "no filter was built");
  rejects.show_kinds();
  const std::uint64_t entries = builder->addresses() + builder->domains();
  if (auto refusal = refusal_of_lists(plan, LinesRead::of(rejects, *first.format), entries)) {
    rejects.keep();
    throw BloomgateError(std::move(*refusal));
  }
  if (const std::string warning = plan.limits.warning_of_daemon(entries, plan.replaced()); !warning.empty())
    show(warning);
  read_now = nullptr;
  const std::string lone_store = options.store_path.empty() ? warning_of_lone_store(plan.output) : std::string();
  const FilterHeader header = builder->write(
      plan.output, stop, written, [&](const FilterHeader& made) { plan.limits.require(made, plan.replaced()); });
  rejects.keep();
  if (!lone_store.empty()) show(lone_store);
  return {result_of(plan, header, rejects.count(), strangers.review(), builder->spilled_bytes(), start),
          rejects.excepted(), rejects.broad_counts()};
}

}  // namespace bloomgate
