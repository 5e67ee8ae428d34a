// A list of another program, as a list of ours: each line's entries, and what is left out, with the reason. What means
// more here than there is said, and so is what was taken over from a list whose senders nobody proves there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/foreign/sender_pattern.hpp"

namespace bloomgate {

// Whose list it is. Each has its reader, a function of the text of a file, in a file of that name.
enum class ForeignKind : std::uint8_t {
  spamassassin,  // welcomelist_from, _auth, _from_dkim and their kin, under both names: Mail::SpamAssassin::Conf(3)
  rspamd,        // a map of the module `whitelist`, or one with senders, of `multimap`
  postfix,       // a table of access(5) or transport(5)
  amavis,        // sender maps and banks by signer in a file of Perl, as amavisd.conf has them
  exim,          // the keys of a file for lsearch, or of a list of addresses
  ldif,          // the mail addresses of a directory
  microsoft,     // the tenant's allow list, by Export-Csv
};
inline constexpr std::size_t kForeignKinds = 7;

std::string_view name_of(ForeignKind kind) noexcept;
std::optional<ForeignKind> foreign_kind_of(std::string_view name) noexcept;

// The kind that a text looks like, by its first lines that mean something. Nothing where several have such lines: a
// map of domains may be rspamd's or Exim's.
std::optional<ForeignKind> recognise(std::string_view text) noexcept;

struct Taken {
  std::uint64_t line = 0;  // from 1
  std::string item;        // as it stands there
  std::string entry;
  Width width = Width::same;
  bool was_unproven = false;  // that program believes the address that a message gives
};

struct Omitted {
  std::uint64_t line = 0;
  std::string item;
  std::string_view reason;  // a literal
};

class ForeignList {
 public:
  // What the entry's text is empty for is left out.
  void take(std::uint64_t line, std::string_view item, SenderEntry entry, bool was_unproven = false);
  void leave_out(std::uint64_t line, std::string_view item, std::string_view reason);
  // An entry is taken back by a later line. What was never there is left out.
  void take_back(std::uint64_t line, std::string_view item, const SenderEntry& entry);

  const std::vector<Taken>& taken() const noexcept { return taken_; }
  const std::vector<Omitted>& left_out() const noexcept { return left_out_; }

 private:
  std::vector<Taken> taken_;
  std::vector<Omitted> left_out_;
};

// Reads the text of a file. Never fails: what cannot be read is left out. Linear in the text's length.
void read_foreign(ForeignKind kind, std::string_view text, ForeignList& list);

void read_amavis(std::string_view text, ForeignList& list);
void read_directory(std::string_view text, ForeignList& list);
void read_exim(std::string_view text, ForeignList& list);
void read_rspamd(std::string_view text, ForeignList& list);
void read_spamassassin(std::string_view text, ForeignList& list);
void read_tenant(std::string_view text, ForeignList& list);

}  // namespace bloomgate
