#include "milter/policy/look_up_recipients.hpp"

#include "filter/address/address.hpp"
#include "filter/address/pair.hpp"
#include "milter/policy/trace.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kLearnedList = "learned";

// A pair in the trace's notation, as one word.
using PairText = FixedText<kMaxPairKeyBytes>;

PairText text_of(const PairSides& sides) noexcept {
  PairText text;
  text.append(sides.sender);
  text.append('>');
  text.append(sides.recipient);
  return text;
}

// The look-up of one sender for all recipients.
class PairLookUp {
 public:
  PairLookUp(const Facts& facts, TagSeparators recipient_delimiter, std::string_view path, const Entry& entry,
             Trace* trace) noexcept
      : facts_(facts), recipient_delimiter_(recipient_delimiter), path_(path), entry_(entry), trace_(trace) {}

  // Adds the recipients who have written to the sender.
  void take(const Listing& learned) noexcept {
    found_.is_listed = learned.listed_for;
    learned_list_ = learned.list;
  }

  void ask_extra(const ExactList& extra, TagSeparators separators) noexcept {
    if (!extra.has_pairs_of(entry_, separators)) return;
    for (std::size_t i = 0; i < facts_.recipients.paths.size(); ++i) {
      const Entry recipient = canonicalize_path(facts_.recipients.paths[i]);
      if (found_.is_listed.test(i) || recipient.kind() != EntryKind::address) continue;
      const FoundPair found = extra.find_pair(entry_, recipient, separators, separators | recipient_delimiter_);
      note(kExtraName, pair_key(entry_.key(), recipient.key()).view(), found);
      if (found.is_listed()) cover(i, kExtraName);
    }
  }

  // Looks up those recipients for whom no earlier whitelist has listed the sender.
  void ask(const NamedWhitelist& named) noexcept {
    AddressProfile profile = named.whitelist->view().shape().profile;
    const Entry sender = is_list() ? entry_ : canonicalize_path(path_, profile);
    if (!sender.is_key()) return;
    profile.tag_separators = profile.tag_separators | recipient_delimiter_;
    const Found before = found_;
    for (std::size_t i = 0; i < facts_.recipients.paths.size(); ++i) {
      if (!found_.is_listed.test(i)) ask(named, sender, i, profile);
    }
    // These look-ups may themselves have found the damage.
    if (!named.whitelist->damaged()) return;
    found_ = before;
    note_fault(Reason::whitelist_damaged, named.name, std::nullopt);
  }

  Listing result(const Listing& alone) const noexcept {
    const std::size_t recipients = facts_.recipients.paths.size();
    const std::size_t listed = found_.is_listed.count();
    Listing result = alone;
    if (listed == recipients) {
      result = {.is_listed = true, .reason = Reason::listed_for_recipients, .list = found_.list};
      if (found_.is_confirmed && !found_.has_unconfirmed) result.confirmation = Confirmation::yes;
      result.question = found_.question;
    } else if (alone.reason == Reason::not_listed && found_.fault.reason != Reason::not_listed) {
      result = found_.fault;
    } else if (alone.reason == Reason::not_listed && listed != 0) {
      result = {.reason = Reason::not_listed_for_all, .list = found_.list.empty() ? learned_list_ : found_.list};
    }
    if (!result.confirmation && !result.is_listed) result.confirmation = found_.fault.confirmation;
    result.draws = alone.draws;
    result.draws += draws_;
    result.for_recipients = {static_cast<std::uint16_t>(recipients), static_cast<std::uint16_t>(listed)};
    return result;
  }

 private:
  void ask(const NamedWhitelist& named, const Entry& sender, std::size_t which, AddressProfile profile) noexcept {
    const std::string_view recipient_path = facts_.recipients.paths[which];
    const Entry recipient = canonicalize_path(recipient_path, profile);
    if (recipient.kind() != EntryKind::address) {
      if (trace_ != nullptr) trace_->add("pair", named.name, recipient_path, reject_reason_name(recipient.reason()));
      return;
    }
    const FilterView& filter = named.whitelist->view();
    const PairKey own_key = pair_key(sender.key(), recipient.key());
    FoundPair found = filter.find_pair(sender.key(), recipient.key());
    // Entries with a mailing list are exact.
    const bool is_hit = !is_list() && found.key.view() == own_key.view();
    if (!is_list()) ++draws_.look_ups;
    if (is_hit) ++draws_.hits;
    note(named.name, own_key.view(), found);
    if (is_hit && !is_confirmed(named, own_key.view())) {
      // A pair with a domain is exact, and lists the sender whatever the result for this one.
      found = filter.find_wider_pair(sender.key(), recipient.key());
      if (found.is_listed()) note(named.name, own_key.view(), found);
    }
    if (found.is_listed()) cover(which, named.name);
  }

  bool is_list() const noexcept { return entry_.kind() == EntryKind::mailing_list; }

  void cover(std::size_t which, std::string_view list) noexcept {
    found_.is_listed.set(which);
    if (found_.list.empty()) found_.list = list;
  }

  // Whether a hit of the bits counts. It counts provisionally as long as the store was not asked.
  bool is_confirmed(const NamedWhitelist& named, std::string_view key) noexcept {
    const std::optional<StoreQuestion> question = named.whitelist->question_about(key);
    found_.has_unconfirmed = found_.has_unconfirmed || !question;
    if (!question) return true;
    const std::optional<Confirmation> confirmation = facts_.reply_to(*question);
    if (trace_ != nullptr) {
      trace_->add("confirm", named.name, text_of(sides_of_pair(key)).view(),
                  confirmation ? confirmation_name(*confirmation) : "not-asked");
    }
    if (!confirmation && !found_.question) found_.question = question;
    found_.is_confirmed = found_.is_confirmed || confirmation == Confirmation::yes;
    if (!confirmation || *confirmation == Confirmation::yes) return true;
    const bool is_fault = *confirmation != Confirmation::no;
    note_fault(reason_of(*confirmation), is_fault ? named.name : std::string_view(), confirmation);
    return false;
  }

  // Only the first fault counts. A false positive is not a fault, but is reported.
  void note_fault(Reason reason, std::string_view list, std::optional<Confirmation> confirmation) noexcept {
    Listing& fault = found_.fault;
    if (fault.reason == Reason::not_listed) fault = {.reason = reason, .list = list, .confirmation = confirmation};
  }

  void note(std::string_view list, std::string_view key, const FoundPair& found) const noexcept {
    if (trace_ == nullptr) return;
    const bool is_wider = found.is_listed() && found.key.view() != key;
    trace_->add("pair", list, text_of(sides_of_pair(key)).view(),
                found.is_listed()   ? "listed"
                : found.is_excluded ? "excluded"
                                    : match_name(Match::none),
                {.entry = is_wider ? text_of(sides_of_pair(found.key.view())).view() : std::string_view()});
  }

  struct Found {
    RecipientSet is_listed = {};
    std::string_view list = {};  // the first whose pair listed the sender
    std::optional<StoreQuestion> question = {};
    bool is_confirmed = false;     // a store has confirmed a hit
    bool has_unconfirmed = false;  // a hit has no store
    Listing fault = {};            // the reason not_listed means: no fault
  };

  const Facts& facts_;
  TagSeparators recipient_delimiter_;
  std::string_view path_;
  const Entry& entry_;
  Trace* trace_;
  std::string_view learned_list_ = {};
  Found found_;
  Draws draws_;
};

}  // namespace

std::optional<Reason> fault_of(const Recipients& recipients) noexcept {
  const bool are_too_many =
      recipients.state == Recipients::State::too_many || recipients.paths.size() > kMostPairRecipients;
  if (are_too_many) return Reason::too_many_recipients;
  return recipients.are_known() ? std::nullopt : std::optional(Reason::recipients_unknown);
}

bool names_one_recipient(const Entry& recipient) noexcept {
  return recipient.kind() == EntryKind::address && !recipient.domain().starts_with('[') &&
         recipient.local_part().find_first_of("%!@") == std::string_view::npos;
}

Listing look_up_pairs(const Listing& alone, const std::optional<Listing>& learned, const Lists& lists,
                      const Facts& facts, TagSeparators recipient_delimiter, std::string_view path, const Entry& entry,
                      Trace* trace) noexcept {
  if (!lists.list_by_pairs() && !learned) return alone;
  if (const std::optional<Reason> fault = fault_of(facts.recipients)) {
    if (trace != nullptr) trace->add("recipients", {}, {}, reason_name(*fault));
    Listing unknown = alone;
    if (alone.reason == Reason::not_listed) unknown.reason = *fault;
    return unknown;
  }
  PairLookUp look_up(facts, recipient_delimiter, path, entry, trace);
  if (learned) look_up.take(*learned);
  if (lists.extra != nullptr) look_up.ask_extra(*lists.extra, separators_of_extra(lists));
  for (const NamedWhitelist& each : lists.whitelists) {
    if (each.whitelist != nullptr && each.whitelist->view().holds_pairs()) look_up.ask(each);
  }
  Listing listing = look_up.result(alone);
  // Several lists may each have listed the sender for some recipients.
  if (listing.reason == Reason::listed_for_recipients) listing.profile = common_profile(lists);
  return listing;
}

std::optional<Listing> look_up_learned(const Lists& lists, const Facts& facts, TagSeparators recipient_delimiter,
                                       const Entry& sender, Trace* trace) noexcept {
  if (lists.learned == nullptr || sender.kind() != EntryKind::address || !facts.recipients.are_known()) return {};
  const std::span<const std::string_view> paths = facts.recipients.paths;
  if (paths.size() > kMostPairRecipients) return {};
  ForRecipients found = {.recipients = static_cast<std::uint16_t>(paths.size())};
  RecipientSet listed_for;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string_view path = paths[i];
    const Entry user = canonicalize_path(path, {.tag_separators = recipient_delimiter});
    const bool is_learned = user.kind() == EntryKind::address && lists.learned->is_learned(user.key(), sender.key());
    listed_for.set(i, is_learned);
    found.listed = static_cast<std::uint16_t>(found.listed + (is_learned ? 1 : 0));
    if (trace != nullptr) trace->add("learned", path, sender.key(), is_learned ? "yes" : "no");
  }
  if (found.listed == 0) return {};
  const bool for_all = found.listed == found.recipients;
  return Listing{.is_listed = for_all,
                 .reason = for_all ? Reason::learned : Reason::not_listed_for_all,
                 .list = kLearnedList,
                 .for_recipients = found,
                 .listed_for = listed_for};
}

}  // namespace bloomgate
