// Who owns which mail: the path of a folder of sent mail shows its owner, and a file says which addresses a user has. A
// user can put any file into a folder of sent mail, so its files list senders only for the folder's owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"

namespace bloomgate {

// The path of each user's mailbox: `/home/%u/Maildir/.Sent`, or `/var/vmail/%d/%n/Maildir/.Sent`. `%u` stands for the
// name of the mailbox's owner, `%n` and `%d` for the two parts of a name such as `ann@example.net`; each of them stands
// for text without a slash. The path may also have a shell's wildcards. Immutable after its constructor; safe from any
// thread.
class OwnerPattern {
 public:
  // Whether the text has one of these signs.
  static bool is_pattern(std::string_view text) noexcept;

  // Throws UsageError if the signs do not give exactly one name, or if one part of the path has two of them.
  explicit OwnerPattern(std::string_view text);

  struct Place {
    std::string path;
    std::string owner;  // in lower case, like all logins here
  };
  // The mailboxes that exist, in the order of the paths; those in a folder that cannot be read are not found.
  std::vector<Place> places() const;

  // The owner of that path; nothing if the pattern does not match it.
  std::optional<std::string> owner_of(std::string_view path) const;

 private:
  std::string text_;
  std::string wildcards_;  // the text for the shell's rules
};

// Which addresses a user has, from a file in the format of Postfix's smtpd_sender_login_maps: an address and its logins
// in each line. Immutable after the last read(); safe from any thread.
class OwnerAddresses {
 public:
  // Before read(): a login that is an address in an own domain has that address. Any other login has the address with
  // that name in the own domain, if there is exactly one.
  explicit OwnerAddresses(const OwnDomains& own_domains) : own_domains_(own_domains) {}

  // Adds the lines of such a file. A name without a domain belongs to the own domain, if there is exactly one. An
  // address that is not in an own domain is ignored. A line of another form is skipped: one mistake should not end a
  // night's run. Throws BloomgateError{bad_input} if no line has an address or a whole own domain with its logins, and
  // {cannot_open}, {cannot_read}.
  void read(const std::string& path);

  // How many lines were skipped, and the first of them: the line's position, and its fault.
  static constexpr std::size_t kMostFaults = 20;
  std::uint64_t skipped_lines() const noexcept { return skipped_lines_; }
  const std::vector<std::string>& faults() const noexcept { return faults_; }

  // The keys of that login's addresses; none if none is known. Throws std::bad_alloc.
  std::vector<std::string> of(std::string_view login) const;

  // Whether that login may write as the sender, a key. The rule is that of Postfix: the line of the address decides; if
  // there is none, that of the address without its tag; then that of the whole domain. Throws std::bad_alloc.
  bool may_write_as(std::string_view login, std::string_view sender) const;

 private:
  void add_line(std::string_view line, const std::string& place);
  void skip_line(const std::string& place, std::string_view fault);
  // The logins of an address or of `@domain`; null if no line has it.
  const std::vector<std::string>* logins_of(std::string_view key) const;
  bool has(std::string_view login, std::string_view address) const;

  const OwnDomains& own_domains_;
  std::map<std::string, std::vector<std::string>, std::less<>> by_login_;    // addresses
  std::map<std::string, std::vector<std::string>, std::less<>> by_address_;  // logins; also of `@domain`
  std::vector<std::string> faults_;
  std::uint64_t skipped_lines_ = 0;
};

}  // namespace bloomgate
