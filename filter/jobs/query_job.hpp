// Looks up names, or the lines of lists, in a filter or a folder of layers. Used by `bloomgate query`.
//
// The answers are passed on as text while more is looked up. A function of the caller writes each answer as text, in
// several threads at once; another one receives the text, in the order of the questions. For one thread, except these.
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
  std::string_view entry;  // as it was looked up; "<>" for the null sender; empty for a line that is not an entry
  bool is_listed = false;
  bool is_excluded = false;          // all its bits are set, but it is an excluded sender
  std::string_view by = {};          // the entry that lists it, other than itself
  const LineFault* fault = nullptr;  // of a line that is not an entry
};

// Which answers to show.
struct ShownAnswers {
  bool listed = true;
  bool not_listed = true;  // also rejected ones

  bool any() const noexcept { return listed || not_listed; }
};

struct QueryOptions {
  std::string path;        // a filter, or a folder of layers: a sender that one of them lists is listed
  std::string store_path;  // for a filter only: an address is listed only if this store has it, too; may be empty
  ShownAnswers shown;
};

struct QueryCounts {
  std::uint64_t listed = 0;
  std::uint64_t not_listed = 0;
  std::uint64_t rejected = 0;  // not addresses, so not listed either
};

class QueryJob {
 public:
  using WriteAnswer = std::function<void(const Answer& answer, std::string& text)>;  // appends to the text
  // Returns false if the reader of the answers has gone.
  using UseText = std::function<bool(std::string_view text)>;

  // Throws what MappedFilter, open_store() and usable_layers_in() throw.
  QueryJob(const QueryOptions& options, WriteAnswer write, UseText use);
  ~QueryJob();

  // Looks up a text from a person or a log: an address with or without brackets, `<>`, or any other entry of a list.
  // Throws BloomgateError{changed_while_open}, and what Confirmation throws.
  void look_up(std::string_view text);

  // Looks up the lines of lists: files, folders, or - for standard input; skips blank lines and comments. Only for a
  // single filter. Throws the same, what Blocks and Format throw, and BloomgateError{interrupted} if `stop` turned
  // true.
  void look_up_lists(const std::vector<std::string>& lists, const std::string& format, unsigned threads,
                     JobObserver& observer, const std::atomic<bool>& stop);

  const QueryCounts& total() const noexcept { return total_; }

  // Whether a sender may be listed only for some recipients, or only with a signer.
  bool holds_pairs() const noexcept;
  bool holds_signers() const noexcept;

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
