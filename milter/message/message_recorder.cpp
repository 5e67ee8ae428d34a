#include "milter/message/message_recorder.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/mail/automatic_mail.hpp"
#include "milter/fields/field_name.hpp"
#include "milter/policy/decide.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kOutOfMemory = "out of memory";  // short enough to need no memory
constexpr std::string_view kAtGreeting = "at the greeting";

// The space after the colon is not part of the field's content.
std::string_view without_leading_space(std::string_view value) noexcept {
  return value.substr(value.starts_with(' ') || value.starts_with('\t') ? 1 : 0);
}

// `<joe@example.org>` without its brackets.
std::string_view address_of(std::string_view path) noexcept {
  if (path.starts_with('<')) path.remove_prefix(1);
  if (path.ends_with('>')) path.remove_suffix(1);
  return path;
}

// Whether the value contains a control character other than tab and line end: some programs end a line at a carriage
// return, a form feed or a NUL, and treat the text after it as another field.
bool has_odd_control(std::string_view value) noexcept {
  const auto is_odd = [](char byte) { return byte != '\t' && byte != '\n'; };
  if (!ascii::has_control(value, is_odd)) return false;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (!ascii::is_control(value[at]) || !is_odd(value[at])) continue;
    if (!value.substr(at).starts_with("\r\n")) return true;
  }
  return false;
}

// Mail servers send their bounces as MAILER-DAEMON, however that is written.
bool is_of_mail_server(std::string_view address) noexcept {
  const Entry entry = canonicalize_path(address);
  std::string_view name =
      entry.kind() == EntryKind::address ? entry.local_part() : address.substr(0, address.find('@'));
  name = ascii::trimmed(name, "\"");
  return ascii::equal_ignoring_case(name.substr(0, name.find('+')), "mailer-daemon");
}

}  // namespace

MessageRecorder::MessageRecorder(std::optional<MessageText::Limits> text) {
  if (text) text_.emplace(*std::move(text));
}

// Runs a step that collects facts.
template <typename Step>
void MessageRecorder::record(std::string_view where, Step step) noexcept {
  try {
    step();
  } catch (...) {
    failed_ = true;
    exception_at_ = where;
  }
}

// Runs a step that collects what only a checker gets.
template <typename Step>
void MessageRecorder::record_text(Step step) noexcept {
  try {
    step();
  } catch (const std::bad_alloc&) {
    set_text_fault(kOutOfMemory);
  } catch (const std::exception& error) {
    set_text_fault(error.what());
  }
}

void MessageRecorder::set_text_fault(std::string_view fault) noexcept {
  try {
    text_fault_ = fault;
  } catch (const std::bad_alloc&) {
    text_fault_ = kOutOfMemory;
  }
  if (text_) text_->clear();
}

void MessageRecorder::begin_connection(const std::optional<IpAddress>& client, std::string_view name) noexcept {
  reset();
  client_ = client;
  helo_.clear();
  knows_helo_ = true;
  client_name_.clear();
  // Without memory the name stays unknown: only a checker would get it.
  record_text([&] { client_name_ = name; });
}

void MessageRecorder::greet(std::string_view name) noexcept {
  knows_helo_ = false;  // stays so if the line below throws
  helo_.clear();
  record(kAtGreeting, [&] {
    helo_ = name;
    knows_helo_ = true;
  });
}

void MessageRecorder::begin_message(std::string_view path, const ClientFacts& client) noexcept {
  reset();
  record("at MAIL", [&] {
    path_ = path;
    login_ = client.login;
    daemon_name_ = client.daemon_name;
    has_path_ = true;
    grounds_.begin(helo_, path);
  });
  if (failed_) set_text_fault(kOutOfMemory);
  if (knows_helo_) return;
  failed_ = true;
  exception_at_ = kAtGreeting;
}

void MessageRecorder::add_recipient(std::string_view path) noexcept {
  const std::string_view address = address_of(path);
  bool is_whole = false;
  record_text([&] { is_whole = recipients_.add(address) && address.size() <= kMaxRecipientBytes; });
  has_all_recipients_ = has_all_recipients_ && is_whole;
}

void MessageRecorder::add_header(std::string_view name, std::string_view value) noexcept {
  // The message is already decided. No mail server sends a field so late, and libmilter would reject it.
  if (header_is_over_) failed_ = true;
  forged_fields_.add_field();
  if (keeps_header_) keep_field(name, value);
  const std::string_view sent = value;
  if (has_leading_space_) value = without_leading_space(value);
  if (is_our_header(name)) {
    forged_fields_.add_mark();  // it will be removed
  } else {
    is_header_ambiguous_ = is_header_ambiguous_ || has_odd_control(value);
    record("at a header field", [&] { failed_ = !keep(name, value) || failed_; });
  }
  if (text_) record_text([&] { add_to_text(name, sent); });
}

bool MessageRecorder::keep(std::string_view name, std::string_view value) {
  if (is_header(name, "Authentication-Results")) return authentication_results_.add(value);
  if (is_header(name, "DKIM-Signature")) grounds_.add_signature(value);
  grounds_.add_field(name, value);
  if (says_automatic(name, value)) {  // as reports and answers are
    is_automatic_ = true;
    is_report_ = is_report_ || says_report(name, value) || says_answered(name, value);
  }
  if (content_type_.empty() && is_header(name, "Content-Type")) content_type_ = value.substr(0, kMaxContentTypeBytes);
  if (message_id_.empty() && is_header(name, "Message-ID")) keep_message_id(value);
  // The kept fields record whether there were too many.
  if (is_header(name, "From")) from_fields_.add(value);
  return true;
}

// White space is dropped, since a signature permits changes to it.
void MessageRecorder::keep_message_id(std::string_view value) {
  for (const char byte : value) {
    if (message_id_.size() == kMaxMessageIdBytes) return;
    if (!ascii::is_control(byte) && byte != ' ') message_id_ += byte;
  }
}

void MessageRecorder::add_to_text(std::string_view name, std::string_view value) {
  const bool is_result = ForgedFields::is_result(name);
  if (is_result) forged_fields_.add_result(name);
  if (!text_fault_.empty()) return;
  if (header_is_over_) throw std::logic_error("a header field came behind the end of the header");
  if (is_result || is_our_header(name)) return;
  if (has_leading_space_) {
    text_->add_field(name, value);
  } else {
    text_->add_field(name, " " + std::string(value));
  }
}

// A signature was made over the field, so it gets the line ends of mail again.
void MessageRecorder::keep_field(std::string_view name, std::string_view value) noexcept {
  try {
    std::string field(name);
    field += has_leading_space_ ? ":" : ": ";
    char last = field.back();
    append_with_crlf(field, value, last);
    has_whole_header_ = has_whole_header_ && field.size() <= kMaxKeptHeaderBytes && header_.add(field);
  } catch (const std::bad_alloc&) {
    has_whole_header_ = false;
  }
  if (!has_whole_header_) header_.clear();
}

std::optional<std::span<const std::string_view>> MessageRecorder::header() {
  if (!has_whole_header_) return std::nullopt;
  return header_.views();
}

void MessageRecorder::end_header(bool wanted) noexcept {
  if (header_is_over_) return;
  header_is_over_ = true;
  if (!text_ || !text_fault_.empty()) return;
  keeps_body_ = wanted;
  if (wanted) {
    record_text([&] { text_->end_of_header(); });
  } else {
    text_->clear();
  }
}

bool MessageRecorder::add_body(std::string_view bytes) noexcept {
  if (!text_ || !text_fault_.empty() || (header_is_over_ && !keeps_body_)) return false;
  record_text([&] {
    if (!header_is_over_) throw std::logic_error("the body came before the end of the header");
    text_->add_body(bytes);
  });
  return text_fault_.empty() && !text_->is_full();
}

void MessageRecorder::reset() noexcept {
  login_.clear();
  daemon_name_.clear();
  path_.clear();
  has_path_ = false;
  recipients_.clear();
  has_all_recipients_ = true;
  content_type_.clear();
  message_id_.clear();
  is_automatic_ = false;
  is_report_ = false;
  is_header_ambiguous_ = false;
  from_fields_.clear();
  authentication_results_.clear();
  header_.clear();
  has_whole_header_ = true;
  grounds_.clear();
  forged_fields_.clear();
  if (text_) text_->clear();
  header_is_over_ = false;
  keeps_body_ = false;
  failed_ = false;
  exception_at_ = {};
  text_fault_.clear();
}

Facts MessageRecorder::facts(std::span<const std::string> trusted_ids, std::size_t trusted_fields,
                             const CoverRules& cover, std::chrono::sys_seconds now) {
  Facts facts;
  grounds_.end_header(cover, now);
  std::span<const std::string_view> results = authentication_results_.views();
  if (trusted_fields != 0) results = results.first(std::min(trusted_fields, results.size()));
  if (has_path_) facts.envelope_sender = path_;
  if (knows_recipients_ && has_all_recipients_) {
    facts.recipients = {Recipients::State::all, recipients_.views()};
  } else if (knows_recipients_) {
    facts.recipients.state = Recipients::State::too_many;
  }
  facts.message_id = message_id_;
  facts.is_automatic = is_automatic_;
  facts.is_header_ambiguous = is_header_ambiguous_;
  facts.header_from = parse_header_from(from_fields_.views());
  facts.is_bounce = is_report_ || is_of_mail_server(facts.header_from.address);
  facts.authentication = Authentication::summarize(results, trusted_ids, grounds_, facts.header_from);
  facts.grounds = &grounds_;
  facts.origin = {.client = client_, .daemon_name = daemon_name_, .logged_in = !login_.empty()};
  return facts;
}

Envelope MessageRecorder::envelope(const EndOfMessage& end) const {
  return {.queue_id = std::string(end.queue_id),
          .sender = std::string(address_of(path_)),
          .recipients = recipients_.copies(),
          .client_address = client_ ? to_string(*client_) : "",
          .client_name = client_name_,
          .helo = helo_,
          .login = login_,
          .mta_name = std::string(end.mta_name)};
}

}  // namespace bloomgate
