// What the DMARC record of a domain says of the domains that may sign for it (RFC 9989 section 4.7): its tags adkim and
// psd. Nothing else of the record is read.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomgate {

enum class Adkim : std::uint8_t {
  relaxed,  // any domain of the organisation may sign; also where the record has no adkim
  strict,   // only the domain itself may sign; also where the record cannot be read
};

// Whether names below the domain belong to others, as names below a public suffix do.
enum class Psd : std::uint8_t {
  not_said,    // psd=u, or no such tag
  no,          // psd=n: the domain is an organisation's, and so is everything below it
  yes,         // psd=y: each name below it is another organisation's
  unreadable,  // the tag has another value, or the record cannot be read
};

struct DmarcRecord {
  Adkim adkim = Adkim::strict;
  Psd psd = Psd::unreadable;

  friend bool operator==(const DmarcRecord&, const DmarcRecord&) = default;
};

// `record` is the text of a TXT record. Nothing if it is no DMARC record: a version of DMARC is not its first tag. If
// the record is invalid (a tag twice, another version), its owner has a wish that is not known. It is then read as the
// default of DmarcRecord, by which no other domain's signature counts. So is a tag with an invalid value alone.
std::optional<DmarcRecord> read_dmarc_record(std::string_view record);

}  // namespace bloomgate
