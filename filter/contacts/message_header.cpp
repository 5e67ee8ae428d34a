#include "filter/contacts/message_header.hpp"

#include <gmime/gmime.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "filter/address/address.hpp"
#include "filter/address/entry_forms.hpp"
#include "filter/address/list_id.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "filter/log/log_times.hpp"
#include "filter/mail/automatic_mail.hpp"
#include "filter/mail/calendar_reply.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {
namespace {

// Whether quotes, comments and angle brackets are closed. GMime gets only such text: for other text, its version 3.2.13
// may leak memory.
bool is_balanced(std::string_view text) noexcept {
  std::size_t comments = 0;
  bool in_quotes = false;
  bool in_brackets = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      // Outside of quotes and comments a backslash escapes nothing.
      if ((!in_quotes && comments == 0) || ++at == text.size()) return false;
    } else if (in_quotes) {
      in_quotes = c != '"';
    } else if (c == '(') {
      ++comments;
    } else if (c == ')') {
      if (comments-- == 0) return false;
    } else if (comments != 0) {
      continue;
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == '<' || c == '>') {
      if (in_brackets == (c == '<')) return false;
      in_brackets = c == '<';
    }
  }
  return comments == 0 && !in_quotes && !in_brackets;
}

// The position of the first blank or comment that is not between quotes.
std::size_t end_of_word(std::string_view text) noexcept {
  bool in_quotes = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      in_quotes = !in_quotes;
    } else if (!in_quotes && (text[at] == '(' || is_folding_space(text[at]))) {
      break;
    }
  }
  return std::min(at, text.size());
}

// The address part of a mailbox with a name; `bracket` is the position of its `<`. A correspondent has chosen the name,
// and a program may have written it without quotes; it is never an address, even if it looks like one. Empty if it is
// not clear which part is the address.
std::string_view address_part(std::string_view mailbox, std::size_t bracket) noexcept {
  std::size_t end = 0;
  if (bracket != std::string_view::npos) {
    mailbox.remove_prefix(bracket);
    end = mailbox.rfind('>') + 1;
  } else {
    mailbox = behind_comments(mailbox);
    end = end_of_word(mailbox);
  }
  return behind_comments(mailbox.substr(end)).empty() ? mailbox.substr(0, end) : std::string_view();
}

// Calls `use(text)` for the address of each mailbox in a balanced list, those of groups too (RFC 5322 section 3.4).
template <typename Use>
void for_each_address(std::string_view list, Use use) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t begin = 0;
  std::size_t bracket = kNone;
  std::size_t comments = 0;
  bool in_quotes = false;
  bool in_brackets = false;
  bool is_clear = true;  // no second bracket
  const auto end_mailbox = [&](std::size_t at) {
    const std::string_view text = list.substr(begin, at - begin);
    if (is_clear) use(address_part(text, bracket));
    begin = at + 1;
    bracket = kNone;
    is_clear = true;
  };
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    if (c == '\\') {
      ++at;
    } else if (in_quotes) {
      in_quotes = c != '"';
    } else if (c == '(' || c == ')') {
      comments = c == '(' ? comments + 1 : comments - 1;
    } else if (comments != 0) {
      continue;
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == '<' || c == '>') {
      is_clear = is_clear && (c == '>' || bracket == kNone);
      if (c == '<') bracket = at - begin;
      in_brackets = c == '<';
    } else if (!in_brackets && c == ':') {
      begin = at + 1;  // the text before it is the name of a group
      bracket = kNone;
    } else if (!in_brackets && (c == ',' || c == ';')) {
      end_mailbox(at);
    }
  }
  end_mailbox(list.size());
}

struct Unref {
  void operator()(InternetAddressList* list) const noexcept { g_object_unref(list); }
};

void add_addresses(InternetAddressList* list, std::vector<std::string>& addresses) {
  for (int at = 0; at < internet_address_list_length(list); ++at) {
    InternetAddress* const address = internet_address_list_get_address(list, at);
    if (INTERNET_ADDRESS_IS_GROUP(address)) {
      add_addresses(internet_address_group_get_members(INTERNET_ADDRESS_GROUP(address)), addresses);
    } else if (const char* const text = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address))) {
      addresses.emplace_back(text);
    }
  }
}

constexpr std::string_view kScheme = "mailto:";

bool is_of_url(char byte) noexcept {
  return byte > ' ' && byte != '<' && byte != '>' && byte != '\x7f';
}

}  // namespace

std::vector<std::string> addresses_of(std::string_view value) {
  static GMimeParserOptions* const options = [] {
    g_mime_init();
    return g_mime_parser_options_new();
  }();
  if (!is_balanced(value) || value.find('\0') != std::string_view::npos) return {};
  std::string text(value);
  // Encoded words occur in names, which do not matter here. Decoding them would load the converter of any character
  // set.
  for (std::size_t at = text.find("=?"); at != std::string::npos; at = text.find("=?", at)) text[at + 1] = '_';
  std::vector<std::string> addresses;
  for_each_address(text, [&](std::string_view part) {
    if (part.empty()) return;
    const std::unique_ptr<InternetAddressList, Unref> list(
        internet_address_list_parse(options, std::string(part).c_str()));
    if (list && internet_address_list_length(list.get()) == 1) add_addresses(list.get(), addresses);
  });
  return addresses;
}

std::vector<std::string_view> message_ids(std::string_view value) {
  constexpr std::size_t kMostIdBytes = 998;  // the limit of a line: RFC 5322 section 2.1.1
  const auto is_of_id = [](char byte) { return byte > ' ' && byte != '<' && byte != '>'; };
  std::vector<std::string_view> ids;
  for (std::size_t at = value.find('<'); at != std::string_view::npos; at = value.find('<')) {
    value.remove_prefix(at + 1);
    const auto end = static_cast<std::size_t>(std::ranges::find_if_not(value, is_of_id) - value.begin());
    if (end != 0 && end <= kMostIdBytes && end < value.size() && value[end] == '>') ids.push_back(value.substr(0, end));
  }
  return ids;
}

void MessageHeader::clear() {
  *this = MessageHeader();
}

bool MessageHeader::end_header() {
  end_field();
  return !is_automatic_ && needs_body(content_type_);
}

bool MessageHeader::add_body_line(std::string_view line) {
  body_.append(line.substr(0, kCalendarReplyBytes - body_.size()));
  if (body_.size() < kCalendarReplyBytes) body_.append(1, '\n');
  return body_.size() < kCalendarReplyBytes;
}

void MessageHeader::end_field() {
  is_automatic_ = is_automatic_ || says_automatic(name_, value_);
  if (content_type_.empty() && ascii::equal_ignoring_case(name_, "Content-Type")) content_type_ = value_;
  name_.clear();
  value_.clear();
}

void MessageHeader::add_line(std::string_view line) {
  has_lines_ = true;
  const auto [name, value, goes_on] = split_header_line(line);
  if (!goes_on) {
    end_field();
    name_ = name.substr(0, kMostFieldBytes);
  }
  if (value_.size() < kMostFieldBytes) value_.append(1, ' ').append(value.substr(0, kMostFieldBytes));
  if (goes_on) {
    if (last_ != nullptr) {
      is_too_long_ = is_too_long_ || kept_bytes() + line.size() > kMostBytes;
      if (!is_too_long_) last_->append(1, ' ').append(value);
    }
    return;
  }
  last_ = nullptr;
  const auto is = [field = name](std::string_view wanted) { return ascii::equal_ignoring_case(field, wanted); };
  if (is("From")) {
    ++from_fields_;
    last_ = &from_;
  } else if (is("To") || is("Cc") || is("Bcc")) {
    last_ = &to_;
    if (!to_.empty()) to_ += ',';
  } else if (is("Message-ID")) {
    last_ = &message_id_;
  } else if (is("Date")) {
    last_ = &date_;
  } else if (is("Content-Length")) {
    std::from_chars(value.data(), value.data() + value.size(), body_bytes_);
    // The limit keeps a wrong number from hiding all following messages.
    constexpr std::uint64_t kMostBodyBytes = std::uint64_t{64} << 20;
    if (body_bytes_ > kMostBodyBytes) body_bytes_ = 0;
  } else if (is("Return-Path") || is("Delivered-To") || is("X-Original-To")) {
    is_received_ = true;
    is_bounce_ = is_bounce_ || value == "<>";
  }
  if (last_ == nullptr) return;
  is_too_long_ = is_too_long_ || kept_bytes() + value.size() > kMostBytes;
  if (!is_too_long_) last_->append(value);
}

void MessageHeader::harvest(const HarvestRules& rules, Users users, HarvestCounts& counts, ContactSink& sink,
                            ListPosts* posts) {
  end_field();
  if (is_bounce_) return counts.leave_out(LeftOut::null_sender);
  // A rule for incoming mail has put it into this folder. Its From may be forged, for example as a copy to the sender.
  if (is_received_) return counts.leave_out(LeftOut::received);
  if (is_automatic_ || has_automatic_part(content_type_, body_)) return counts.leave_out(LeftOut::automatic);
  if (is_too_long_) return counts.leave_out(LeftOut::many_recipients);
  const std::vector<std::string> senders = addresses_of(from_);
  if (from_fields_ != 1 || senders.size() != 1) return counts.leave_out(LeftOut::unreadable);
  // If incoming mail was moved into this folder, its other recipients are not contacts of the user.
  const Entry sender = canonicalize_path(senders.front());
  if (sender.kind() != EntryKind::address || !rules.own_domains.contains(sender.domain())) {
    return counts.leave_out(LeftOut::foreign_sender);
  }
  const std::vector<std::string> recipients = addresses_of(to_);
  if (recipients.empty()) return counts.leave_out(LeftOut::unreadable);
  if (recipients.size() > rules.most_recipients) return counts.leave_out(LeftOut::many_recipients);
  const std::vector<std::string_view> ids = message_ids(message_id_);
  MessageMark mark = mark_of(ids.size() == 1 ? ids.front() : "", date_, false);
  mark.day = day_of_mail_date(date_);
  bool counted = false;
  for (const std::string& recipient : recipients) {
    const Entry contact = canonicalize_path(recipient);
    if (!add_contact(contact, users, mark, rules, counts, sink)) continue;
    counted = true;
    if (posts == nullptr || ids.size() != 1) continue;
    for (const std::string& user : users) posts->add_post(ids.front(), contact, user, mark.day);
  }
  if (counted) ++counts.messages;
  if (counted && ids.size() == 1) ++counts.named_messages;
}

Entry posting_address(std::string_view value) {
  const std::optional<std::string> line = unfold(value);
  if (!line) return {};
  StructuredReader reader(*line);
  std::string_view address;
  do {
    reader.skip_cfws();
    if (!reader.take('<')) return {};
    std::string_view url = reader.take_while(is_of_url);
    if (!reader.take('>')) return {};
    reader.skip_cfws();
    if (!ascii::equal_ignoring_case(url.substr(0, kScheme.size()), kScheme)) continue;
    url.remove_prefix(kScheme.size());
    if (!address.empty()) return {};
    address = url.substr(0, url.find('?'));
    // There are several addresses, or an escaped one (RFC 6068).
    if (address.empty() || address.find_first_of(",%") != std::string_view::npos) return {};
  } while (reader.take(','));
  if (reader.failed() || !reader.at_end()) return {};
  return canonicalize_path(address);
}

void ReceivedHeader::clear() {
  *this = ReceivedHeader();
}

void ReceivedHeader::add_line(std::string_view line) {
  has_lines_ = true;
  const HeaderLine part = split_header_line(line);
  if (!part.goes_on) {
    const auto is = [&part](std::string_view wanted) { return ascii::equal_ignoring_case(part.name, wanted); };
    last_ = nullptr;
    if (is("List-Id")) {
      ++list_ids_;
      last_ = &list_id_;
    } else if (is("List-Post")) {
      ++list_posts_;
      last_ = &list_post_;
    } else if (is("Message-ID") || is("In-Reply-To") || is("References")) {
      last_ = &ids_;
    }
  }
  if (last_ == nullptr) return;
  kept_bytes_ += part.value.size() + 1;
  if (kept_bytes_ <= kMostBytes) last_->append(1, ' ').append(part.value);
}

void ReceivedHeader::harvest(HarvestCounts& counts, ListPosts& posts) const {
  if (list_ids_ != 1 || list_posts_ != 1 || kept_bytes_ > kMostBytes) return;
  const std::optional<std::string> id = read_list_id(list_id_);
  const std::optional<std::string> list = list_named_after(posting_address(list_post_));
  if (!id || !list || canonicalize_list_line(std::string(kMailingListPrefix) + *id).key() != *list) return;
  ++counts.list_messages;
  std::vector<std::string_view> ids = message_ids(ids_);
  ids.resize(std::min(ids.size(), kMostIds));
  for (const std::string_view message_id : ids) posts.add_copy(message_id, *list);
}

}  // namespace bloomgate
