// Sorts and counts any number of pairs of a contact and a user: in memory until that is full, then in runs on disk, in
// a file without a name. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class ContactSorter : public ContactSink {
 public:
  // Uses about that much memory, and `folder` for the runs. With `counts_messages`, each message counts once for a
  // pair, even if several sources show it; this needs room for each message.
  ContactSorter(std::uint64_t memory_bytes, std::string folder, bool counts_messages = false);

  void add(std::string_view contact, std::string_view user, const MessageMark& message = {}) override;

  // Calls `use(contact, user, times)` for each pair, in the order of the bytes of the contact and then of the user.
  // Call it after the last add(), any number of times. Throws BloomgateError{cannot_read, cannot_write}, and passes on
  // what `use` throws.
  using Use = std::function<void(std::string_view contact, std::string_view user, std::uint64_t times)>;
  void for_each(const Use& use);

  std::uint64_t spilled_bytes() const noexcept { return file_end_; }

 private:
  struct Item {
    std::uint64_t offset = 0;
    std::uint64_t times = 1;
    std::uint32_t bytes = 0;
  };
  struct Run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  class RunReader;

  std::string_view text_of(const Item& item) const noexcept;
  std::uint64_t used_bytes() const noexcept;
  void compact();
  void spill();
  using UseText = std::function<void(std::string_view text, std::uint64_t times)>;
  void for_each_text(const UseText& use);
  void merge(const UseText& use);

  std::uint64_t memory_bytes_;
  std::string folder_;
  bool counts_messages_;
  std::string texts_;
  std::vector<Item> items_;
  FileDescriptor file_;
  std::uint64_t file_end_ = 0;
  std::vector<Run> runs_;
};

}  // namespace bloomgate
