#include "milter/fields/authentication_results.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "filter/address/characters.hpp"
#include "filter/address/domain.hpp"
#include "filter/address/local_part.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "milter/fields/alignment.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kUsualResults = 4;  // more than most fields have

// The word that equals `text`, in any case; `other` if there is none.
template <typename Word, std::size_t Size>
Word word_of(std::string_view text, const std::array<std::pair<std::string_view, Word>, Size>& words) noexcept {
  const auto found =
      std::ranges::find_if(words, [text](const auto& word) { return ascii::equal_ignoring_case(word.first, text); });
  return found == words.end() ? Word::other : found->second;
}

constexpr std::array<std::pair<std::string_view, AuthenticationMethod>, 4> kMethods = {{
    {"dkim", AuthenticationMethod::dkim},
    {"spf", AuthenticationMethod::spf},
    {"dmarc", AuthenticationMethod::dmarc},
    {"arc", AuthenticationMethod::arc},
}};
constexpr std::array<std::pair<std::string_view, AuthenticationResult>, 9> kResults = {{
    {"pass", AuthenticationResult::pass},
    {"fail", AuthenticationResult::fail},
    {"softfail", AuthenticationResult::softfail},
    {"hardfail", AuthenticationResult::hardfail},
    {"policy", AuthenticationResult::policy},
    {"neutral", AuthenticationResult::neutral},
    {"none", AuthenticationResult::none},
    {"temperror", AuthenticationResult::temperror},
    {"permerror", AuthenticationResult::permerror},
}};

// For methods, results, ptypes and properties.
bool is_keyword_character(char byte) noexcept {
  return characters::is_domain_character(byte);
}

// The bytes of a set, as a table, since every byte of a field is looked up in it.
class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view bytes) noexcept {
    for (const char byte : bytes) is_in_.at(static_cast<unsigned char>(byte)) = true;
  }
  constexpr bool has(char byte) const noexcept { return is_in_[static_cast<unsigned char>(byte)]; }

 private:
  std::array<bool, 256> is_in_{};
};

// What ends an authserv-id: RFC 2045 section 5.1, and RFC 8601 section 5 for bytes beyond ASCII.
constexpr ByteSet kTokenEnds(" ()<>@,;:\\\"/[]?=");
constexpr ByteSet kRawValueEnds(" ;()\"\\");

bool is_token_character(char byte) noexcept {
  return !kTokenEnds.has(byte);
}
bool is_raw_value_character(char byte) noexcept {
  return !kRawValueEnds.has(byte);
}

bool at_boundary(const StructuredReader& reader) noexcept {
  const char next = reader.peek();
  return reader.at_end() || next == ' ' || next == '(' || next == ';';
}

// The domain of `example.org`, `@example.org`, `joe@example.org`, `"joe doe"@example.org` and `<joe@example.org>`;
// empty for any other form.
std::string domain_of(std::string_view value) {
  if (value.starts_with('<') && value.ends_with('>')) value = value.substr(1, value.size() - 2);
  std::size_t at_sign = value.find('@');
  if (value.starts_with('"')) {
    at_sign = local_part_extent(value);
    if (at_sign >= value.size() || value[at_sign] != '@') return {};
  }
  if (at_sign != std::string_view::npos) value.remove_prefix(at_sign + 1);
  Domain domain;
  if (canonicalize_domain(value, domain) != RejectReason::none) return {};
  return std::string(domain.view());
}

// What all properties of one name say together, in canonical form. An empty text makes it useless.
class Property {
 public:
  void add(std::string value) {
    useless_ = useless_ || value.empty() || (seen_ && value != value_);
    seen_ = true;
    value_ = std::move(value);
  }
  bool seen() const noexcept { return seen_; }
  const std::string& value() const noexcept { return useless_ ? kNothing : value_; }

 private:
  static inline const std::string kNothing;

  std::string value_;
  bool seen_ = false;
  bool useless_ = false;
};

class ResultReader {
 public:
  explicit ResultReader(StructuredReader& reader) noexcept : reader_(reader) {}

  // Reads from the method to the `;` that ends its result, or to the end of the field.
  MethodResult read(std::string_view method) {
    MethodResult result;
    result.method = word_of(method, kMethods);
    reader_.skip_cfws();
    if (reader_.take('/')) {
      reader_.skip_cfws();
      const std::string_view version = reader_.take_while(ascii::is_digit);
      if (version.empty()) reader_.fail();
      if (version != "1") result.method = AuthenticationMethod::other;
      reader_.skip_cfws();
    }
    expect('=');
    reader_.skip_cfws();
    result.result = word_of(keyword(), kResults);
    if (!at_boundary(reader_)) reader_.fail();
    for (reader_.skip_cfws(); !reader_.at_end() && !reader_.take(';'); reader_.skip_cfws())
      read_property(result.method);
    result.domain = domain();
    result.signature = {selector_.value(), start_.value()};
    return result;
  }

 private:
  void expect(char byte) noexcept {
    if (!reader_.take(byte)) reader_.fail();
  }

  std::string_view keyword() noexcept {
    const std::string_view word = reader_.take_while(is_keyword_character);
    if (word.empty()) reader_.fail();
    return word;
  }

  void read_property(AuthenticationMethod method) {
    const std::string_view type = keyword();
    reader_.skip_cfws();
    std::string_view name;
    if (reader_.take('.')) {
      reader_.skip_cfws();
      name = keyword();
      reader_.skip_cfws();
    } else if (word_of(type, kMethods) != AuthenticationMethod::other) {
      reader_.fail();  // a result whose `;` is missing
    }
    expect('=');
    reader_.skip_cfws();
    std::string unescaped;
    const std::string_view value = read_value(unescaped);
    if (reader_.failed()) return;
    keep(method, type, name, value);
  }

  // A view into the field or into `unescaped`.
  std::string_view read_value(std::string& unescaped) {
    const std::size_t from = reader_.position();
    std::string_view value;
    if (reader_.peek() == '"') {
      const std::string_view quoted = reader_.quoted_string();
      if (reader_.take('@')) {
        reader_.take_while(is_raw_value_character);
        value = reader_.since(from);
      } else {
        value = unescaped = unquoted(quoted);
      }
    } else {
      value = reader_.take_while(is_raw_value_character);
      if (value.empty() && !reader_.at_end() && reader_.peek() != ';') reader_.fail();
    }
    if (!at_boundary(reader_)) reader_.fail();
    return value;
  }

  // Keeps a property that says what a result of that method is about.
  void keep(AuthenticationMethod method, std::string_view type, std::string_view name, std::string_view value) {
    const auto is = [type, name](std::string_view wanted_type, std::string_view wanted_name) {
      return ascii::equal_ignoring_case(type, wanted_type) && ascii::equal_ignoring_case(name, wanted_name);
    };
    switch (method) {
      case AuthenticationMethod::dkim:
        if (is("header", "d")) domain_.add(domain_of(value));
        if (is("header", "i")) identity_.add(domain_of(value));
        if (is("header", "s")) selector_.add(canonical_selector(value));
        if (is("header", "b")) start_.add(signature_start(value));
        break;
      case AuthenticationMethod::spf:
        if (is("smtp", "mailfrom")) domain_.add(domain_of(value));
        break;
      case AuthenticationMethod::dmarc:
        if (is("header", "from")) domain_.add(domain_of(value));
        break;
      case AuthenticationMethod::arc:
      case AuthenticationMethod::other:
        break;
    }
  }

  std::string domain() const {
    if (!identity_.seen()) return domain_.value();
    if (!domain_.seen()) return identity_.value();
    return is_same_or_below(identity_.value(), domain_.value()) ? domain_.value() : std::string{};
  }

  StructuredReader& reader_;
  Property domain_;
  Property identity_;
  Property selector_;
  Property start_;
};

// Empty if there is none; an empty quoted string is not a name.
std::string read_authserv_id(StructuredReader& reader) {
  reader.skip_cfws();
  const bool quoted = reader.peek() == '"';
  std::string id = quoted ? unquoted(reader.quoted_string()) : std::string(reader.take_while(is_token_character));
  if (id.empty() || !at_boundary(reader)) reader.fail();
  return id;
}

// Reads from after the authserv-id to the `;`.
void skip_version(StructuredReader& reader) noexcept {
  reader.skip_cfws();
  const std::string_view version = reader.take_while(ascii::is_digit);
  if (!version.empty() && (version != "1" || !at_boundary(reader))) reader.fail();
  reader.skip_cfws();
  if (!reader.take(';')) reader.fail();
}

std::vector<MethodResult> read_results(StructuredReader& reader) {
  std::vector<MethodResult> results;
  results.reserve(kUsualResults);
  for (;;) {
    reader.skip_cfws();
    if (!results.empty() && reader.at_end()) return results;
    const std::string_view method = reader.take_while(is_keyword_character);
    if (results.empty() && ascii::equal_ignoring_case(method, "none")) {
      reader.skip_cfws();
      if (reader.take(';')) reader.skip_cfws();
      if (!reader.at_end()) reader.fail();
      return results;
    }
    if (method.empty() || results.size() == kMaxResultsInField) reader.fail();
    results.push_back(ResultReader(reader).read(method));
  }
}

}  // namespace

std::optional<std::string> parse_authserv_id(std::string_view value) {
  // The text after the first `;` matters only if that `;` is in a comment or in quotes.
  for (const std::string_view part : {value.substr(0, value.find(';')), value}) {
    if (part.size() > kMaxAuthenticationResultsBytes) continue;
    const std::optional<std::string> line = unfold(part);
    if (!line) continue;
    StructuredReader reader(*line);
    std::string id = read_authserv_id(reader);
    if (!reader.failed()) return id;
  }
  return std::nullopt;
}

std::optional<AuthenticationResults> parse_authentication_results(std::string_view value) {
  if (value.size() > kMaxAuthenticationResultsBytes) return std::nullopt;
  const std::optional<std::string> line = unfold(value);
  if (!line) return std::nullopt;
  StructuredReader reader(*line);
  AuthenticationResults field;
  field.authserv_id = read_authserv_id(reader);
  skip_version(reader);
  field.results = read_results(reader);
  if (reader.failed()) return std::nullopt;
  return field;
}

}  // namespace bloomgate
