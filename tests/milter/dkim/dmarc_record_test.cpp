#include "milter/dkim/dmarc_record.hpp"

#include <string_view>
#include <utility>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

struct Case {
  std::string_view record;
  Adkim want;
};

void check_all(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    INFO(c.record);
    const auto record = read_dmarc_record(c.record);
    REQUIRE(record);
    CHECK(record->adkim == c.want);
  }
}

TEST_CASE("the tag adkim of a DMARC record says who may sign, and without it any domain of the organisation may") {
  check_all({
      {"v=DMARC1; p=none; adkim=s", Adkim::strict},
      {"v=DMARC1; p=none; adkim=r", Adkim::relaxed},
      {"v=DMARC1; p=none", Adkim::relaxed},
      {"v=DMARC1", Adkim::relaxed},
      {"v=DMARC1;p=reject;aspf=s;", Adkim::relaxed},
      {"v=DMARC1; adkim=S", Adkim::strict},
      {"v=DMARC1; ADKIM=R", Adkim::relaxed},
      {" v = DMARC1 ;\tadkim = s ", Adkim::strict},
      {"v=DMARC1; p=none; adkim = r ;", Adkim::relaxed},
  });
}

TEST_CASE("an invalid DMARC record lets only the domain itself sign") {
  check_all({
      {"v=DMARC1; adkim=r; adkim=s", Adkim::strict},
      {"v=DMARC1; adkim=r; adkim=r", Adkim::strict},
      {"v=DMARC1; adkim=r; p=none; P=none", Adkim::strict},
      {"v=DMARC1; v=DMARC1; adkim=r", Adkim::strict},
      {"v=DMARC1; adkim=", Adkim::strict},
      {"v=DMARC1; adkim=rs", Adkim::strict},
      {"v=DMARC1; adkim=relaxed", Adkim::strict},
      {"v=DMARC1; adkim", Adkim::strict},
      {"v=DMARC1; p", Adkim::strict},
      {"v=DMARC1; =r", Adkim::strict},
      {"v=DMARC1 p=none; adkim=r", Adkim::strict},
      {"v=dmarc1; adkim=r", Adkim::strict},
      {"v=DMARC2; adkim=r", Adkim::strict},
      {"v=DMARC; adkim=r", Adkim::strict},
      {"; v=DMARC1; adkim=r", Adkim::strict},
      {"v=DMARC1;; adkim=r", Adkim::strict},
  });
}

TEST_CASE("the tag psd of a DMARC record says whether names below belong to others") {
  const std::pair<std::string_view, Psd> cases[] = {
      {"v=DMARC1; p=none", Psd::not_said},
      {"v=DMARC1; psd=u", Psd::not_said},
      {"v=DMARC1; psd=y; p=reject", Psd::yes},
      {"v=DMARC1; PSD = Y ;", Psd::yes},
      {"v=DMARC1; psd=n", Psd::no},
      {"v=DMARC1; psd=N", Psd::no},
      {"v=DMARC1; psd=", Psd::unreadable},
      {"v=DMARC1; psd=yes", Psd::unreadable},
      {"v=DMARC1; psd=n; psd=n", Psd::unreadable},
      {"v=DMARC1; psd=n; adkim=r; adkim=r", Psd::unreadable},
      {"v=DMARC2; psd=n", Psd::unreadable},
      {"v=DMARC1; psd", Psd::unreadable},
  };
  for (const auto& [text, want] : cases) {
    INFO(text);
    const auto record = read_dmarc_record(text);
    REQUIRE(record);
    CHECK(record->psd == want);
  }
}

TEST_CASE("an invalid value of one tag of a DMARC record does not change the other") {
  CHECK(read_dmarc_record("v=DMARC1; psd=x; adkim=r") == DmarcRecord{Adkim::relaxed, Psd::unreadable});
  CHECK(read_dmarc_record("v=DMARC1; psd=n; adkim=x") == DmarcRecord{Adkim::strict, Psd::no});
}

TEST_CASE("a text whose first tag is not the version of DMARC is not a DMARC record") {
  for (const std::string_view text :
       {"", ";", "v=spf1 -all", "v=DKIM1; p=", "v=", "v=DMAR", "adkim=s", "adkim=s; v=DMARC1", "x=1; v=DMARC1; adkim=s",
        "DMARC1; adkim=s", "google-site-verification=v=DMARC1"}) {
    INFO(text);
    CHECK_FALSE(read_dmarc_record(text));
  }
}

}  // namespace
}  // namespace bloomgate
