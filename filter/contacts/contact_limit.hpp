// Limits how many contacts one user may get in one list. Otherwise a sender who can write into a mailbox could put any
// number of recipients there, in a compressed file of a few kilobytes. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"

namespace bloomgate {

// If a user has more contacts, those stay to whom the user has written most often; among equals, those that come first
// in the order of bytes. So the order in which files and messages are read does not matter. It matters only past
// kMostRecipients: later recipients are not kept at all, so that no user can fill the disk.
class ContactLimit : public ContactSink {
 public:
  static constexpr std::uint64_t kMostRecipients =
      1'000'000;  // of one user, counted for each message; or 50 for each contact, if that is more

  // `most_contacts` is for each user; 0: no limit. The sink must outlive the object.
  ContactLimit(std::uint64_t most_contacts, ContactSink& sink);

  // Passes the contact on to the sink.
  void add(std::string_view contact, std::string_view user, const MessageMark& message) override;
  void lift_limit(std::string_view user) override { of(user).is_unlimited = true; }

  // Call it for each pair of a contact and a user, in any order: the user has written to the contact so often.
  void count(std::string_view user, std::uint64_t times);

  // Whether a pair stays. Call it after the last count(), for the same pairs, in the order of the contacts' bytes.
  bool takes(std::string_view user, std::uint64_t times);

  // The users who lost contacts or recipients, sorted, and how many contacts and recipients were left out in all.
  std::vector<std::string> users() const;
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  struct Contacts {
    std::uint64_t recipients = 0;
    std::map<std::uint64_t, std::uint64_t> by_times = {};  // how many contacts the user has written to so often
    std::uint64_t least_times = 0;                         // contacts with more times stay,
    std::uint64_t room = 0;                                // and so many with exactly that
    bool is_ranked = false;
    bool is_over = false;
    bool is_unlimited = false;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Contacts& of(std::string_view user);
  void rank(Contacts& contacts) const noexcept;
  bool leave_out(Contacts& contacts) noexcept;

  std::uint64_t most_contacts_;
  std::uint64_t most_recipients_;
  ContactSink& sink_;
  std::unordered_map<std::string, Contacts, Hash, std::equal_to<>> by_user_;
  std::uint64_t left_out_ = 0;
};

}  // namespace bloomgate
