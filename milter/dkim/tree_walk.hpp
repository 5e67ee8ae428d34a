// Finds the organisational domain of a domain by a walk up the DMARC records of the DNS (RFC 9989 sections 4.10 and
// 4.10.2), and the record in which its owner says who may sign for it (section 4.10.1).
//
// By the RFC, the highest name with a record is the organisation's, unless a record says psd=n or psd=y. The RFC warns
// of the consequence if a public suffix has a record without psd=y: all names below it would be one organisation
// (section 11.8). So here the Public Suffix List is an upper bound: the organisational domain is never above the one
// that organizational_domain() finds, whatever the records say. If there is no record at all, it is that one. Records
// can only make an organisation smaller: if only a part of it has records, by psd=n on a part, or by psd=y on a host
// that the list does not contain.
//
// It follows that two domains of one organisation by the walk are also aligned by the list. So aligned() says without
// any look-up which signatures may be worth one. Otherwise the owner of any name below a suffix, `evil.co.uk`, could
// see in their name server whether mail from `bank.co.uk` would be delivered: they sign a message, and wait for the
// query for their key.
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

// The domains whose records the walk may query: `domain`, then those above it up to one label, each one label shorter
// than the one before. If `domain` has more than eight labels, the second name has seven. At most kMaxWalkNames views
// into `domain`, which is canonical.
std::vector<std::string_view> walk_names(std::string_view domain);

// What the DNS has for one of these names.
struct WalkAnswer {
  SignatureOutcome fault = SignatureOutcome::pass;  // any other value: why the record is unknown
  std::optional<DmarcRecord> record = {};           // nothing: there is no record
};

struct TreeWalk {
  // pass, or why the rest is unknown: a record could not be fetched, or has an unreadable psd. That record may have
  // said anything about the owner's will.
  SignatureOutcome fault = SignatureOutcome::pass;
  std::string_view organization = {};  // a view into the domain
  // What the domain's owner says: from the domain's own record, or else from that of its organisational domain or of
  // the nearest domain above it. Without any record the owner has forbidden nothing.
  Adkim adkim = Adkim::relaxed;
};

using AskForRecord = std::function<WalkAnswer(std::string_view name)>;

// Calls `ask` with the names of walk_names(), in their order, until a record says psd=n or psd=y, or a fault occurs.
TreeWalk walk_tree(std::string_view domain, const AskForRecord& ask);

// Whether `signer`, a domain other than `domain`, may sign for `domain`: pass, or why not. Walks from `domain`, and
// from `signer` only if the result depends on it.
SignatureOutcome may_sign(std::string_view signer, std::string_view domain, const AskForRecord& ask);

}  // namespace bloomgate
