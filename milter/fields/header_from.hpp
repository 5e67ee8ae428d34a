// Who a message says it is from, in its header: the one mailbox of its one From field, or the reason why there is no
// such mailbox. The daemon calls this once per message, with the From fields as libmilter passes them.
//
// A sender may write anything here, and no reader may see another address than we do. So a field counts only if two
// readers agree: GMime, and our own strict reader, which accepts no unbalanced or left-over text, no unquoted specials,
// and no comment or encoded word inside an address. A field that only a lenient reader understands is malformed. The
// usual form, `Joe Doe <joe@example.org>`, is unambiguous, and only our reader reads it. A local part whose dots need
// quotes (`j..doe@example.org`) counts without them, as in the envelope: whatever a reader makes of the dots, the
// domain, which is what gets authenticated, is the same. Other characters still need quotes.
//
// Sources: RFC 5322 sections 3.4, 3.6.2 and 4.4 (mailboxes, From, source routes), RFC 6532 (UTF-8), RFC 2047 section 5
// (where encoded words may stand), RFC 6854 (groups in From, which name no author).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

enum class HeaderFromKind : std::uint8_t {
  one_mailbox,
  absent,             // no From field
  several_fields,     // more than one
  several_mailboxes,  // one field, in which at least one of the two readers finds several
  no_mailbox,         // empty, or an empty group: `Undisclosed:;`
  malformed,          // not a list of mailboxes, or one that mail programs read differently
};

struct HeaderFrom {
  HeaderFromKind kind = HeaderFromKind::absent;
  // For one_mailbox: the address as it is in the field, without brackets: `Joe@example.org`. canonicalize_path()
  // accepts it in every profile, unless folding makes it too long.
  std::string address = {};

  friend bool operator==(const HeaderFrom&, const HeaderFrom&) = default;
};

// A longer field is malformed.
inline constexpr std::size_t kMaxHeaderFromBytes = 8192;

// `from_fields` are the values of all From fields, folded or not. Safe from any thread: the first call initialises
// GMime for all threads, and each call has its own GMime objects. Linear; a few microseconds for a usual field. Throws
// std::bad_alloc; GLib ends the program if it finds no memory.
HeaderFrom parse_header_from(std::span<const std::string_view> from_fields);

}  // namespace bloomgate
