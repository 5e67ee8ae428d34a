// The keys of the lines that the daemon logs for a message and for a sample (bloomgate-milter(8), LOG): one table for
// the daemon, which writes them, and for their readers (daemon_line.hpp). A key that is not in the table does not
// compile, on either side. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

inline constexpr auto kLineKeys = std::to_array<std::string_view>(
    {// in the line of every message
     "queue_id", "sender", "decision", "reason", "time_us", "identity", "authentication", "whitelist", "header_from",
     // in some lines
     "entry", "signer", "fault", "forged_headers", "recipients", "listed_for", "confirmed", "confirm_us", "proof",
     "dkim", "signed_by", "domain", "selector", "key_bits", "key_ms", "dnssec", "child_signer", "child_of",
     // the result of a checker, at once or for a sample
     "deep_check", "sample", "score", "action", "server", "check_ms"});

class LineKey {
 public:
  consteval LineKey(const char* name) : index_(index_of(name)) {  // NOLINT(google-explicit-constructor): a checked name
    if (index_ == kLineKeys.size()) throw "the table has no such key";
  }

  // Nothing if the table does not have the name.
  static constexpr std::optional<LineKey> find(std::string_view name) noexcept {
    const std::size_t index = index_of(name);
    return index == kLineKeys.size() ? std::nullopt : std::optional(LineKey(index));
  }

  constexpr std::string_view name() const noexcept { return kLineKeys[index_]; }
  constexpr std::size_t index() const noexcept { return index_; }

  friend constexpr bool operator==(LineKey, LineKey) noexcept = default;

 private:
  explicit constexpr LineKey(std::size_t index) noexcept : index_(index) {}

  static constexpr std::size_t index_of(std::string_view name) noexcept {
    return static_cast<std::size_t>(std::ranges::find(kLineKeys, name) - kLineKeys.begin());
  }

  std::size_t index_;
};

// Adds the word `key=value`, after a space if it is not the first. The value has no space. Throws std::bad_alloc.
inline void add_word(std::string& line, LineKey key, std::string_view value) {
  if (!line.empty()) line += ' ';
  line.append(key.name()).append(1, '=').append(value);
}

}  // namespace bloomgate
