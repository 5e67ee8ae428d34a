// Sizes round every limit and buffer of the canonicaliser, in all the forms that text can have: AddressSanitizer sees
// what is read or written past one, and here the outcome is held against the arithmetic.
#include <string>
#include <vector>

#include "address_wording.hpp"
#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::size_t key_bytes(const std::string& line) {
  const Entry entry = canonicalize_line(line);
  INFO(line);
  REQUIRE(entry.is_key());
  return entry.key().size();
}

// Labels of one form, and what each is as an A-label.
struct Form {
  const char* name;
  std::string label;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> forms = {
      {"ASCII", "abc"},
      {"two bytes a letter", "müller"},
      {"three bytes a letter", "他们为什么不说中文"},
      {"four bytes a letter", "\U00010000\U00010000\U00010001"},
      {"decomposed", "mu\u0308ller"},
      {"full width", "ｍｕｅｌｌｅｒ"},
      {"longer than what it is mapped to", "ｍｍｍｍｍｍｍｍü"},
      {"ligatures, which grow", "\ufb03\ufb03\ufb03"},
  };
  return forms;
}

// Labels of that form and, behind them, one of ASCII, so that the whole has `want` octets as A-labels.
std::string domain_of_octets(const std::string& label, const std::string& dot, std::size_t want, bool fill_first) {
  const std::size_t each = key_bytes("@" + label) - 1;
  std::string domain = label;
  std::size_t octets = each;
  while (octets + 1 + each + 2 <= want) {
    domain += dot + label;
    octets += 1 + each;
  }
  const std::size_t left = want - octets - 1;
  std::string fill = std::string(std::min<std::size_t>(left, 50), 'x');
  if (left > 50) fill += '.' + std::string(left - 51, 'y');
  return fill_first ? fill + dot + domain : domain + dot + fill;
}

TEST_CASE("a domain has at most 255 octets, whatever its characters", "[no threads]") {
  const Form& form = GENERATE(from_range(forms()));
  const std::string dot = GENERATE(as<std::string>(), ".", "。");
  const bool fill_first = GENERATE(true, false);
  const std::string end = GENERATE(as<std::string>(), "", ".", "。");
  CAPTURE(form.name, dot, fill_first, end);
  for (std::size_t octets = 240; octets <= 270; ++octets) {
    const std::string domain = domain_of_octets(form.label, dot, octets, fill_first) + end;
    CAPTURE(octets, domain);
    for (const std::string prefix : {"@", "@."}) {
      const Entry entry = canonicalize_line(prefix + domain);
      CHECK(entry.reason() == (octets <= kMaxDomainBytes ? RejectReason::none : RejectReason::domain_too_long));
      if (entry.is_key()) CHECK(entry.key().size() == prefix.size() + octets);
    }
    // The '@' and one octet before it.
    const Entry entry = canonicalize_path("<a@" + domain + ">");
    const RejectReason want = octets <= kMaxAddressBytes - 2 ? RejectReason::none
                              : octets <= kMaxDomainBytes    ? RejectReason::address_too_long
                                                             : RejectReason::domain_too_long;
    CHECK(entry.reason() == want);
    if (entry.is_key()) CHECK(entry.key().size() == octets + 2);
  }
}

TEST_CASE("a label has at most 63 octets, whatever its characters") {
  for (const std::string letter : {"a", "ü", "中", "\U00010000"}) {
    for (std::size_t count = 1; count <= 140; ++count) {
      const std::string label = std::string(count, 'x') + letter;
      CAPTURE(letter, count);
      const Entry entry = canonicalize_line("@" + label + ".example");
      if (entry.is_key()) {
        CHECK(entry.domain().find('.') <= kMaxLabelBytes);
        // The same label by itself, and again: out of what a thread remembers.
        CHECK(wording(canonicalize_line("@" + label)) ==
              "@" + std::string(entry.domain().substr(0, entry.domain().find('.'))));
      } else {
        CHECK(entry.reason() == RejectReason::label_too_long);
        CHECK(count + 1 > (letter == "a" ? kMaxLabelBytes : 54));
      }
    }
  }
}

// Each form of a local part whose canonical form has so many bytes, or nothing where it cannot have them.
std::vector<std::string> local_parts_of(std::size_t bytes) {
  std::vector<std::string> forms = {
      std::string(bytes, 'a'),
      "\"" + std::string(bytes, 'a') + "\"",
      "\"" + repeated("\\a", bytes) + "\"",
      "\" " + std::string(bytes - 3, 'a') + "\"",
      "." + std::string(bytes - 3, 'a'),
      std::string(bytes - 3, 'a') + ".",
      std::string(bytes - 2, 'a') + "é",
      std::string(bytes - 2, 'a') + "e\u0301",
      repeated("e\u0301", (bytes - 1) / 2) + std::string(2 - bytes % 2, 'a'),
      repeated("中", bytes / 3) + std::string(bytes % 3, 'a'),
      repeated("\U00010428", bytes / 4) + std::string(bytes % 4, 'a'),
      repeated("\u023a", bytes / 3) + std::string(bytes % 3, 'a'),  // two bytes that fold to three
      repeated("\u212a", bytes),                                    // three that fold to one
  };
  if (bytes % 2 == 0) forms.push_back("\"" + repeated("\\\"", (bytes - 2) / 2) + "\"");
  return forms;
}

TEST_CASE("a local part has at most 252 bytes, whatever its characters") {
  for (std::size_t bytes = 240; bytes <= 265; ++bytes) {
    for (const std::string& local_part : local_parts_of(bytes)) {
      CAPTURE(bytes, local_part);
      const Entry entry = canonicalize_path("<" + local_part + "@b>");
      CHECK(entry.reason() == (bytes <= kMaxLocalPartBytes ? RejectReason::none : RejectReason::address_too_long));
      if (entry.is_key()) CHECK(entry.local_part().size() == bytes);
      CHECK(wording(canonicalize_line(local_part + "@b")) == wording(entry));
      // With a longer domain, the address is what is limited.
      const Entry longer = canonicalize_path("<" + local_part + "@bcd.e>");
      CHECK(longer.is_key() == (bytes + 6 <= kMaxAddressBytes));
    }
  }
}

TEST_CASE("the limit of a local part includes its tag, also if the tag is removed") {
  const AddressProfile plus{.tag_separators = *TagSeparators::parse("+")};
  for (std::size_t bytes = 240; bytes <= 265; ++bytes) {
    for (const std::string letter : {"x", "é"}) {
      const std::string tag = repeated(letter, (bytes - 4) / letter.size());
      const std::string local_part = "joe" + std::string(bytes - 4 - tag.size(), 'y') + "+" + tag;
      CAPTURE(bytes, local_part);
      const Entry entry = canonicalize_path(local_part + "@b", plus);
      CHECK(entry.is_key() == (bytes <= kMaxLocalPartBytes));
      CHECK(entry.is_key() == canonicalize_path(local_part + "@b").is_key());
    }
  }
}

TEST_CASE("an address literal of any length is accepted or rejected without a read past its end") {
  // An address in 45 octets, as long as one can be, and all that are cut off it or have more.
  const std::string longest = "1111:2222:3333:4444:5555:6666:123.123.123.123";
  REQUIRE(longest.size() == 45);
  CHECK(canonicalize_line("@[IPv6:" + longest + "]").is_key());
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
    const std::string digits(bytes, '1');
    for (const std::string& content : {"IPv6:" + digits, digits, "IPv6:" + longest + digits, "IPv6:" + digits + "::",
                                       "IPv6:" + repeated("1:", bytes), repeated("1.", bytes), longest + digits}) {
      const Entry entry = canonicalize_line("@[" + content + "]");
      const bool is_one = content == "IPv6:" + longest ||
                          (content.ends_with("::") && bytes <= 4);  // nothing but a group of at most four digits
      // One more digit at the end of an IPv4 part makes its number larger than 255, or more than a literal.
      CAPTURE(content);
      CHECK(entry.is_key() == is_one);
      if (!entry.is_key()) CHECK(entry.reason() == RejectReason::bad_address_literal);
    }
    CHECK_FALSE(canonicalize_line("@[IPv6:" + digits).is_key());
    CHECK_FALSE(canonicalize_line("@[" + std::string(bytes, '\xc3') + "]").is_key());
    CHECK_FALSE(canonicalize_line("@[" + repeated("é", bytes) + "]").is_key());
  }
}

TEST_CASE("a path and a line have at most 2,048 octets") {
  for (std::size_t bytes = 2040; bytes <= 2056; ++bytes) {
    const std::string blanks(bytes - 3, ' ');
    const bool is_read = bytes <= kMaxInputBytes;
    CAPTURE(bytes);
    for (const std::string& text : {blanks + "a@b", "a@b" + blanks}) {
      CHECK(canonicalize_path(text).is_key() == is_read);
      CHECK(canonicalize_line(text).is_key() == is_read);
      CHECK(canonicalize_line(text + "\r\n").is_key() == is_read);
    }
    // As long as the buffers inside, in every character of which something has to be made.
    for (const std::string letter : {"a", "é", "中", "\U00010428", "\u212a", "\u023a", "\ufdfa"}) {
      const std::string text = repeated(letter, bytes / letter.size());
      for (const std::string& line : {text + "@b", "\"" + text + "\"@b", "a@" + text, "@" + text, "@." + text,
                                      "<@" + text + ":a@b>", text + " <a@b>", "\"" + text + "\" <a@b>"}) {
        const Entry entry = canonicalize_line(line);
        if (line.size() > kMaxInputBytes) CHECK(entry.reason() == RejectReason::too_long);
        if (entry.is_key()) CHECK(wording(canonicalize_line(entry.key())) == entry.key());
        CHECK((canonicalize_path(line).reason() == RejectReason::too_long) == (line.size() > kMaxInputBytes));
      }
    }
  }
}

TEST_CASE("in a text that is too long no character is looked for, whatever the text") {
  const std::string unseen = "\u200b";
  const Entry entry = canonicalize_line(unseen + std::string(kMaxInputBytes, 'a') + "@example.org");
  CHECK(entry.reason() == RejectReason::too_long);
  CHECK(entry.character() == 0);
}

}  // namespace
}  // namespace bloomgate
