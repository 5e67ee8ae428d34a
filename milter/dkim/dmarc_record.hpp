// What the DMARC record of a domain says of the domains that may sign for it (RFC 7489 section 6.3): its tag adkim.
// Nothing else of the record is read.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

enum class Adkim : std::uint8_t {
  no_record,  // the text is no DMARC record: v=DMARC1 is not its first tag
  relaxed,    // any domain of the organisation may sign; also where the record has no adkim
  strict,     // only the domain itself may sign; also where the record cannot be read
};

// `record` is the text of a TXT record. A record that is invalid (a tag twice, an adkim that is neither r nor s,
// another version of DMARC) is strict: its owner has a wish that is not known, and a signature that does not count is
// the safe side.
Adkim read_adkim(std::string_view record);

}  // namespace bloomgate
