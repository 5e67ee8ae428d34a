#include "filter/contacts/list_posts.hpp"

#include <functional>

#include "filter/address/entry_forms.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

// Neither a Message-ID nor the key of a mailing list has one.
constexpr char kBeforeList = ' ';

// A user can give a message a long identifier and many recipients. As a hash it takes no more room than a short one.
std::string joined(std::string_view message_id, std::string_view list) {
  constexpr std::size_t kMostBytes = 78;
  const std::string id = message_id.size() <= kMostBytes
                             ? std::string(message_id)
                             : '#' + std::to_string(std::hash<std::string_view>{}(message_id));
  return id + kBeforeList + std::string(list);
}

}  // namespace

std::optional<std::string> list_named_after(const Entry& address) {
  const std::string_view name = address.local_part();
  if (name.empty() || name.find('.') != std::string_view::npos || !ascii::is_ascii(name)) return std::nullopt;
  const std::string host = std::string(name) + '.' + std::string(address.domain());
  const Entry list = canonicalize_list_line(std::string(kMailingListPrefix) + host);
  // A list with more labels is not accepted as a side of a pair.
  if (list.kind() != EntryKind::mailing_list || list.domain() != host || label_count(host) > kMaxFormLabels) {
    return std::nullopt;
  }
  return std::string(list.key());
}

void ListPosts::add_post(std::string_view message_id, const Entry& recipient, std::string_view user,
                         std::optional<Day> day) {
  if (forgotten_ != nullptr && forgotten_->have(user, day)) return;
  if (const auto list = list_named_after(recipient)) sorter_.add(joined(message_id, *list), user);
}

void ListPosts::add_copy(std::string_view message_id, std::string_view list) {
  sorter_.add(joined(message_id, list), {});
}

// Received messages come before the posts of users, since their user is empty.
void ListPosts::give_to(ContactSink& sink) {
  std::string received;
  sorter_.for_each([&](std::string_view post, std::string_view user, std::uint64_t) {
    if (user.empty()) {
      received = post;
    } else if (post == received) {
      const std::size_t end = post.rfind(kBeforeList);
      sink.add(post.substr(end + 1), user, mark_of(post.substr(0, end), post, false));
    }
  });
}

}  // namespace bloomgate
