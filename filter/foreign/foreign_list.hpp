// A list of another program, as a list of ours: each line's entries, and what is left out, with the reason. What means
// more here than there is said, and so is what was taken over from a list whose senders nobody proves there. What that
// program blocks or excepts is never listed, and neither is what would list it, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "filter/foreign/sender_pattern.hpp"

namespace bloomgate {

// Whose list it is. Each has its reader, a function of the text of a file, in a file of that name.
enum class ForeignKind : std::uint8_t {
  spamassassin,  // welcomelist_from, _auth, _from_dkim and their kin, under both names: Mail::SpamAssassin::Conf(3)
  rspamd,        // a map of the module `whitelist`, or one with senders, of `multimap`
  postfix,       // a table of access(5) or transport(5)
  exim,          // the keys of a file for lsearch, or of a list of addresses
  ldif,          // the mail addresses of a directory
  microsoft,     // the tenant's allow list, by Export-Csv
};
inline constexpr std::size_t kForeignKinds = 6;

std::string_view name_of(ForeignKind kind) noexcept;
std::optional<ForeignKind> foreign_kind_of(std::string_view name) noexcept;

// The kind that a text looks like, by its first lines that are no comments. Nothing where several have such lines: a
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

// First what the lines say, in their order; then settle(), once.
class ForeignList {
 public:
  // What the entry's text is empty for is left out. `form`: what kind of line it is, for take_back().
  void take(std::uint64_t line, std::string_view item, SenderEntry entry, bool was_unproven = false,
            std::string_view form = {});
  void leave_out(std::uint64_t line, std::string_view item, std::string_view reason);
  // A sender that is blocked or excepted there; `entry` may have no text. Left out with that reason, and so is each
  // entry that lists it as well.
  void block(std::uint64_t line, std::string_view item, const SenderEntry& entry, std::string_view reason);
  // What a line of that form has listed before, in whatever case, is taken back. What was never there is left out.
  void take_back(std::uint64_t line, std::string_view item, std::string_view form);

  void settle();

  const std::vector<Taken>& taken() const noexcept { return taken_; }
  const std::vector<Omitted>& left_out() const noexcept { return left_out_; }

 private:
  std::vector<Taken> taken_;  // without an entry: taken back
  std::vector<Omitted> left_out_;
  std::vector<std::string> blocked_;                                         // entries
  std::unordered_map<std::string, std::vector<std::size_t>> taken_by_item_;  // by form and item
};

// Reads the text of a file. Never fails: what cannot be read is left out. Linear in the text's length.
void read_foreign(ForeignKind kind, std::string_view text, ForeignList& list);

void read_directory(std::string_view text, ForeignList& list);
void read_exim(std::string_view text, ForeignList& list);
void read_rspamd(std::string_view text, ForeignList& list);
void read_spamassassin(std::string_view text, ForeignList& list);
void read_tenant(std::string_view text, ForeignList& list);

}  // namespace bloomgate
