// What the DMARC record of a domain says about the domains that may sign for it (RFC 9989 section 4.7): its tags adkim
// and psd. The rest of the record is not read.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomgate {

enum class Adkim : std::uint8_t {
  relaxed,  // any domain of the organisation may sign; also if the record has no adkim
  strict,   // only the domain itself may sign; also if the record is unreadable
};

// Whether names below the domain belong to other owners, as names below a public suffix do.
enum class Psd : std::uint8_t {
  not_said,    // psd=u, or no such tag
  no,          // psd=n: the domain and everything below it belong to one organisation
  yes,         // psd=y: each name below it belongs to another organisation
  unreadable,  // the tag has another value, or the record is unreadable
};

struct DmarcRecord {
  Adkim adkim = Adkim::strict;
  Psd psd = Psd::unreadable;

  friend bool operator==(const DmarcRecord&, const DmarcRecord&) = default;
};

// `record` is the text of a TXT record. Returns nothing if it is not a DMARC record, that is, if its first tag is not a
// DMARC version. If the record is invalid (a tag twice, another version), the owner's intent is unknown. The result is
// then the default of DmarcRecord, by which no other domain's signature counts. If only one tag has an invalid value,
// only that tag is read so.
std::optional<DmarcRecord> read_dmarc_record(std::string_view record);

}  // namespace bloomgate
