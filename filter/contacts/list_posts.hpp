// Finds the mailing lists that users have posted to: joins sent messages with the copies that the lists distributed.
// For one thread.
//
// A sent message shows the address that it was posted to, and not which list has that address. A received message says
// so (List-Id, List-Post), but any sender may have written that. So a list is found only if three things hold:
// - A user sent a message to `LOCAL@HOST`.
// - A received message says that this address is that of the list `LOCAL.HOST`, as mailing-list programs name a list
//   after its address. No other name counts: at a host of many lists, the sender could otherwise name another list.
// - The received message is that post or answers it, by the post's Message-ID. A sender who has not seen the post does
//   not know that identifier.
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

// The key of the list that is named after that address: `list:dev.lists.example.org` for `dev@lists.example.org`.
// Nothing if the local part is not one label of a host name: with a dot in it, the list could be that of an address at
// another host. Throws std::bad_alloc.
std::optional<std::string> list_named_after(const Entry& address);

class ListPosts {
 public:
  // Uses about that much memory, and `folder` for the rest. Posts of forgotten users are left out; `forgotten` must
  // outlive the object, and may be null.
  ListPosts(std::uint64_t memory_bytes, std::string folder, const ForgottenPeople* forgotten = nullptr)
      : sorter_(memory_bytes, std::move(folder)), forgotten_(forgotten) {}

  // Adds a user's message of that day to that address; `user` is a key. Throws BloomgateError{cannot_write}.
  void add_post(std::string_view message_id, const Entry& recipient, std::string_view user,
                std::optional<Day> day = {});
  // Adds an identifier in a received message of `list` (a key): the post that the message is or answers. Throws
  // BloomgateError{cannot_write}.
  void add_copy(std::string_view message_id, std::string_view list);

  // Passes each list that a user has posted to on to the sink, once for each post. Call it once, after the last add.
  // Throws BloomgateError{cannot_read, cannot_write}, and passes on what the sink throws.
  void give_to(ContactSink& sink);

  std::uint64_t spilled_bytes() const noexcept { return sorter_.spilled_bytes(); }

 private:
  ContactSorter sorter_;  // its contact is the Message-ID with the list; its user is empty for received messages
  const ForgottenPeople* forgotten_;
};

}  // namespace bloomgate
