// Whose mail lies where: folders of sent mail say it by their path, and a file says which addresses are whose. A user
// can put any file into a folder of sent mail, so its files list senders only for the folder's owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/contacts/harvest_rules.hpp"

namespace bloomgate {

// The place of a mailbox of each user: `/home/%u/Maildir/.Sent`, or `/var/vmail/%d/%n/Maildir/.Sent`. `%u` stands for
// the name of the mailbox's owner, `%n` and `%d` for the two parts of a name such as `ann@example.net`, each for a part
// of a path without a slash. It may also have the wildcards of a shell. Immutable once made; safe from any thread.
class OwnerPattern {
 public:
  // Whether the text has one of these signs.
  static bool is_pattern(std::string_view text) noexcept;

  // Throws UsageError where the signs do not say a name, or one part of the path has two of them.
  explicit OwnerPattern(std::string_view text);

  struct Place {
    std::string path;
    std::string owner;  // in lower case, as all logins here
  };
  // What is there, in the order of the paths; what lies in a folder that cannot be read is not found.
  std::vector<Place> places() const;

  // The owner of that path; nothing if it is not of the pattern.
  std::optional<std::string> owner_of(std::string_view path) const;

 private:
  std::string text_;
  std::string wildcards_;  // the text for the shell's rules
};

// Which addresses a user has: what Postfix reads as smtpd_sender_login_maps, an address and its logins in each line.
// Immutable once made; safe from any thread.
class OwnerAddresses {
 public:
  // As long as nothing is read: a login that is an address in an own domain has that one, and any other login that at
  // the own domain, if there is but one.
  explicit OwnerAddresses(const OwnDomains& own_domains) : own_domains_(own_domains) {}

  // Takes the lines of such a file. A name without a domain is that at the only own domain; an address that is not in
  // an own domain is of no interest. A line of another form is skipped: one mistake should not end a night's run.
  // Throws BloomgateError{bad_input} if no line has an address or a whole own domain with its logins, and
  // {cannot_open}, {cannot_read}.
  void read(const std::string& path);

  // How many lines were skipped, and the first of them: the place, and what is wrong with it.
  static constexpr std::size_t kMostFaults = 20;
  std::uint64_t skipped_lines() const noexcept { return skipped_lines_; }
  const std::vector<std::string>& faults() const noexcept { return faults_; }

  // The keys of that login's addresses; none if none is known. Throws std::bad_alloc.
  std::vector<std::string> of(std::string_view login) const;

  // Whether that login may write as the sender, a key. As Postfix does: the line of the address decides; if there is
  // none, that of the address without its tag; then that of the whole domain. Throws std::bad_alloc.
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
