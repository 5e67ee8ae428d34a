// Looks up names, or the lines of lists, in a filter or a folder of layers. Used by `bloomgate query`.
//
// The answers go out as text while more is looked up: a function of the caller writes each, in several threads at once,
// and another takes the text, in the order in which was asked. For one thread but for these.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/ingest/format.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate {

struct Answer {
  std::string_view entry;  // as it was looked up; "<>" for the null sender; empty for a line that is no entry
  bool is_listed = false;
  bool is_excluded = false;          // its bits are all set, but it is a known stranger
  std::string_view by = {};          // the entry that lists it, other than itself
  const LineFault* fault = nullptr;  // of a line that is no entry
};

// Which answers are wanted.
struct ShownAnswers {
  bool listed = true;
  bool not_listed = true;  // rejected ones too

  bool any() const noexcept { return listed || not_listed; }
};

struct QueryOptions {
  std::string path;        // a filter, or a folder of layers: who is listed by one of them is listed
  std::string store_path;  // of a filter alone: an address is listed only if this store has it, too; may be empty
  ShownAnswers shown;
};

struct QueryCounts {
  std::uint64_t listed = 0;
  std::uint64_t not_listed = 0;
  std::uint64_t rejected = 0;  // not addresses, so not listed either
};

class QueryJob {
 public:
  using WriteAnswer = std::function<void(const Answer& answer, std::string& text)>;  // at the end of the text
  // Returns false if nobody reads the answers any more.
  using UseText = std::function<bool(std::string_view text)>;

  // Throws what MappedFilter, open_store() and usable_layers_in() throw.
  QueryJob(const QueryOptions& options, WriteAnswer write, UseText use);
  ~QueryJob();

  // Looks up what a person or a log has: an address with or without brackets, `<>`, or any other entry of a list.
  // Throws BloomgateError{changed_while_open}, and what Confirmation throws.
  void look_up(std::string_view text);

  // Looks up the lines of lists: files, folders, or - for standard input; skips blank lines and comments. Of one filter
  // alone. Throws the same, what Blocks and Format throw, and BloomgateError{interrupted} if `stop` turned true.
  void look_up_lists(const std::vector<std::string>& lists, const std::string& format, unsigned threads,
                     JobObserver& observer, const std::atomic<bool>& stop);

  const QueryCounts& total() const noexcept { return total_; }

 private:
  class QueriedFilter;
  struct Answers;

  bool use(const QueriedFilter& filter, const Answers& answers);

  ShownAnswers shown_;
  WriteAnswer write_;
  UseText use_;
  std::vector<std::unique_ptr<QueriedFilter>> layers_;  // or the filter alone
  QueryCounts total_;
};

}  // namespace bloomgate
