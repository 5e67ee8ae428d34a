// What the tests of the decision put together again and again.
#pragma once

#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/enum_words.hpp"
#include "milter/policy/decide.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/items_of.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate::test {

// A whitelist in memory, made from lines of a list, that turns damaged when it is told to.
class MemoryWhitelist final : public Whitelist {
 public:
  explicit MemoryWhitelist(const std::vector<std::string>& lines, AddressProfile profile = {})
      : filter_({.block_count = 4, .seed = 7, .profile = profile}), entries_(read_exact_list(joined(lines)).list) {
    for (const std::string& line : lines) filter_.insert(line);
    view_ = filter_.view();
  }

  const FilterView& view() const noexcept override { return view_; }
  bool damaged() const noexcept override { return times_asked_++ >= damaged_from_; }
  std::optional<StoreQuestion> question_about(std::string_view key) const noexcept override {
    if (store_ == 0) return std::nullopt;
    return StoreQuestion{store_, hash_key(key, store_, HashFamily::xxh3)};
  }

  bool has_neighbours(std::string_view neighbours_key) const noexcept override {
    return keeps_neighbours_ && entries_.has_neighbours(neighbours_key);
  }

  // From now on it keeps the keys of its entries' neighbours.
  void keep_neighbours() { keeps_neighbours_ = true; }

  // From now on hits have to be confirmed by a store of that identity.
  void set_store(std::uint64_t identity) { store_ = identity; }

  // The key of an address or a pair is that of an excluded sender from now on.
  void exclude(std::string_view key) {
    filter_.exclude(key);
    view_ = filter_.view();
  }

  // The answer is no for that many times, and yes from then on.
  void damage_after(unsigned times) { damaged_from_ = times; }

 private:
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text.append(line).append("\n");
    return text;
  }

  MemoryFilter filter_;
  ExactList entries_;
  FilterView view_{{}, {}};
  bool keeps_neighbours_ = false;
  std::uint64_t store_ = 0;
  unsigned damaged_from_ = ~0U;
  mutable unsigned times_asked_ = 0;
};

// "deliver listed-domain envelope spf @main by @corp.example": verdict, reason, then identity, method, list and domain
// entry as far as they are there.
inline std::string summary(const Decision& decision) {
  std::string text(verdict_name(decision.verdict));
  text.append(" ").append(reason_name(decision.reason));
  if (decision.identity != IdentityKind::none) text.append(" ").append(identity_kind_name(decision.identity));
  if (decision.method) text.append(" ").append(method_name(decision.method));
  if (!decision.list.view().empty()) text.append(" @").append(decision.list.view());
  if (!decision.entry.view().empty()) text.append(" by ").append(decision.entry.view());
  return text + (decision.is_marked ? "" : " unmarked");
}

// The grounds of a message from `path` that every domain has signed for which the fields name a result of DKIM or
// DMARC.
inline Grounds grounds_for(std::span<const std::string_view> fields, std::string_view path) {
  Grounds grounds;
  grounds.begin("client.example", path);
  std::set<std::string> signers;
  for (const std::string_view field : fields) {
    for (const MethodResult& each : parse_authentication_results(field).value_or(AuthenticationResults{}).results) {
      const bool is_signed = each.method == AuthenticationMethod::dkim || each.method == AuthenticationMethod::dmarc;
      if (is_signed && !each.domain.empty()) signers.insert(each.domain);
    }
  }
  for (const std::string& signer : signers) grounds.add_signature("v=1; s=1; b=Zm9v; d=" + signer);
  return grounds;
}

// What our mail server's milters have found, as fields parted by " | ". One that starts with '=' stands as it is, with
// the id of whoever is to have written it; the others are our own server's. Read as the daemon reads them: of a message
// from `path` and `from` that has its grounds for what they say.
inline Authentication results(std::string_view text, std::string_view path, const HeaderFrom& from) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(" | "), text.size());
    const std::string_view one = text.substr(0, end);
    values.push_back(one.starts_with('=') ? std::string(one.substr(1)) : "mx.example.net; " + std::string(one));
    text.remove_prefix(std::min(end + 3, text.size()));
  }
  const std::vector<std::string_view> views(values.begin(), values.end());
  const std::string trusted[] = {"mx.example.net"};
  return Authentication::summarize(views, trusted, grounds_for(views, path), from);
}

inline constexpr auto kKindsOfFrom =
    enum_words<HeaderFromKind>({{HeaderFromKind::one_mailbox, "one-mailbox"},
                                {HeaderFromKind::absent, "absent"},
                                {HeaderFromKind::several_fields, "several-fields"},
                                {HeaderFromKind::several_mailboxes, "several-mailboxes"},
                                {HeaderFromKind::no_mailbox, "no-mailbox"},
                                {HeaderFromKind::malformed, "malformed"}});

// "joe@example.org", or a fault: "!several-fields".
inline HeaderFrom header_from(std::string_view text) {
  using enum HeaderFromKind;
  for (const auto kind : {absent, several_fields, several_mailboxes, no_mailbox, malformed}) {
    if (text.starts_with('!') && text.substr(1) == word_of(kKindsOfFrom, kind)) return {kind, {}};
  }
  if (text.starts_with('!')) throw std::logic_error("no such fault: " + std::string(text));
  return {HeaderFromKind::one_mailbox, std::string(text)};
}

// A message and what is to become of it. `envelope` is the path without its brackets.
struct Row {
  std::string_view sentence;
  std::string_view envelope;
  std::string_view from;
  std::string_view results;
  std::string_view want;
};

// Two whitelists, the operator's own lists and a policy. SPF proves addresses, unless a test says otherwise: so one
// result and one sender are enough to show what a table is about.
class World {
 public:
  explicit World(Policy policy = {}, std::string_view revoked = {}, std::string_view extra = {},
                 SpfProves spf_proves = SpfProves::address)
      : revoked_(read_exact_list(revoked).list), extra_(read_exact_list(extra).list), policy_(std::move(policy)) {
    policy_.spf_proves = spf_proves;
  }

  Lists lists() const noexcept { return {.whitelists = named_, .revoked = &revoked_, .extra = &extra_}; }
  const Policy& policy() const noexcept { return policy_; }

  Decision decide(const Facts& facts) const noexcept { return bloomgate::decide(facts, lists(), policy_); }
  Decision decide(const Row& row) const {
    const std::string path = "<" + std::string(row.envelope) + ">";
    const HeaderFrom from = header_from(row.from);
    return decide({path, from, results(row.results, path, from)});
  }

  void expect(std::span<const Row> rows) const {
    for (const Row& row : rows) {
      INFO(row.sentence);
      INFO("envelope <" << row.envelope << ">, From " << row.from << ", results: " << row.results);
      CHECK(summary(decide(row)) == row.want);
    }
  }

 private:
  MemoryWhitelist main_{{"joe@example.org", "ann@bank.example", "\"odd name\"@example.org", "joe@m\xc3\xbcller.example",
                         "bounce@esp.example", "bob@ours.example", "bad@example.org", "x@gone.example",
                         "joe@sub.trash.example", "@corp.example", "@.tree.example", "@lists.example"}};
  MemoryWhitelist partners_{{"pat@partner.example"}, {.tag_separators = *TagSeparators::parse("+")}};
  NamedWhitelist named_[2] = {{"main", &main_}, {"partners", &partners_}};
  ExactList revoked_;
  ExactList extra_;
  Policy policy_;
};

}  // namespace bloomgate::test
