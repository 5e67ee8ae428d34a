// Counts what sessions do: messages, look-ups, questions to stores, deeper checks, connections. Every session adds to
// it, and the thread that answers Prometheus reads it.
//
// Safe from any thread. Counting takes no lock and allocates nothing: each cell is a separate atomic number, found by
// the enumerators. Only the first message of a whitelist locks a mutex, to add the whitelist's name. Memory is bounded
// whatever messages contain: names come from the configuration, everything else from fixed sets.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/fixed_text.hpp"
#include "filter/log/daemon_line.hpp"
#include "milter/deep_check/deep_outcome.hpp"
#include "milter/deep_check/delivery_sampler.hpp"
#include "milter/names/txt_record.hpp"
#include "milter/policy/confirmation.hpp"
#include "milter/policy/decision.hpp"

namespace bloomgate {

// The reason of a refused message, in logs and figures.
inline constexpr std::string_view kForgedFields = "forged-fields";

// The outcome of a decided message that is not refused.
Outcome outcome_of(Verdict verdict, Reason reason) noexcept;

// Counts durations in the classes of a Prometheus histogram: each observation falls into the first class whose bound it
// does not exceed, or into the last one, which has no bound. Without locks, unlike prometheus::Histogram, which locks a
// mutex for each observation: here every session would wait for it.
class TimeHistogram {
 public:
  static constexpr std::size_t kMostBounds = 20;

  // In seconds, ascending, at most kMostBounds. They must outlive the object.
  explicit TimeHistogram(std::span<const double> bounds) noexcept : bounds_(bounds) {}

  // A negative time, or NaN, counts as 0. Cost: a few nanoseconds.
  void note(double seconds) noexcept;

  struct Reading {
    std::vector<std::uint64_t> cumulative = {};  // for each bound, then without one: how many took at most that long
    double sum_seconds = 0;
  };
  // The total is that of the last class, so the classes are always consistent with it. Throws std::bad_alloc.
  Reading read() const;

  std::span<const double> bounds() const noexcept { return bounds_; }

 private:
  const std::span<const double> bounds_;
  std::array<std::atomic<std::uint64_t>, kMostBounds + 1> counts_ = {};
  std::atomic<std::uint64_t> sum_nanoseconds_{0};
};

class Tally {
 public:
  // The statuses of answers to posted messages that got no decision. 0: no answer, since the message did not arrive.
  static constexpr std::array<unsigned, 11> kPostStatuses = {0, 400, 401, 404, 405, 411, 413, 421, 431, 500, 503};

  // The most names of whitelists that reloads bring over time. Further ones are counted together, as kOtherNames.
  static constexpr std::size_t kMostNames = 32;
  static constexpr std::string_view kOtherNames = "(others)";  // no whitelist can have this name

  Tally();

  void note_message(const Decision& decision, double seconds) noexcept;
  void note_refusal() noexcept { add(refusals_); }  // a message refused for its forged fields
  // What a store has said about a hit of that whitelist.
  void note_confirmation(std::string_view whitelist, Confirmation answer, double seconds) noexcept;
  void note_deep_check(const DeepOutcome& outcome) noexcept;
  void note_sample(SampleAnswer answer) noexcept { add(samples_[static_cast<std::size_t>(answer)]); }
  // The share of delivered messages that are sampled, from 0 to 1.
  void set_sample_share(double share) noexcept { sample_share_.store(share, std::memory_order_relaxed); }
  void note_key_lookup(TxtStatus status, double seconds) noexcept;
  void set_name_servers_failing(bool failing) noexcept { failing_servers_.store(failing, std::memory_order_relaxed); }
  void note_reload(bool accepted) noexcept { add(reloads_[accepted ? 1 : 0]); }
  void begin_session() noexcept { add(sessions_begun_); }
  void end_session() noexcept { add(sessions_ended_); }
  void note_turned_away() noexcept { add(turned_away_); }           // a connection past the limit
  void note_without_descriptor() noexcept { add(no_descriptor_); }  // a connection for which no descriptor was left
  void note_cut_off() noexcept { add(cut_off_); }      // a connection on which no complete step came in time
  void note_malformed() noexcept { add(malformed_); }  // a connection whose data libmilter could not read
  void note_refused_post(unsigned status) noexcept;    // one of kPostStatuses; another one counts as 500
  void set_session_limit(std::uint64_t limit) noexcept { session_limit_.store(limit, std::memory_order_relaxed); }

  struct Messages {
    Verdict verdict;
    Reason reason;
    IdentityKind identity;
    std::string list;  // empty: none
    std::uint64_t count;
  };
  struct Confirmations {
    std::string whitelist;
    Confirmation answer;
    std::uint64_t count;
  };
  struct DeepChecks {
    std::string_view answer;  // "ham", … "failed"
    SpamAction action;
    std::uint64_t count;
  };
  // Only what was counted at least once. Throw std::bad_alloc.
  std::vector<Messages> messages() const;
  std::vector<Confirmations> confirmations() const;
  std::vector<DeepChecks> deep_checks() const;

  std::uint64_t messages(Outcome outcome) const noexcept;
  // Messages whose signatures were verified, by the outcome of those for their sender.
  std::uint64_t signatures(SignatureOutcome outcome) const noexcept {
    return read(signatures_[static_cast<std::size_t>(outcome)]);
  }
  // Messages of listed senders that were checked because only a name below the sender's domain has signed them.
  std::uint64_t child_signed() const noexcept { return read(child_signed_); }
  std::uint64_t samples(SampleAnswer answer) const noexcept { return read(samples_[static_cast<std::size_t>(answer)]); }
  // Samples that a checker has answered.
  std::uint64_t answered_samples() const noexcept { return samples(SampleAnswer::ham) + samples(SampleAnswer::spam); }
  double sample_share() const noexcept { return sample_share_.load(std::memory_order_relaxed); }
  std::uint64_t key_lookups(TxtStatus status) const noexcept {
    return read(key_lookups_[static_cast<std::size_t>(status)]);
  }
  const TimeHistogram& key_lookup_times() const noexcept { return key_lookup_times_; }
  bool name_servers_failing() const noexcept { return failing_servers_.load(std::memory_order_relaxed); }
  std::uint64_t look_ups() const noexcept { return read(look_ups_); }
  std::uint64_t hits() const noexcept { return read(hits_); }
  std::uint64_t reloads(bool accepted) const noexcept { return read(reloads_[accepted ? 1 : 0]); }
  std::uint64_t sessions() const noexcept { return read(sessions_begun_); }
  std::uint64_t open_sessions() const noexcept;
  std::uint64_t turned_away() const noexcept { return read(turned_away_); }
  std::uint64_t without_descriptor() const noexcept { return read(no_descriptor_); }
  std::uint64_t cut_off() const noexcept { return read(cut_off_); }
  std::uint64_t malformed() const noexcept { return read(malformed_); }
  std::uint64_t session_limit() const noexcept { return read(session_limit_); }
  std::uint64_t refused_posts(unsigned status) const noexcept { return read(refused_posts_[index_of_status(status)]); }
  const TimeHistogram& decision_times() const noexcept { return decision_times_; }
  const TimeHistogram& confirmation_times() const noexcept { return confirmation_times_; }
  const TimeHistogram& deep_check_times() const noexcept { return deep_check_times_; }

 private:
  using Count = std::atomic<std::uint64_t>;
  static constexpr std::size_t kVerdicts = 2, kIdentities = kIdentityKinds, kConfirmations = 6, kDeepAnswers = 5,
                               kActions = 4;

  struct OfName {
    FixedText<kMaxListNameBytes> name = {};
    std::array<Count, kVerdicts * kReasonCount * kIdentities> messages = {};
    std::array<Count, kConfirmations> confirmations = {};
  };

  static void add(Count& count, std::uint64_t more = 1) noexcept { count.fetch_add(more, std::memory_order_relaxed); }
  static std::uint64_t read(const Count& count) noexcept { return count.load(std::memory_order_relaxed); }
  static std::size_t index_of_status(unsigned status) noexcept;
  OfName& of(std::string_view name) noexcept;
  OfName* find(std::string_view name) noexcept;

  // The first element is for messages without a list name, the last for names beyond kMostNames. A name is written
  // before names_in_use_ includes it, and never changes.
  std::array<OfName, kMostNames + 2> names_;
  std::atomic<std::size_t> names_in_use_{1};
  std::mutex new_name_;

  Count refusals_{0}, look_ups_{0}, hits_{0}, sessions_begun_{0}, sessions_ended_{0}, turned_away_{0},
      no_descriptor_{0}, cut_off_{0}, malformed_{0}, session_limit_{0}, child_signed_{0};
  std::array<Count, 2> reloads_ = {};
  std::array<Count, kDeepAnswers * kActions> deep_checks_ = {};
  std::array<Count, kSampleAnswers> samples_ = {};
  std::array<Count, kSignatureOutcomes> signatures_ = {};
  std::array<Count, kTxtStatuses> key_lookups_ = {};
  std::array<Count, kPostStatuses.size()> refused_posts_ = {};
  std::atomic<bool> failing_servers_{false};
  std::atomic<double> sample_share_{0};
  TimeHistogram decision_times_, confirmation_times_, deep_check_times_, key_lookup_times_;
};

}  // namespace bloomgate
