// The people who were forgotten, and the days: the file `.forgotten` of a folder of lists. Logs and folders of sent
// mail still show what such a person has written or received before that day. With this file, later runs make no
// entries of it. A value; safe from any thread.
//
// The file has the line `bloomgate-forgotten 1 KEY`, then `DAY HASH` for each person. The hash has the file's own key,
// so the file holds no address, and two sites have different hashes of one person. A user who can read the file can
// check whether a guessed address is in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/contacts/harvest_rules.hpp"
#include "filter/ingest/dated_lists.hpp"

namespace bloomgate {

class ForgottenPeople {
 public:
  static constexpr std::string_view kFileName = ".forgotten";

  // Empty, with a new key.
  ForgottenPeople();
  // Throws BloomgateError{cannot_open, cannot_read, bad_input}.
  static ForgottenPeople read(const std::string& path);
  std::string text() const;

  // The person is an address (also with any tag after '+'), `@domain`, or `@.domain` for all below it as well. A later
  // day replaces an earlier one.
  void add(const Entry& person, Day day);

  bool empty() const noexcept { return days_.empty(); }
  // Whether the address, a canonical key, belongs to a person who was forgotten on that day or later. If there is no
  // day, or one in the future, which any sender can write into a message: whether the person was forgotten on any day.
  bool have(std::string_view address, std::optional<Day> day) const noexcept;

 private:
  std::uint64_t key_;
  Day latest_;                         // the last day on which a message can have been written
  std::map<std::uint64_t, Day> days_;  // by the hash of the person
};

// The last day that any time zone has reached at that time. No text written until then has a later day.
Day last_day_at(std::chrono::system_clock::time_point time) noexcept;

// Drops messages written before their user or their contact was forgotten. For one thread.
class ForgottenContacts : public ContactSink {
 public:
  // Both must outlive the object.
  ForgottenContacts(const ForgottenPeople& people, ContactSink& sink) : people_(people), sink_(sink) {}

  void add(std::string_view contact, std::string_view user, const MessageMark& message) override {
    if (people_.have(contact, message.day) || people_.have(user, message.day)) {
      ++left_out_;
    } else {
      sink_.add(contact, user, message);
    }
  }
  void lift_limit(std::string_view user) override { sink_.lift_limit(user); }

  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  const ForgottenPeople& people_;
  ContactSink& sink_;
  std::uint64_t left_out_ = 0;
};

}  // namespace bloomgate
