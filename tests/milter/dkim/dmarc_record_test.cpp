#include "milter/dkim/dmarc_record.hpp"

#include <string_view>

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
    CHECK(read_adkim(c.record) == c.want);
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

TEST_CASE("a text whose first tag is not the version of DMARC is no DMARC record") {
  check_all({
      {"", Adkim::no_record},
      {";", Adkim::no_record},
      {"v=spf1 -all", Adkim::no_record},
      {"v=DKIM1; p=", Adkim::no_record},
      {"v=", Adkim::no_record},
      {"v=DMAR", Adkim::no_record},
      {"adkim=s", Adkim::no_record},
      {"adkim=s; v=DMARC1", Adkim::no_record},
      {"x=1; v=DMARC1; adkim=s", Adkim::no_record},
      {"DMARC1; adkim=s", Adkim::no_record},
      {"google-site-verification=v=DMARC1", Adkim::no_record},
  });
}

}  // namespace
}  // namespace bloomgate
