// Joins the lines of a log by queue ID: who sent a message, whether it counts, and to whom it was delivered.
//
// Only messages that may count are kept: those of clients that have logged in, unless the rules also count others.
// Memory is bounded: past `most_open` messages, the oldest is dropped and counted. For one thread.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/owners.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/log/log_line.hpp"

namespace bloomgate {

class OpenMessages {
 public:
  static constexpr std::size_t kMostOpen = 500'000;  // some 150 MB

  // All references, and `addresses`, must outlive the object. With addresses, a message counts only if its sender is
  // one of the login's addresses.
  OpenMessages(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink, std::size_t most_open = kMostOpen,
               const OwnerAddresses* addresses = nullptr)
      : rules_(rules), counts_(counts), sink_(sink), most_open_(most_open), addresses_(addresses) {}

  // Processes the next event of the log, in its order. Passes on what the sink throws.
  void use(const LogEvent& event);

  std::size_t open() const noexcept { return messages_.size(); }

  // The messages that are still under way, one in each line, for a run that reads the rest: a message's first log lines
  // name its sender, its last ones its recipients. Each line has the first day at whose end the message was under way;
  // `today` is the day of this run.
  std::string under_way(Day today) const;

  // Opens these messages and closes all others. Call it before the first event. Ignores messages that have been under
  // way for longer than a queue keeps mail, and lines that under_way() has not written.
  void resume(std::string_view lines, Day today);

 private:
  struct Message {
    std::string id;
    std::string user = {};         // the key, once it is known
    std::string sender = {};       // the local part of the sender's address, once it is known
    MessageMark mark = {};         // its day is that of the first line; only the day is kept between runs
    std::uint32_t recipients = 0;  // Sendmail: how many are still to come
    bool counts = true;
    bool is_login = false;      // not a message: a connection to Sendmail that has logged in
    bool is_handed_on = false;  // to a content filter, which has returned it under another queue ID
    bool counted = false;
    std::string login = {};         // the name with which the client has logged in
    std::optional<Day> since = {};  // the first day at which it was under way at the end of a run
  };
  using At = std::list<Message>::iterator;

  static std::string id_of(std::string_view host, std::string_view id);
  static std::string login_of(const LogEvent& event);
  Message* find(const std::string& id);
  Message& open(std::string id, std::optional<Day> day);
  void close(const std::string& id);
  void leave_out(Message& message, LeftOut reason) noexcept;
  static void set_mark(Message& message, std::string_view message_id);
  void receive(const LogEvent& event);
  void set_sender(const LogEvent& event);
  void finish(const LogEvent& event);
  bool may_write_as(const Message& message, std::string_view sender) const;
  // The user who has written. If only the number of users matters, a login counts once, whichever of its addresses it
  // has used, and the same as the owner of its folders: a user with many addresses or tags is one user.
  std::string user_of(const Message& message, std::string_view sender) const;
  // Whether `alias` is the sender's own address, which Sendmail logs with each recipient that a local user has sent to.
  static bool is_sender(const Message& message, std::string_view alias);
  void add_recipient(Message& message, std::string_view path);

  const HarvestRules& rules_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  std::size_t most_open_;
  const OwnerAddresses* addresses_;  // null: not known
  std::list<Message> messages_;      // the oldest first
  std::unordered_map<std::string_view, At> by_id_;
};

}  // namespace bloomgate
