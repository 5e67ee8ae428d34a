#include "milter/negotiation.hpp"

#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include <catch2/catch.hpp>

namespace bloomgate {
namespace {

// What libmilter can do itself where the mail server cannot.
constexpr unsigned long kFaked = SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_RCPT | SMFIP_NR_DATA |
                                 SMFIP_NR_UNKN | SMFIP_NR_HDR | SMFIP_NR_EOH | SMFIP_NR_BODY;

TEST_CASE(
    "of a mail server that offers everything we ask for the client, its greeting, MAIL, headers and the message's end, "
    "without "
    "replies") {
  const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, Mode::enforce);
  CHECK(request.missing.empty());
  CHECK(request.actions == (SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST));
  CHECK(request.steps == (SMFIP_NORCPT | SMFIP_NODATA | SMFIP_NOEOH | SMFIP_NOBODY | SMFIP_NOUNKNOWN | SMFIP_NR_CONN |
                          SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_HDR));
  CHECK(request.choose_macros);
}

TEST_CASE("while observing we ask for no action at all") {
  const MilterRequest request = milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, Mode::observe);
  CHECK(request.missing.empty());
  CHECK(request.actions == 0);
  CHECK_FALSE(request.choose_macros);
  CHECK(request.steps == milter_request({SMFI_CURR_ACTS, SMFI_CURR_PROT}, Mode::enforce).steps);
}

TEST_CASE("an old mail server is asked for what it offers only") {
  const MilterRequest request = milter_request({SMFI_V1_ACTS | SMFIF_CHGHDRS, SMFI_V1_PROT | kFaked}, Mode::enforce);
  CHECK(request.missing.empty());
  CHECK(request.actions == (SMFIF_ADDHDRS | SMFIF_CHGHDRS));
  CHECK(request.steps == (SMFIP_NORCPT | SMFIP_NOBODY | SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_HDR));
  CHECK_FALSE(request.choose_macros);
}

TEST_CASE("what a mail server must offer and does not is named") {
  struct Case {
    std::string_view name;
    unsigned long actions, steps;
    Mode mode;
    std::string_view want;
  };
  const Case cases[] = {
      {"no headers", SMFIF_CHGBODY, kFaked, Mode::enforce, "adding headers, changing headers"},
      {"headers can be added only", SMFIF_ADDHDRS, kFaked, Mode::enforce, "changing headers"},
      {"headers can be changed only", SMFIF_CHGHDRS, kFaked, Mode::enforce, "adding headers"},
      {"observing needs no actions", 0, kFaked, Mode::observe, ""},
      {"libmilter waits for replies", SMFI_CURR_ACTS, 0, Mode::observe,
       "connections without a reply, greetings without a reply, MAIL without a reply, headers without a reply"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(milter_request({c.actions, c.steps}, c.mode).missing == c.want);
  }
}

}  // namespace
}  // namespace bloomgate
