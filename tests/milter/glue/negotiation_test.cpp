#include "milter/glue/negotiation.hpp"

#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// What libmilter can do itself where the mail server cannot.
constexpr unsigned long kFaked = SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_RCPT | SMFIP_NR_DATA |
                                 SMFIP_NR_UNKN | SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_NR_BODY;

constexpr unsigned long without(unsigned long all, unsigned long some) {
  return all & ~some;
}

TEST_CASE("from a full offer we choose client, greeting, MAIL, headers and end of message, without replies") {
  const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {.mode = Mode::enforce});
  CHECK(request.missing.empty());
  CHECK(request.actions == (SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST));
  CHECK(request.steps == (SMFIP_NORCPT | SMFIP_NODATA | SMFIP_NOEOH | SMFIP_NOBODY | SMFIP_NOUNKNOWN | SMFIP_NR_CONN |
                          SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_HDR));
  CHECK(request.choose_macros);
}

TEST_CASE("with mode observe, no action is negotiated") {
  const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {.mode = Mode::observe});
  CHECK(request.missing.empty());
  CHECK(request.actions == 0);
  CHECK_FALSE(request.choose_macros);
  CHECK(request.steps == milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {}).steps);
}

TEST_CASE("for a deeper check we choose recipients and body, and replies to the body, to skip its rest") {
  const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {.deep_check = true});
  CHECK(request.missing.empty());
  CHECK(request.actions == (SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST));
  CHECK(request.steps == (SMFIP_NODATA | SMFIP_NOUNKNOWN | SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL |
                          SMFIP_NR_RCPT | SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_SKIP | SMFIP_HDR_LEADSPC));
  CHECK(request.may_skip_body);
  CHECK(request.has_leading_space);
}

TEST_CASE("for lists with pairs we choose the recipients, without replies, and nothing more") {
  for (const Mode mode : {Mode::enforce, Mode::observe}) {
    const MilterOffer offer = {SMFI_CURR_ACTS, SMFI_CURR_PROT};
    const MilterRequest request = milter_request(offer, {.mode = mode, .recipients = true});
    const MilterRequest without_pairs = milter_request(offer, {.mode = mode});
    CHECK(request.missing.empty());
    CHECK(request.tells_recipients);
    CHECK_FALSE(without_pairs.tells_recipients);
    CHECK(request.steps == (without(without_pairs.steps, SMFIP_NORCPT) | SMFIP_NR_RCPT));
    CHECK(request.actions == without_pairs.actions);
  }
}

TEST_CASE("to verify signatures we choose the body and fields as they were sent, and no recipients") {
  for (const Mode mode : {Mode::enforce, Mode::observe}) {
    const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {.mode = mode, .verify = true});
    CHECK(request.missing.empty());
    CHECK(request.steps == (SMFIP_NORCPT | SMFIP_NODATA | SMFIP_NOUNKNOWN | SMFIP_NR_CONN | SMFIP_NR_HELO |
                            SMFIP_NR_MAIL | SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_SKIP | SMFIP_HDR_LEADSPC));
    CHECK(request.may_skip_body);
    CHECK(request.has_leading_space);
  }
}

TEST_CASE("to learn we choose the body, replies to it, and no fields as they were sent") {
  const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {.recipients = true, .learn = true});
  CHECK(request.missing.empty());
  CHECK(request.steps == (SMFIP_NODATA | SMFIP_NOUNKNOWN | SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL |
                          SMFIP_NR_RCPT | SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_SKIP));
  CHECK(request.tells_body);
  CHECK(request.may_skip_body);
  CHECK_FALSE(request.has_leading_space);
  CHECK_FALSE(milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, {.recipients = true}).tells_body);
}

TEST_CASE("a mail server that cannot keep the space of fields is not asked to") {
  const MilterRequest request =
      milter_request({SMFI_CURR_ACTS, without(SMFI_CURR_PROT, SMFIP_HDR_LEADSPC)}, {.verify = true});
  CHECK(request.missing.empty());
  CHECK((request.steps & SMFIP_HDR_LEADSPC) == 0);
  CHECK_FALSE(request.has_leading_space);
}

TEST_CASE("a mail server that cannot skip the rest of a body is not asked to") {
  const MilterRequest request =
      milter_request({SMFI_CURR_ACTS, without(SMFI_CURR_PROT, SMFIP_SKIP)}, {.deep_check = true});
  CHECK(request.missing.empty());
  CHECK((request.steps & SMFIP_SKIP) == 0);
  CHECK_FALSE(request.may_skip_body);
}

TEST_CASE("the right to quarantine messages is asked for if it is configured") {
  const MilterUse use = {.deep_check = true, .quarantine = true};
  CHECK((milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, use).actions & SMFIF_QUARANTINE) != 0);
}

TEST_CASE("an old mail server is asked only for what it offers") {
  const MilterRequest request =
      milter_request({SMFI_V1_ACTS | SMFIF_CHGHDRS, SMFI_V1_PROT | kFaked}, {.mode = Mode::enforce});
  CHECK(request.missing.empty());
  CHECK(request.actions == (SMFIF_ADDHDRS | SMFIF_CHGHDRS));
  CHECK(request.steps == (SMFIP_NORCPT | SMFIP_NOBODY | SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_HDR));
  CHECK_FALSE(request.choose_macros);
}

TEST_CASE("a required feature that a mail server does not offer is named") {
  struct Case {
    std::string_view name;
    unsigned long actions, steps;
    MilterUse use;
    std::string_view want;
  };
  const Case cases[] = {
      {"no headers", SMFIF_CHGBODY, kFaked, {}, "adding headers, changing headers"},
      {"headers can be added only", SMFIF_ADDHDRS, kFaked, {}, "changing headers"},
      {"headers can be changed only", SMFIF_CHGHDRS, kFaked, {}, "adding headers"},
      {"observing needs no actions", 0, kFaked, {.mode = Mode::observe}, ""},
      {"no quarantine, and none is wanted",
       without(SMFI_CURR_ACTS, SMFIF_QUARANTINE),
       kFaked,
       {.deep_check = true},
       ""},
      {"no quarantine",
       without(SMFI_CURR_ACTS, SMFIF_QUARANTINE),
       kFaked,
       {.deep_check = true, .quarantine = true},
       "putting messages into quarantine"},
      {"libmilter waits for more replies",
       SMFI_CURR_ACTS,
       without(kFaked, SMFIP_NR_RCPT | SMFIP_NR_EOH),
       {.deep_check = true},
       "recipients without a reply, the end of the header without a reply"},
      {"libmilter waits for replies",
       SMFI_CURR_ACTS,
       0,
       {.mode = Mode::observe},
       "connections without a reply, greetings without a reply, MAIL without a reply, headers without a reply"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(milter_request({c.actions, c.steps}, c.use).missing == c.want);
  }
}

}  // namespace
}  // namespace bloomgate
