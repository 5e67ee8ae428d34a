// Protects a whitelist against loss by a slip: a file of another format, an empty folder, the lists of yesterday. Jobs
// that make a filter from lists, or replace a filter, ask before they write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/format.hpp"
#include "filter/ingest/reject_log.hpp"

namespace bloomgate {

// The lines of the lists that were read.
struct LinesRead {
  std::uint64_t lines = 0;     // entries, and rejected lines
  std::uint64_t rejected = 0;  // how many of these were rejected
  std::string kinds = {};      // RejectLog::kinds()
  std::string advice = {};     // Format::advice()
  std::string lists = {};      // which lists these are, unless they are those of a build: " of --never-match"

  static LinesRead of(const RejectLog& rejects, const Format& format);
};

// "3 of 4 lines were rejected (3 missing-at-sign), more than a tenth; " and the advice, without a full stop. Empty if
// no more than a tenth were.
std::string too_many_rejects(const LinesRead& read);

struct LossLimits {
  struct Limit {
    bool is_lifted = false;
    std::string advice = {};  // a sentence without a full stop: how to lift it
  };
  Limit empty;
  Limit rejects;
  Limit shrink;

  // Why nothing is to be made from those lines: too many of them were rejected. Nothing if a filter may be made.
  std::optional<BloomgateError> refusal_of(const LinesRead& read) const;
  // The same for a filter of so many entries: it has none, or the filter at `path`, which it replaces, has more than
  // twice as many. If there is no filter at `path`, or it cannot be read, there are no entries to lose. `entries` may
  // count duplicates; those of the old filter do not count, as far as its fill shows them.
  std::optional<BloomgateError> refusal_of(std::uint64_t entries, const std::string& path) const;
  // The same for a filter that is made, but not published yet: duplicates do not count in either of the two.
  std::optional<BloomgateError> refusal_of(const FilterHeader& made, const std::string& path) const;
  // A warning if the daemon, which has a limit of its own, will not load what has just been allowed; otherwise empty.
  std::string warning_of_daemon(std::uint64_t entries, const std::string& path) const;
  // Throws the result of refusal_of(), if there is one.
  void require(std::uint64_t entries, const std::string& path) const;
  // Also shows warning_of_daemon(), if there is one.
  void require(std::uint64_t entries, const std::string& path, const std::function<void(std::string_view)>& show) const;
  void require(const FilterHeader& made, const std::string& path) const;

 private:
  // `text` says how many are left.
  std::optional<BloomgateError> refusal_to_leave(const std::string& text, std::uint64_t left,
                                                 const std::string& path) const;
};

// A warning if a union lacks the domains of its senders although one of the filters had them; otherwise empty.
std::string lost_sender_domains(const FilterHeader& combined,
                                const std::vector<std::unique_ptr<MappedFilter>>& filters);

}  // namespace bloomgate
