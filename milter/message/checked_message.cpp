#include "milter/message/checked_message.hpp"

#include <exception>
#include <new>

#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

// `<joe@example.org>` without its brackets.
std::string_view address_of(std::string_view path) noexcept {
  if (path.starts_with('<')) path.remove_prefix(1);
  if (path.ends_with('>')) path.remove_suffix(1);
  return path;
}

}  // namespace

CheckedMessage::CheckedMessage(const DeepCheckOptions& options)
    : text_({options.max_bytes, options.memory_bytes, options.temporary_folder}) {}

template <typename Step>
void CheckedMessage::guarded(Step step) noexcept {
  try {
    step();
  } catch (const std::bad_alloc&) {
    set_fault("out of memory");
  } catch (const std::exception& error) {
    set_fault(error.what());
  }
}

void CheckedMessage::set_fault(std::string_view fault) noexcept {
  try {
    fault_ = fault;
  } catch (const std::bad_alloc&) {
    fault_ = "out of memory";  // so short a text needs none
  }
  part_ = Part::unwanted;
  text_.clear();
}

void CheckedMessage::begin_connection(const std::optional<IpAddress>& client, std::string_view client_name) noexcept {
  reset();
  envelope_ = {};
  guarded([&] {
    if (client) envelope_.client_address = to_string(*client);
    envelope_.client_name = client_name;
  });
}

void CheckedMessage::greet(std::string_view name) noexcept {
  envelope_.helo.clear();
  guarded([&] { envelope_.helo = name; });
}

void CheckedMessage::begin_message(std::string_view path, std::string_view login) noexcept {
  reset();
  guarded([&] {
    envelope_.sender = address_of(path);
    envelope_.login = login;
  });
}

void CheckedMessage::add_recipient(std::string_view path) noexcept {
  guarded([&] { envelope_.recipients.emplace_back(address_of(path)); });
}

void CheckedMessage::add_field(std::string_view name, std::string_view value) noexcept {
  const bool is_spam_field = SpamFields::is_one(name);
  guarded([&] {
    if (is_spam_field) spam_fields_.add(name);
    if (!fault_.empty()) return;
    // The text is not the whole message then, also where it was not wanted: the decision may be another one now.
    if (part_ != Part::header) throw std::logic_error("a header field came behind the end of the header");
    if (!is_spam_field && !is_our_header(name)) text_.add_field(name, value);
  });
}

void CheckedMessage::end_header(bool wanted) noexcept {
  if (part_ != Part::header) return;
  if (!wanted) {
    part_ = Part::unwanted;
    text_.clear();
    return;
  }
  part_ = Part::body;
  guarded([&] { text_.end_of_header(); });
}

bool CheckedMessage::add_body(std::string_view bytes) noexcept {
  if (part_ == Part::unwanted) return false;
  guarded([&] {
    if (part_ == Part::header) throw std::logic_error("the body came before the end of the header");
    text_.add_body(bytes);
  });
  return part_ == Part::body && !text_.is_full();
}

void CheckedMessage::reset() noexcept {
  envelope_.sender.clear();
  envelope_.recipients.clear();
  envelope_.login.clear();
  text_.clear();
  spam_fields_.clear();
  part_ = Part::header;
  fault_.clear();
}

}  // namespace bloomgate
