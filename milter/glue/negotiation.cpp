#include "milter/glue/negotiation.hpp"

#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include <string_view>

namespace bloomgate {
namespace {

// Steps that we do not need: we ask the mail server to skip them if it can.
constexpr unsigned long kUnwantedSteps = SMFIP_NODATA | SMFIP_NOUNKNOWN;
constexpr unsigned long kRecipientStep = SMFIP_NORCPT;
constexpr unsigned long kBodySteps = SMFIP_NOEOH | SMFIP_NOBODY;

struct Need {
  unsigned long bit;
  std::string_view words;
};

constexpr Need kActions[] = {
    {SMFIF_ADDHDRS, "adding headers"},
    {SMFIF_CHGHDRS, "changing headers"},
};

// Our callbacks never reply to these. libmilter offers all of them whatever the mail server does, and replies for us.
constexpr Need kSteps[] = {
    {SMFIP_NR_CONN, "connections without a reply"},
    {SMFIP_NR_HELO, "greetings without a reply"},
    {SMFIP_NR_MAIL, "MAIL without a reply"},
    {SMFIP_NR_HDR, "headers without a reply"},
};

constexpr Need kQuarantine = {SMFIF_QUARANTINE, "putting messages into quarantine"};

constexpr Need kRecipientReply = {SMFIP_NR_RCPT, "recipients without a reply"};
constexpr Need kEndOfHeaderReply = {SMFIP_NR_EOH, "the end of the header without a reply"};

void require(const Need& need, unsigned long offered, unsigned long& asked, std::string& missing) {
  asked |= need.bit;
  if ((offered & need.bit) != 0) return;
  if (!missing.empty()) missing += ", ";
  missing += need.words;
}

}  // namespace

MilterRequest milter_request(const MilterOffer& offer, const MilterUse& use) {
  MilterRequest request;
  request.steps = offer.steps & kUnwantedSteps;
  for (const Need& need : kSteps) require(need, offer.steps, request.steps, request.missing);
  request.tells_recipients = use.deep_check || use.recipients;
  if (request.tells_recipients) {
    require(kRecipientReply, offer.steps, request.steps, request.missing);
  } else {
    request.steps |= offer.steps & kRecipientStep;
  }
  // A signature is made over the header as it was sent, and both of these may need signatures.
  const bool needs_signed_header = use.deep_check || use.verify;
  request.tells_body = needs_signed_header || use.learn;
  if (needs_signed_header) {
    request.steps |= offer.steps & SMFIP_HDR_LEADSPC;
    request.has_leading_space = (offer.steps & SMFIP_HDR_LEADSPC) != 0;
  }
  if (request.tells_body) {
    require(kEndOfHeaderReply, offer.steps, request.steps, request.missing);
    request.steps |= offer.steps & SMFIP_SKIP;
    request.may_skip_body = (offer.steps & SMFIP_SKIP) != 0;
  } else {
    request.steps |= offer.steps & kBodySteps;
  }
  if (use.mode == Mode::observe) return request;
  for (const Need& need : kActions) require(need, offer.actions, request.actions, request.missing);
  if (use.quarantine) require(kQuarantine, offer.actions, request.actions, request.missing);
  request.choose_macros = (offer.actions & SMFIF_SETSYMLIST) != 0;
  if (request.choose_macros) request.actions |= SMFIF_SETSYMLIST;
  return request;
}

}  // namespace bloomgate
