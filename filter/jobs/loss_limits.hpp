// What keeps a whitelist from vanishing by a slip: a file of another format, a folder that is empty, the lists of
// yesterday. Jobs that make a filter of lists, or put another one in its place, ask before they write.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/format.hpp"
#include "filter/ingest/reject_log.hpp"

namespace bloomgate {

// The lines of lists that were read.
struct LinesRead {
  std::uint64_t lines = 0;     // entries, and rejected ones
  std::uint64_t rejected = 0;  // of these
  std::string kinds = {};      // RejectLog::kinds()
  std::string advice = {};     // Format::advice()

  static LinesRead of(const RejectLog& rejects, const Format& format);
};

struct LossLimits {
  struct Limit {
    bool is_lifted = false;
    std::string advice = {};  // a sentence without a full stop: how to lift it
  };
  Limit empty;
  Limit rejects;
  Limit shrink;

  // Why nothing is to be made of those lines: too many of them were rejected. Nothing: it may be.
  std::optional<BloomgateError> refusal_of(const LinesRead& read) const;
  // The same for a filter of so many entries: it has none, or the filter at `path`, of which it takes the place, has
  // more than twice as many. What is no filter there, or cannot be read, has none to lose.
  std::optional<BloomgateError> refusal_of(std::uint64_t entries, const std::string& path) const;
  // Throws that.
  void require(std::uint64_t entries, const std::string& path) const;
};

// A warning where a union is without the domains of its senders, and one of the filters had them; else nothing.
std::string lost_sender_domains(const FilterHeader& combined,
                                const std::vector<std::unique_ptr<MappedFilter>>& filters);

}  // namespace bloomgate
