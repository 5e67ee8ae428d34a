// The decision: is this sender on the whitelist (deliver), or does the message go to the deeper checks (check)?
//
// Called by the daemon once a message, at its end, with all facts collected. A pure function: no I/O, no clock, no log,
// no libmilter. noexcept, allocates nothing, safe from any thread; about a microsecond with the whitelist in memory.
//
// Every doubt leads to `check`: only `deliver` is ever trusted by what comes after us.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "filter/address.hpp"
#include "filter/filter_view.hpp"

namespace bloomgate {

enum class Verdict : std::uint8_t { check, deliver };

// Why. The names are part of what operators match on in logs and headers: they never change their meaning.
enum class Reason : std::uint8_t {
  listed,              // deliver: the address itself is an entry
  listed_domain,       // deliver: its domain is, as `@domain`
  listed_domain_tree,  // deliver: its domain or one above it is, as `@.domain`
  not_listed,
  null_sender,        // `<>`: a bounce; never on a whitelist
  malformed_sender,   // not an address; Decision::sender_fault says why not
  no_sender,          // no MAIL command was seen
  no_whitelist,       // none is loaded
  whitelist_damaged,  // a part of the file cannot be read any more
  internal_error,     // an exception on the way; never decided here
};

// "deliver", "check". Never fails.
std::string_view verdict_name(Verdict verdict) noexcept;

// "listed", "listed-domain", "listed-domain-tree", "not-listed", "null-sender", "malformed-sender", "no-sender",
// "no-whitelist", "whitelist-damaged", "internal-error". Never fails.
std::string_view reason_name(Reason reason) noexcept;

struct Decision {
  Verdict verdict = Verdict::check;
  Reason reason = Reason::internal_error;
  RejectReason sender_fault = RejectReason::none;  // for malformed_sender only

  friend bool operator==(const Decision&, const Decision&) = default;
};

// What is known of a message.
struct Facts {
  // The path of the MAIL command, as the mail server handed it over: `<joe@example.org>`. Nothing: there was none.
  std::optional<std::string_view> envelope_sender = {};
};

// What a decision asks of the loaded whitelist. Implementations are immutable but for the damage, which may be found at
// any moment by any thread's look-up; once true, damaged() stays true.
class Whitelist {
 public:
  virtual ~Whitelist() = default;
  virtual const FilterView& view() const noexcept = 0;
  virtual bool damaged() const noexcept = 0;
};

// `whitelist` is null where none is loaded. The state of the whitelist goes before the state of the sender: without a
// good whitelist every message has that as its reason. A damaged one is not trusted at all: its missing parts read as
// zeros, and nobody knows what befell the rest.
Decision decide(const Facts& facts, const Whitelist* whitelist) noexcept;

}  // namespace bloomgate
