// The organisational domain of a domain, by a walk up the DMARC records of the DNS (RFC 9989 sections 4.10 and 4.10.2),
// and the record by which its owner says who may sign for it (section 4.10.1).
//
// The RFC takes the highest name with a record for the organisation, unless a record says psd=n or psd=y. It warns of
// what follows where a public suffix has a record without psd=y: all names below it would be one organisation (section
// 11.8). So the Public Suffix List is a bound here. The organisational domain is never above the one that
// organizational_domain() finds, whatever the records say, and is that one where there is no record at all. The records
// can only make an organisation smaller: by records of a part of it alone, by psd=n on a part, or by psd=y on a host
// that the list does not know. Thus two domains of one organisation by the walk are also aligned by the list, and
// aligned() says without any look-up which signatures may be worth one. Otherwise the owner of any name below a suffix,
// `evil.co.uk`, would see in his name server whether mail from `bank.co.uk` would be delivered: he signs a message, and
// waits for the question for his key.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "milter/dkim/dmarc_record.hpp"
#include "milter/fields/signatures.hpp"

namespace bloomgate {

inline constexpr std::size_t kMaxWalkNames = 8;

// The domains whose records the walk may ask for: `domain`, then those above it up to one label, each one label shorter
// than the one before it. From more than eight labels on, the second one has seven. At most kMaxWalkNames views into
// `domain`, which is canonical.
std::vector<std::string_view> walk_names(std::string_view domain);

// What the DNS has for one of these.
struct WalkAnswer {
  SignatureOutcome fault = SignatureOutcome::pass;  // anything else: why the record is not known
  std::optional<DmarcRecord> record = {};           // nothing: there is none
};

struct TreeWalk {
  // pass, or why the rest is not known: the record of a name could not be had, or has a psd that cannot be read. The
  // owner may have said anything there.
  SignatureOutcome fault = SignatureOutcome::pass;
  std::string_view organization = {};  // a view into the domain
  // What the domain's owner says: the domain's own record, or else that of its organisational domain or the nearest one
  // above it. Without any record the owner has not forbidden anything.
  Adkim adkim = Adkim::relaxed;
};

using AskForRecord = std::function<WalkAnswer(std::string_view name)>;

// Calls `ask` with names of walk_names(), in their order, until a record says psd=n or psd=y, or there is a fault.
TreeWalk walk_tree(std::string_view domain, const AskForRecord& ask);

// Whether `signer`, another domain than `domain`, may sign for it: pass, or why not. Walks from `domain`, and from
// `signer` only if that decides.
SignatureOutcome may_sign(std::string_view signer, std::string_view domain, const AskForRecord& ask);

}  // namespace bloomgate
