// Makes the filter that the daemon loads from one of the layout counting. Used by `bloomgate export`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "filter/file/file_format.hpp"
#include "filter/file/secret_key.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

struct ExportOptions {
  std::string file;  // of the layout counting
  std::string output;
  unsigned keep = 0;  // generations of what is replaced
  std::optional<SecretKey> key = {};
  unsigned threads = 1;
};

class ExportJob {
 public:
  // The observer and `stop` have to outlive it.
  ExportJob(ExportOptions options, JobObserver& observer, const std::atomic<bool>& stop)
      : options_(std::move(options)), observer_(observer), stop_(stop) {}

  // Once. Calls `review` before anything is written, with the number of entries: what it throws ends the job. Throws
  // what MappedFilter, require_can_write(), require_can_keep() and export_filter() throw. Returns the header as
  // written.
  FilterHeader run(const std::function<void(std::uint64_t entries)>& review);

 private:
  ExportOptions options_;
  JobObserver& observer_;
  const std::atomic<bool>& stop_;
};

}  // namespace bloomgate
