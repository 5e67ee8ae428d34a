// Which mailing lists users have posted to: joins what they sent with what the lists made of it. For one thread.
//
// A sent message shows the address that it was posted to, and not which list has that address. A received message says
// so (List-Id, List-Post), and anybody may have written that. So a list is found only where
// - a user sent a message to `LOCAL@HOST`,
// - a received message says that this address is that of the list `LOCAL.HOST`, as programs for mailing lists name a
//   list after its address. Nothing else: at a host of many lists, the sender could otherwise name another list there.
// - the received message is that post or answers it, by the post's Message-ID. Who did not see the post does not know
//   it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/contacts/contact_sorter.hpp"
#include "filter/contacts/forgotten_people.hpp"

namespace bloomgate {

// The key of the list that has its name from that address: `list:dev.lists.example.org` of `dev@lists.example.org`.
// Nothing if the local part is not one label of a host name: with a dot in it, the list could be that of an address at
// another host. Throws std::bad_alloc.
std::optional<std::string> list_named_after(const Entry& address);

class ListPosts {
 public:
  // Uses about that much memory, and `folder` for the rest. Posts of forgotten users are left out; `forgotten` is the
  // caller's, who keeps it, and may be null.
  ListPosts(std::uint64_t memory_bytes, std::string folder, const ForgottenPeople* forgotten = nullptr)
      : sorter_(memory_bytes, std::move(folder)), forgotten_(forgotten) {}

  // A user's message of that day to that address; `user` is a key. Throws BloomgateError{cannot_write}.
  void add_post(std::string_view message_id, const Entry& recipient, std::string_view user,
                std::optional<Day> day = {});
  // What a received message of a list (its key) names: the post that it is or answers. Throws
  // BloomgateError{cannot_write}.
  void add_copy(std::string_view message_id, std::string_view list);

  // Gives each list that a user has posted to, once for each post. Once, after the last add. Throws
  // BloomgateError{cannot_read, cannot_write}, and passes on what the sink throws.
  void give_to(ContactSink& sink);

  std::uint64_t spilled_bytes() const noexcept { return sorter_.spilled_bytes(); }

 private:
  ContactSorter sorter_;  // of the Message-ID and the list as contact; its user is empty in what was received
  const ForgottenPeople* forgotten_;
};

}  // namespace bloomgate
