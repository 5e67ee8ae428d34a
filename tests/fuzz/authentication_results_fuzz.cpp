// Whatever bytes come as Authentication-Results: only a trusted field says anything, nothing that was copied into one
// can pose as a result, and a fail never makes anything pass. The input is cut into fields at each byte 0x1e.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/domain.hpp"
#include "milter/fields/authentication.hpp"
#include "milter/fields/grounds.hpp"
#include "milter/fields/result_forgery.hpp"
#include "tests/fuzz/require.hpp"

namespace bloomgate {
namespace {

using test::require;

using Fields = std::vector<std::string>;

const std::string kId = "mx.example.net";
const Fields kIds = {kId};

Authentication summary(const Fields& fields) {
  const std::vector<std::string_view> values(fields.begin(), fields.end());
  return Authentication::summarize(values, kIds);
}

// What is said of a domain, each answer a bit.
unsigned said(const Authentication& authentication, std::string_view domain) {
  const auto bit = [](bool set, unsigned place) { return set ? 1U << place : 0U; };
  return bit(authentication.dkim_aligned(domain, Alignment::strict), 0) |
         bit(authentication.dkim_aligned(domain, Alignment::relaxed), 1) |
         bit(authentication.spf_aligned(domain, Alignment::strict), 2) |
         bit(authentication.spf_aligned(domain, Alignment::relaxed), 3) |
         bit(authentication.dmarc(domain) == Finding::pass, 4) | bit(authentication.arc() == Finding::pass, 5) |
         bit(authentication.dmarc(domain) == Finding::fail, 6);
}
constexpr unsigned kStrictPasses = 1U << 0U | 1U << 2U | 1U << 4U;
constexpr unsigned kFail = 1U << 6U;

bool is_canonical(const std::string& text) {
  Domain domain;
  return canonicalize_domain(text, domain) == RejectReason::none && domain.view() == text;
}

// A pass is supported by the signature that it names, and by none that only differs in that name; nor does it count
// beside one of the same name that leaves everything open.
void check_signature(const MethodResult& result, const std::string& value) {
  const auto& [selector, start] = result.signature;
  require(selector.empty() || (is_canonical(selector) && selector[0] != '['), "selectors are canonical", value);
  require(start.empty() || signature_start(start) == start, "starts are canonical", value);
  const bool is_named = !selector.empty() || !start.empty();
  require(result.method == AuthenticationMethod::dkim || !is_named, "only DKIM names a signature", value);
  if (result.method != AuthenticationMethod::dkim || result.domain.empty() || result.domain[0] == '[') return;
  const std::string domain = "v=1; d=" + result.domain;
  const std::string same = domain + "; s=" + (selector.empty() ? "any" : selector) + "; b=" + start + "AAAAaaaa";
  const auto is_supported = [&result](std::initializer_list<std::string> signatures) {
    Grounds grounds;
    grounds.begin("mail.example.org", "<joe@example.org>");
    for (const std::string& signature : signatures) grounds.add_signature(signature);
    return grounds.support(result.method, result.domain, result.signature);
  };
  const std::string other =
      domain + "; s=x." + selector.substr(0, 200) + "; b=" + (start.starts_with('A') ? "B" : "A") + start + "AAAAaaaa";
  require(is_supported({same}), "a result is supported by its own signature", value);
  require(is_supported({other}) == !is_named, "a result is not supported by another signature", value);
  require(!is_supported({same, same + "; l=1"}), "a result can be about each signature of its name", value);
}

// Adds the domains that the field's results are about.
void check_field(const std::string& value, Fields& domains) {
  const auto field = parse_authentication_results(value);
  require(parse_authentication_results(value) == field, "the same field is read the same way", value);
  if (!field) return;
  require(parse_authserv_id(value) == field->authserv_id, "the authserv-id is the same alone", value);
  require(!field->authserv_id.empty(), "there is an authserv-id", value);
  require(field->results.size() <= kMaxResultsInField, "the results are bounded", value);
  for (const MethodResult& result : field->results) {
    check_signature(result, value);
    if (result.domain.empty()) continue;
    require(is_canonical(result.domain), "domains are canonical", value);
    domains.push_back(result.domain);
  }
}

Authentication summary(const Fields& fields, const std::string& sender, const std::string& signature) {
  const std::vector<std::string_view> values(fields.begin(), fields.end());
  Grounds grounds;
  grounds.begin("mail.example.org", sender);
  if (!signature.empty()) grounds.add_signature(signature);
  return Authentication::summarize(values, kIds, grounds, {});
}

void check_grounds(const Fields& fields, const std::string& domain) {
  const unsigned believed = said(summary(fields), domain) & ~kFail;
  const unsigned supported = said(summary(fields, "<joe@" + domain + ">", "v=1; d=" + domain), domain) & ~kFail;
  require((supported & ~believed) == 0, "grounds make nothing pass", domain);
  require((said(summary(fields, "<>", ""), domain) & kStrictPasses) == 0, "without grounds nothing passes", domain);
}

void check_domain(const Fields& fields, const std::string& domain) {
  const Authentication all = summary(fields);
  const unsigned before = said(all, domain);
  if (all.trusted_fields() == 0) require(before == 0 || all.is_distrusted(), "only trusted fields speak", domain);

  Fields more = fields;
  more.push_back("mx.example.com; dkim=pass header.d=" + domain + "; dmarc=fail header.from=" + domain);
  require(said(summary(more), domain) == before, "a stranger's field changes nothing", domain);
  more.push_back(kId + "; dkim=pass header.d=" + domain + "; dmarc=pass header.from=" + domain + "; nonsense");
  require(said(summary(more), domain) == before, "a field that does not parse says nothing", domain);
  std::reverse(more.begin(), more.end());
  require(said(summary(more), domain) == before, "the order says nothing", domain);

  Fields failed = fields;
  failed.push_back(kId + "; dkim=fail header.d=" + domain + "; spf=fail smtp.mailfrom=" + domain +
                   "; dmarc=fail header.from=" + domain);
  const unsigned after = said(summary(failed), domain);
  require((after & kStrictPasses) == 0, "after a fail nothing passes for that domain", domain);
  require((after & ~before & ~kFail) == 0, "a fail makes nothing pass", domain);
}

// The text as a careful writer puts it into a comment or a quoted string.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    if (byte == '"' || byte == '\\' || byte == '(' || byte == ')') result.push_back('\\');
    result.push_back(static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f ? ' ' : byte);
  }
  return result;
}

// What is read of a field by us that holds a stranger's text; it has one result, of this domain or without.
void check_copied(const std::string& results, std::string_view domain, const char* what) {
  const auto field = parse_authentication_results(kId + "; " + results);
  if (!field) return;
  require(field->results.size() == 1, what, results);
  require(field->results[0].domain.empty() || field->results[0].domain == domain, what, results);
}

std::string decoded(std::string_view identity) {
  std::string text;
  for (std::size_t at = 0; at < identity.size(); ++at) {
    if (identity[at] == '=') {
      text.push_back(static_cast<char>(std::stoi(std::string(identity.substr(at + 1, 2)), nullptr, 16)));
      at += 2;
    } else {
      text.push_back(identity[at]);
    }
  }
  return text;
}

void check_stranger(const std::string& text) {
  check_copied("dkim=pass (" + escaped(text) + ") reason=\"" + escaped(text) + "\" header.d=evil.example",
               "evil.example", "what is escaped is text");
  if (!helo_can_forge_results(text)) {
    check_copied("spf=pass (mailfrom) smtp.mailfrom=evil.example (helo=" + text + "; x=y)", "evil.example",
                 "a harmless greeting is text");
  }
  if (!sender_can_forge_results(text)) {
    check_copied("dkim=pass (from " + text + ") smtp.mailfrom=" + text + " header.d=evil.example", "evil.example",
                 "a harmless sender is text");
    check_copied("dkim=pass (from \"" + text + "\") header.d=evil.example", "evil.example",
                 "a harmless sender in quotes is text");
  }
  const bool one_tag = text.find(';') == std::string::npos && text.find_first_of(" \t\r\n") == std::string::npos;
  if (one_tag && !signature_can_forge_results("v=1; d=evil.example; i=" + text)) {
    check_copied("dkim=fail header.d=evil.example header.i=" + decoded(text) + " header.b=x", "evil.example",
                 "a harmless identity is text");
  }
}

void check_input(std::string_view input) {
  Fields fields;
  Fields domains = {"bank.example"};
  for (std::size_t start = 0; start <= input.size() && fields.size() < 32;) {
    const std::size_t end = std::min(input.find('\x1e', start), input.size());
    fields.emplace_back(input.substr(start, end - start));
    check_field(fields.back(), domains);
    check_stranger(fields.back());
    start = end + 1;
  }
  const Authentication all = summary(fields);
  require(all.trusted_fields() + all.ignored_fields() + all.unreadable_fields() == fields.size(), "all are counted",
          input);
  domains.resize(std::min<std::size_t>(domains.size(), 4));
  for (const std::string& domain : domains) {
    check_domain(fields, domain);
    check_grounds(fields, domain);
  }
}

}  // namespace
}  // namespace bloomgate

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bloomgate::check_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
