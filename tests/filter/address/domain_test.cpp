// Internationalised domains, seen through the public functions: as the domain of an address and as an entry of a list.
#include "filter/address/domain.hpp"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "address_wording.hpp"
#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

struct Row {
  std::string name;
  std::string domain;
  std::string want;  // the canonical domain, or wording() of what it is rejected with
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows = {
      // One name in its spellings. The A-labels are from RFC 3492 section 7.1, the IDN test domains of ICANN, or made
      // with
      // another implementation of Punycode.
      {"a U-label", "müller.example", "xn--mller-kva.example"},
      {"its A-label", "xn--mller-kva.example", "xn--mller-kva.example"},
      {"its A-label in upper case", "XN--MLLER-KVA.EXAMPLE", "xn--mller-kva.example"},
      {"the U-label in upper case", "MÜLLER.EXAMPLE", "xn--mller-kva.example"},
      {"the U-label decomposed", "mu\u0308ller.example", "xn--mller-kva.example"},
      {"the U-label in full width", "ｍüｌｌｅｒ.example", "xn--mller-kva.example"},
      {"a soft hyphen", "mül\u00adler.example", "rejected: invisible-character"},
      {"a soft hyphen in full width", "ｍüｌ\u00adｌｅｒ.example", "rejected: invisible-character"},
      {"a U-label beside an A-label", "müller.xn--mller-kva.example", "xn--mller-kva.xn--mller-kva.example"},
      {"a U-label in the middle", "mail.müller.example", "mail.xn--mller-kva.example"},
      {"a dot after a U-label", "example.müller.", "example.xn--mller-kva"},
      {"a wide dot at the end", "müller.example。", "xn--mller-kva.example"},
      {"an A-label in full width", "ｘｎ--mller-kva.example", "xn--mller-kva.example"},
      {"German", "sörensen.example.com", "xn--srensen-90a.example.com"},
      {"Czech", "Pročprostěnemluvíčesky.example", "xn--proprostnemluvesky-uyb24dma41a.example"},
      {"Spanish", "PorquénopuedensimplementehablarenEspañol.example",
       "xn--porqunopuedensimplementehablarenespaol-fmd56a.example"},
      {"Vietnamese", "TạisaohọkhôngthểchỉnóitiếngViệt.example",
       "xn--tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g.example"},
      {"Chinese", "他们为什么不说中文.example", "xn--ihqwcrb4cv8a8dqg056pqjye.example"},
      {"Chinese, with its top-level domain", "例子.广告", "xn--fsqu00a.xn--4rr70v"},
      {"Japanese", "3年B組金八先生.example", "xn--3b-ww4c5e180e575a65lsy2b.example"},
      {"Ukrainian", "пошта.укр", "xn--80a1acn3a.xn--j1amh"},
      {"Russian", "пример.рф", "xn--e1afmkfd.xn--p1ai"},
      {"Russian in upper case", "ПРИМЕР.РФ", "xn--e1afmkfd.xn--p1ai"},
      {"Hindi", "डाटा.भारत", "xn--c2bd1gb.xn--h2brj9c"},
      {"Greek", "παράδειγμα.ελ", "xn--hxajbheg2az3al.xn--qxam"},
      {"Hebrew", "למההםפשוטלאמדבריםעברית.example", "xn--4dbcagdahymbxekheh6e0a7fei0b.example"},
      {"Catalan, with its middle dot", "l·l.cat", "xn--ll-0ea.cat"},
      // The four characters in which IDNA 2008 differs from IDNA 2003: non-transitional keeps them
      {"a sharp s is kept", "straße.example", "xn--strae-oqa.example"},
      {"a sharp s is not two s", "strasse.example", "strasse.example"},
      {"a final sigma is kept", "βόλος.com", "xn--nxasmm1c.com"},
      {"a zero-width joiner after a virama is kept", "ශ\u0dca\u200dර\u0dd3.com", "xn--10cl1a0b660p.com"},
      {"a zero-width non-joiner between joining letters is kept", "نامه\u200cای.com", "xn--mgba3gch31f060k.com"},
      {"a zero-width joiner elsewhere", "a\u200db.example", "rejected: invalid-idn"},
      {"a zero-width non-joiner elsewhere", "a\u200cb.example", "rejected: invalid-idn"},
      // Dots
      {"wide dots", "a．b。c｡müller", "a.b.c.xn--mller-kva"},
      {"wide dots and nothing else beyond ASCII", "mail。example．org", "mail.example.org"},
      {"an ideographic dot after an ASCII label that IDNA would not have", "r3---sn。müller", "r3---sn.xn--mller-kva"},
      {"a full-width dot after it", "r3---sn．müller", "r3---sn.xn--mller-kva"},
      {"a half-width dot after it", "r3---sn｡müller", "r3---sn.xn--mller-kva"},
      {"two wide dots in a row", "a。。b", "rejected: empty-label"},
      {"a wide dot first", "。example", "rejected: empty-label"},
      {"a dot and a wide dot at the end", "example.。", "rejected: empty-label"},
      {"nothing but a wide dot", "。", "rejected: empty-domain"},
      {"a soft hyphen alone", "\u00ad", "rejected: invisible-character"},
      {"a soft hyphen for a label", "a.\u00ad.b", "rejected: invisible-character"},
      {"a dot with a line under it, which IDNA does not have", "a\u2024ü.example", "rejected: invalid-idn"},
      // ASCII labels are taken as they stand, also beside others
      {"an underscore before a U-label", "_dmarc.müller.example", "_dmarc.xn--mller-kva.example"},
      {"two hyphens in the third and fourth place beside a U-label", "r3---sn.müller.example",
       "r3---sn.xn--mller-kva.example"},
      {"an invalid A-label", "xn--a.example", "xn--a.example"},
      {"an invalid A-label beside a U-label", "xn--a.müller.example", "xn--a.xn--mller-kva.example"},
      {"a hyphen last in an ASCII label beside a U-label", "a-.müller.example", "a-.xn--mller-kva.example"},
      {"a slash in an ASCII label beside a U-label", "a/b.müller.example", "rejected: bad-domain-character"},
      // What IDNA 2008 does not allow
      {"a snowman", "☃.example", "rejected: invalid-idn"},
      {"an emoji", "💩.la", "rejected: invalid-idn"},
      {"a hyphen first in a U-label", "-müller.example", "rejected: invalid-idn"},
      {"a hyphen last in a U-label", "müller-.example", "rejected: invalid-idn"},
      {"two hyphens in the third and fourth place of a U-label", "mü--ller.example", "rejected: invalid-idn"},
      {"a U-label that pretends to be an A-label", "xn--müller.example", "rejected: invalid-idn"},
      {"a combining mark first", "\u0308a.example", "rejected: invalid-idn"},
      {"left to right first in a label of right to left", "aא.example", "rejected: invalid-idn"},
      {"right to left first in a label of left to right", "אa.example", "rejected: invalid-idn"},
      {"a digit first in a label of right to left", "1א.example", "rejected: invalid-idn"},
      {"a digit last in a label of right to left", "א1.example", "xn--1-zhc.example"},
      {"digits of two kinds", "\u0660\u06f0.example", "rejected: invalid-idn"},
      {"an unassigned code point", "\u0378.example", "rejected: invalid-idn"},
      {"a code point for private use", "\ue000.example", "rejected: invalid-idn"},
      {"a space within a U-label", "mül\u00a0ler.example", "rejected: foreign-space"},
      // What mapping makes of some characters is checked like anything else
      {"a small at sign", "a\ufe6bb.example", "rejected: bad-domain-character"},
      {"a full-width at sign", "a＠b.example", "rejected: bad-domain-character"},
      {"account of, which is a/c", "℀.example", "rejected: bad-domain-character"},
      {"full-width square brackets make no literal", "\uff3b192.0.2.1\uff3d", "rejected: bad-domain-character"},
      {"an ideographic space", "a\u3000b.example", "rejected: foreign-space"},
      {"a parenthesised digit", "⑴.example", "rejected: bad-domain-character"},
      {"full-width digits", "１９２.０.２.１", "192.0.2.1"},
      {"a full-width hyphen first", "－a.example", "rejected: invalid-idn"},
      {"a Kelvin sign is a k", "\u212a.example", "k.example"},
      {"a ligature is its letters", "o\ufb03ce.example", "office.example"},
      // Limits hold for the A-label
      {"a U-label of 63 octets as A-label", repeated("ü", 57), "xn--td" + std::string(57, 'a')},
      {"a U-label of 64 octets as A-label", repeated("ü", 58), "rejected: label-too-long"},
      {"a U-label of 63 octets with ASCII", std::string(55, 'a') + "ü", "xn--" + std::string(55, 'a') + "-8yf"},
      {"a U-label of 64 octets with ASCII", std::string(56, 'a') + "ü", "rejected: label-too-long"},
      {"a U-label much longer than its A-label may be", repeated("ü", 1000), "rejected: label-too-long"},
      {"a label longer than its A-label for full width", repeated("ａ", 55) + "ü",
       "xn--" + std::string(55, 'a') + "-8yf"},
      {"a label as long as it may be in four-byte characters", repeated("\U00010000", 56),
       "xn--2n7c" + std::string(55, 'a')},
      {"255 octets", "ü." + domain_of(247), "xn--tda." + domain_of(247)},
      {"255 octets and a wide dot", "ü." + domain_of(247) + "。", "xn--tda." + domain_of(247)},
      {"256 octets", "ü." + domain_of(248), "rejected: domain-too-long"},
      {"256 octets, U-label last", domain_of(248) + ".ü", "rejected: domain-too-long"},
      {"many U-labels", repeated("ü.", 31) + "aaaaaaa", repeated("xn--tda.", 31) + "aaaaaaa"},
      {"one U-label too many", repeated("ü.", 32) + "a", "rejected: domain-too-long"},
      {"as many U-labels as fit in a line", repeated("ü.", 600), "rejected: domain-too-long"},
      {"a long ASCII label beside a U-label", std::string(64, 'a') + ".ü", "rejected: label-too-long"},
  };
  return rows;
}

TEST_CASE("A domain of a list is in A-labels, or rejected") {
  for (const Row& row : rows()) {
    CAPTURE(row.name, row.domain);
    const bool rejected = row.want.starts_with("rejected");
    CHECK(wording(canonicalize_line("@" + row.domain)) == (rejected ? row.want : "@" + row.want));
    CHECK(wording(canonicalize_line("@." + row.domain)) == (rejected ? row.want : "@." + row.want));
  }
}

TEST_CASE("The domain of an address is in A-labels, or rejected") {
  for (const Row& row : rows()) {
    CAPTURE(row.name, row.domain);
    const bool too_long = !row.want.starts_with("rejected") && row.want.size() > kMaxAddressBytes - 2;
    const std::string want = row.want.starts_with("rejected") ? row.want : "a@" + row.want;
    for (const std::string& text : {"a@" + row.domain, "<a@" + row.domain + ">"}) {
      for (const auto canonicalize : {canonicalize_path, canonicalize_line}) {
        CHECK(wording(canonicalize(text, {})) == (too_long ? "rejected: address-too-long" : want));
      }
    }
  }
}

TEST_CASE("A canonical domain, read again, is the same domain") {
  for (const Row& row : rows()) {
    CAPTURE(row.name, row.domain);
    const Entry entry = canonicalize_line("@" + row.domain);
    if (entry.is_key()) CHECK(wording(canonicalize_line(entry.key())) == entry.key());
  }
}

// Callers hand over what a message says, without a look at its length.
TEST_CASE("A host name that is longer than any input is too long, whatever is in it") {
  for (const std::string_view letter : {"a", "ü", "中"}) {
    for (const std::string_view separator : {"", "."}) {
      std::string name;
      while (name.size() <= kMaxInputBytes) name.append(letter).append(separator);
      for (const std::string& text : {name, name + name, repeated(name, 40)}) {
        Domain domain;
        CHECK(canonicalize_host_name(text, domain) == RejectReason::too_long);
        CHECK(canonicalize_domain(text, domain) == RejectReason::too_long);
        CHECK(domain.view().empty());
      }
      name.resize(kMaxInputBytes - kMaxInputBytes % (letter.size() + separator.size()));
      Domain domain;
      const RejectReason reason = canonicalize_domain(name, domain);
      CHECK((reason == RejectReason::label_too_long || reason == RejectReason::domain_too_long));
    }
  }
}

// A thread remembers labels that it has mapped. The labels here come in such numbers that many share a place there.
TEST_CASE("A thread's cached label is not used for a longer or shorter label") {
  for (char last = 'a'; last <= 'z'; ++last) {
    // The longest label that is remembered.
    const std::string label = "ü" + repeated("ａ", 20) + last;
    REQUIRE(label.size() == 63);
    const std::string want = wording(canonicalize_line("@" + label));
    for (char next = 'a'; next <= 'z'; ++next) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
        canonicalize_line("@" + label + std::string(count, next));
        if (wording(canonicalize_line("@" + label)) != want) FAIL(label << " after one with " << count << next);
      }
    }
  }
}

// An emulator keeps memory for each thread that has ended.
TEST_CASE("A thread's cache distinguishes two labels", "[not emulated]") {
  const char end = test::kIsSanitized ? 'f' : 'm';
  std::vector<std::string> labels;
  for (char first = 'a'; first < end; ++first) {
    for (char second = 'a'; second < end; ++second) labels.push_back(std::string("ü") + first + second);
  }
  std::vector<std::string> want;  // of each pair as one label
  std::thread([&] {
    for (const std::string& a : labels) {
      for (const std::string& b : labels) want.push_back(wording(canonicalize_line("@" + a + b)));
    }
  }).join();
  std::size_t pair = 0;
  for (const std::string& a : labels) {
    for (const std::string& b : labels) {
      std::string got;
      std::thread([&] {  // which remembers nothing but these
        canonicalize_line("@" + a);
        canonicalize_line("@" + b);
        got = wording(canonicalize_line("@" + a + b));
      })
          .join();
      if (got != want[pair++]) FAIL(a << " and " << b);
    }
  }
}

// Punycode and UTS #46 come from a library; what is ours is that whatever it gives is looked at.
TEST_CASE("Whatever a character is mapped to, a domain holds letters, digits, hyphens, underscores and dots only",
          "[no threads]") {
  for (std::uint32_t code_point = 0x80; code_point < 0x20000; ++code_point) {
    if (code_point >= 0xd800 && code_point < 0xe000) continue;
    const Entry entry = canonicalize_line("@a" + utf8(code_point) + "b.example");
    if (!entry.is_key()) continue;
    INFO(code_point);
    REQUIRE(entry.domain().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string_view::npos);
    REQUIRE(wording(canonicalize_line(entry.key())) == entry.key());
  }
}

}  // namespace
}  // namespace bloomgate
