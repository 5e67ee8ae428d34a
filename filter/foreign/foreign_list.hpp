// A list of another program, converted into a list of ours. Each line becomes entries, or is omitted with a reason.
// An entry states if it lists more senders than its line. It also states if the other program does not authenticate
// these senders. A sender that the other program blocks or excepts is never listed, and neither is an entry that would
// list that sender too.
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

// The program that the list is from. Each kind has a reader, which gets the text of one file.
enum class ForeignKind : std::uint8_t {
  spamassassin,  // welcomelist_from, _auth, _from_dkim and their kin, under both names: Mail::SpamAssassin::Conf(3)
  rspamd,        // a map of the module `whitelist`, or one with senders, of `multimap`
  postfix,       // a table of access(5) or transport(5)
  exim,          // the keys of a file for lsearch, or of a list of addresses
  ldif,          // the mail addresses of a directory
  microsoft,     // the tenant's allow list, by Export-Csv
  amavis,        // what amavis-lists prints of its configuration
};
inline constexpr std::size_t kForeignKinds = 7;

std::string_view name_of(ForeignKind kind) noexcept;
std::optional<ForeignKind> foreign_kind_of(std::string_view name) noexcept;

// The kind that the first lines of the text show; comments do not count. Empty if several programs use that format: a
// list of domains may be rspamd's or Exim's.
std::optional<ForeignKind> recognise(std::string_view text) noexcept;

struct Taken {
  std::size_t file = 0;    // from 0, in the order in which the files were read
  std::uint64_t line = 0;  // from 1
  std::string item;        // as written in the list
  std::string entry;
  Width width = Width::same;
  bool was_unproven = false;  // the other program does not authenticate the sender
};

struct Omitted {
  std::size_t file = 0;
  std::uint64_t line = 0;
  std::string item;
  std::string_view reason;         // a literal
  bool may_block_entries = false;  // it blocks senders, and it cannot be known which entries list them
};

// The entries of all files of one run. A reader adds them in the order of the lines; after the last file comes
// settle().
class ForeignList {
 public:
  // Before each file.
  void begin_file() noexcept;

  // Omits the item if the entry has no text. `form` is the kind of the line, for take_back().
  void take(std::uint64_t line, std::string_view item, SenderEntry entry, bool was_unproven = false,
            std::string_view form = {});
  void leave_out(std::uint64_t line, std::string_view item, std::string_view reason);
  // The other program blocks or excepts this sender. Omits the item with that reason, and, in settle(), each entry of
  // all files that would list the sender.
  void block(std::uint64_t line, std::string_view item, const SenderEntry& entry, std::string_view reason);
  // The same for a pattern as entry_of_glob() reads it. If it has no entry, all entries are omitted that may list one
  // of its senders. If it may match senders of every domain, none is, and the item is marked.
  void block_glob(std::uint64_t line, std::string_view item, std::string_view pattern, std::string_view reason);
  // The same for senders that cannot be known: marks the item.
  void block_unknown(std::uint64_t line, std::string_view item, std::string_view reason);
  // Removes the item that an earlier line of that form has added, in whatever file; upper and lower case are the same.
  // Omits the item if no earlier line has added it.
  void take_back(std::uint64_t line, std::string_view item, std::string_view form);
  // Removes all that earlier lines of that form have added.
  void take_back_all(std::string_view form);

  // Once, after all files.
  void settle();

  const std::vector<Taken>& taken() const noexcept { return taken_; }
  const std::vector<Omitted>& left_out() const noexcept { return left_out_; }

 private:
  std::size_t files_ = 0;
  std::vector<Taken> taken_;  // entry empty: removed by take_back()
  std::vector<Omitted> left_out_;
  std::vector<std::string> blocked_;  // entries
  std::vector<PatternReach> blocked_widely_;
  std::unordered_map<std::string, std::vector<std::size_t>> taken_by_item_;  // by form and item
  std::unordered_map<std::string, std::vector<std::size_t>> taken_by_form_;  // if the form has a name
};

// Reads the text of one file. It omits lines that it cannot read. Linear in the length of the text. Throws
// BloomgateError{bad_input} if the text was cut off, where its format shows that.
void read_foreign(ForeignKind kind, std::string_view text, ForeignList& list);

void read_amavis(std::string_view text, ForeignList& list);
void read_directory(std::string_view text, ForeignList& list);
void read_exim(std::string_view text, ForeignList& list);
void read_rspamd(std::string_view text, ForeignList& list);
void read_spamassassin(std::string_view text, ForeignList& list);
void read_tenant(std::string_view text, ForeignList& list);

}  // namespace bloomgate
