#include "filter/jobs/build_job.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/stranger_check.hpp"
#include "filter/jobs/change_lock.hpp"
#include "filter/jobs/kept_output.hpp"

namespace bloomgate {

BuildJob::BuildJob(BuildRequest request, JobObserver& observer, const std::atomic<bool>& stop)
    : observer_(observer), stop_(stop), plan_(std::move(request), observer.warns()) {
  refuse_to_overwrite_inputs(plan_);
}

BuildResult BuildJob::run() {
  const auto start = std::chrono::steady_clock::now();
  OpenLists first(plan_.inputs, plan_.format, stop_);
  std::optional<OpenLists> second;
  std::atomic<const OpenLists*> read_now{&first};  // null: writing
  WriteProgress written;
  const ObservedWork work(observer_, [&]() -> WorkState {
    const OpenLists* const lists = read_now;
    return lists == nullptr ? state_of(written) : state_of(*lists, *plan_.stores);
  });
  const auto show = observer_.warns();
  RejectLog rejects(plan_.reject_file, names_of(first.blocks), show);
  if (plan_.lacks_sender_domains) {
    show(
        "warning: a store among the inputs does not have the domains of its senders, so the filter is without them, "
        "and strangers at any domain may be found; build that store from its lists again");
  }
  const BroadDomains broad_domains = usual_broad_domains(plan_.broad_files, show);
  const ExceptList exceptions(list_files(plan_.exceptions), plan_.options.profile, stop_);
  BuildOptions options = plan_.options;
  std::optional<std::uint64_t> estimate;
  if (!options.expected_entries) {
    options.expected_entries = estimate = estimate_of_inputs(first, *plan_.stores, options.profile);
  }
  require_output(plan_, options);
  if (const std::string cost = cost_of_sender_domains(plan_, options); !cost.empty()) observer_.note(cost);
  const std::optional<ChangeLock> lock = ChangeLock::if_there(options.store_path);
  options.kept_generations = generations_to_keep(plan_.output, options.store_path, plan_.keep, options.threads, show);
  StrangerCheck strangers(plan_.strangers, options, plan_.is_strict, plan_.names, show, stop_);
  std::unique_ptr<FilterBuilder> builder;
  const auto read = [&](OpenLists& lists) {
    builder = std::make_unique<FilterBuilder>(options);
    strangers.attach_to(*builder);
    rejects.add_excepted(plan_.stores->add_to(*builder, options.threads, exceptions, stop_));
    add_entries(lists.blocks, *lists.format, *builder, options, exceptions, broad_domains, rejects);
  };
  read(first);
  if (estimate && is_estimate_off(*estimate, builder->addresses())) {
    // The samples were not like the rest. Now the number is known, and only a second run can size the filter as asked.
    options.expected_entries = builder->addresses();
    builder.reset();
    rejects.restart();
    read_now = &second.emplace(plan_.inputs, plan_.format, stop_);
    read(*second);
  }
  rejects.show_kinds();
  const std::uint64_t entries = builder->addresses() + builder->domains();
  if (auto refusal = refusal_of_lists(plan_, LinesRead::of(rejects, *first.format), entries)) {
    rejects.keep();
    throw BloomgateError(std::move(*refusal));
  }
  read_now = nullptr;
  const FilterHeader header = builder->write(plan_.output, stop_, written);
  rejects.keep();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {.output = plan_.output,
          .header = header,
          .rejected = rejects.count(),
          .excepted = rejects.excepted(),
          .broad = rejects.broad_counts(),
          .strangers = strangers.review(),
          .spilled_bytes = builder->spilled_bytes(),
          .seconds = elapsed.count(),
          .store_path = options.store_path,
          .is_over_expected = plan_.options.expected_entries && header.addresses > header.expected_entries};
}

}  // namespace bloomgate
