#include "filter/contacts/contact_limit.hpp"

#include <algorithm>

namespace bloomgate {

ContactLimit::ContactLimit(std::uint64_t most_contacts, ContactSink& sink)
    : most_contacts_(most_contacts),
      most_recipients_(most_contacts > kMostRecipients / 50 ? most_contacts * 50 : kMostRecipients),
      sink_(sink) {}

ContactLimit::Contacts& ContactLimit::of(std::string_view user) {
  const auto found = by_user_.find(user);
  return found != by_user_.end() ? found->second : by_user_[std::string(user)];
}

bool ContactLimit::leave_out(Contacts& contacts) noexcept {
  contacts.is_over = true;
  ++left_out_;
  return false;
}

void ContactLimit::add(std::string_view contact, std::string_view user, const MessageMark& message) {
  if (most_contacts_ != 0) {
    Contacts& contacts = of(user);
    if (contacts.recipients == most_recipients_ && !contacts.is_unlimited) {
      leave_out(contacts);
      return;
    }
    ++contacts.recipients;
  }
  sink_.add(contact, user, message);
}

void ContactLimit::count(std::string_view user, std::uint64_t times) {
  if (most_contacts_ != 0) ++of(user).by_times[times];
}

void ContactLimit::rank(Contacts& contacts) const noexcept {
  contacts.is_ranked = true;
  contacts.room = most_contacts_;
  for (auto each = contacts.by_times.rbegin(); each != contacts.by_times.rend(); ++each) {
    contacts.least_times = each->first;
    if (each->second >= contacts.room) return;
    contacts.room -= each->second;
  }
  contacts.least_times = 0;  // there is room for all
}

bool ContactLimit::takes(std::string_view user, std::uint64_t times) {
  if (most_contacts_ == 0) return true;
  Contacts& contacts = of(user);
  if (contacts.is_unlimited) return true;
  if (!contacts.is_ranked) rank(contacts);
  if (times > contacts.least_times) return true;
  if (times < contacts.least_times || contacts.room == 0) return leave_out(contacts);
  --contacts.room;
  return true;
}

std::vector<std::string> ContactLimit::users() const {
  std::vector<std::string> users;
  for (const auto& [user, contacts] : by_user_) {
    if (contacts.is_over) users.push_back(user);
  }
  std::ranges::sort(users);
  return users;
}

}  // namespace bloomgate
