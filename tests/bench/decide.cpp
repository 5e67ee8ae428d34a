// What a decision costs, without a mail server: `bench_decide [MESSAGES]`. Prints nanoseconds of processor time a
// message, for a few kinds of messages and policies. Reading the fields comes on top: read_results measures it.
#include "milter/policy/decide.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>

#include "tests/bench/few_entries.hpp"
#include "tests/bench/processor_time.hpp"

namespace {

using namespace bloomgate;

std::string many_entries() {
  std::string text = "@gone.example\n@.trash.example\n";
  for (int i = 0; i < 1'000'000; ++i) text += "user" + std::to_string(i) + "@example.net\n";
  return text;
}

Facts message(std::string_view envelope, std::string from) {
  const std::string_view results[] = {
      "mx.example.net; dkim=pass header.d=example.org header.s=sel; spf=pass smtp.mailfrom=news.example.org",
      "mx.example.net; dmarc=pass (p=reject dis=none) header.from=news.example.org"};
  const std::string ids[] = {"mx.example.net"};
  return {envelope, {HeaderFromKind::one_mailbox, std::move(from)}, Authentication::summarize(results, ids)};
}

void measure(std::string_view name, std::uint64_t messages, const Facts& facts, const Lists& lists,
             const Policy& policy) {
  std::uint64_t delivered = 0;
  const double start = bench::processor_seconds();
  for (std::uint64_t count = 0; count < messages; ++count) {
    if (decide(facts, lists, policy).verdict == Verdict::deliver) ++delivered;
  }
  const double seconds = bench::processor_seconds() - start;
  std::cout << name << ": " << 1e9 * seconds / static_cast<double>(messages) << " ns, "
            << (delivered == messages ? "delivered" : "checked") << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t messages = 200'000;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), messages);
  const bench::FewEntries whitelist({"joe.doe@news.example.org"});
  const bench::FewEntries second({"ann@bank.example"});
  const NamedWhitelist one[] = {{"main", &whitelist}};
  const NamedWhitelist three[] = {{"first", &second}, {"second", &second}, {"main", &whitelist}};
  const std::string entries = many_entries();
  const ExactList revoked = read_exact_list(entries).list;
  const ExactList extra = read_exact_list("vip@extra.example\n").list;
  const Lists plain = {.whitelists = one};
  const Lists full = {.whitelists = three, .revoked = &revoked, .extra = &extra, .revoked_is_configured = true};
  Policy policy;
  const Facts listed = message("<joe.doe@news.example.org>", "joe.doe@news.example.org");
  const Facts unlisted = message("<b-1@mail.service.example>", "x@other.example");
  const Facts batv = message("<prvs=4f2a1b3c5d=joe.doe@news.example.org>", "joe.doe@news.example.org");
  measure("listed, default policy, one whitelist", messages, listed, plain, policy);
  measure("unlisted, default policy, one whitelist", messages, unlisted, plain, policy);
  policy.own_domains = read_exact_list("@.ours.example\n").list;
  policy.trusted_forwarders = {"forwarder.example"};
  policy.identity = IdentityRule::both;
  measure("listed, both identities, own domains, a million revoked, three whitelists", messages, listed, full, policy);
  measure("the same behind BATV", messages, batv, full, policy);
  policy.identity = IdentityRule::either;
  measure("unlisted, either identity, the same lists", messages, unlisted, full, policy);
}
