#include "filter/jobs/export_job.hpp"

#include "filter/base/stop_check.hpp"
#include "filter/engine/counting_update.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/jobs/kept_output.hpp"
#include "filter/keep/generations.hpp"

namespace bloomgate {

FilterHeader ExportJob::run(const std::function<void(std::uint64_t entries)>& review) {
  const std::string& output = options_.output;
  require_can_write(output, 0);
  if (options_.keep != 0) require_can_keep(resolve_link(output));
  const MappedFilter counting(options_.file);
  review(entries_of(counting.header()));
  WriteProgress written;
  const ObservedWork work(observer_, [&] { return state_of(written); });
  // Damage must not spread into another file.
  counting.verify_body(options_.threads, [this](std::uint64_t) { check_stop(stop_); });
  const unsigned kept = generations_to_keep(output, {}, options_.keep, options_.threads, observer_.warns());
  return export_filter(counting, output, options_.threads, kept, stop_, written,
                       options_.key ? &*options_.key : nullptr);
}

}  // namespace bloomgate
