// What reading a message's From and Authentication-Results fields costs, without a mail server: `read_results
// [MESSAGES]`. Prints nanoseconds of processor time a message, for each part and for all.
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "milter/fields/authentication.hpp"
#include "tests/bench/processor_time.hpp"

namespace {

using namespace bloomgate;

const std::vector<std::string_view> kFrom = {"\"Joe Q. Doe\" <joe.doe@news.example.org>"};
const std::vector<std::string_view> kEncodedFrom = {"=?utf-8?q?J=C3=B8rn_D=C3=B8e?= <joern.doe@news.example.org>"};
const std::vector<std::string_view> kResults = {
    "mx.example.net;\n\tdkim=pass (2048-bit key; unprotected) header.d=example.org header.i=@example.org "
    "header.a=rsa-sha256 header.s=sel header.b=\"abC/+d8=\";\n\tdkim-atps=neutral",
    "mx.example.net; spf=pass (mailfrom) smtp.mailfrom=news.example.org\n\t(client-ip=192.0.2.1; "
    "helo=mail.example.org;\n"
    "\tenvelope-from=joe.doe@news.example.org; receiver=<UNKNOWN>)",
    "mx.example.net; dmarc=pass (p=reject dis=none) header.from=news.example.org"};
const std::vector<std::string> kIds = {"mx.example.net"};
constexpr std::string_view kSignature =
    "v=1; a=rsa-sha256; c=relaxed/simple; d=example.org;\n\ts=sel; t=1700000000; h=From:To:Subject:Date;\n"
    "\tbh=47DEQpj8HBSa+/"
    "TImW+5JCeuQeRkm5NMpJWZG3hSuFU=;\n\tb=dzdVyOfAKCdLXdJOc9G2q8LoXSlEniSbav+yuU4zGeeruD00lszZVoG4ZHRNiYzR";

// `part` gives something that depends on all that it did.
void measure(std::string_view name, std::uint64_t messages, const std::function<std::size_t()>& part) {
  std::size_t sum = part();
  const double start = bench::processor_seconds();
  for (std::uint64_t count = 0; count < messages; ++count) sum += part();
  const double seconds = bench::processor_seconds() - start;
  std::cout << name << ": " << 1e9 * seconds / static_cast<double>(messages) << " ns (" << sum << ")\n";
}

std::size_t read_message() {
  const HeaderFrom from = parse_header_from(kFrom);
  Grounds grounds;
  grounds.begin("mail.example.org", "<joe.doe@news.example.org>");
  grounds.add_signature(kSignature);
  const Authentication found = Authentication::summarize(kResults, kIds, grounds, from);
  return from.address.size() + (found.dmarc("news.example.org") == Finding::pass ? 1 : 0) +
         (found.dkim_aligned("news.example.org", Alignment::relaxed) ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t messages = 200'000;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), messages);
  measure("From", messages, [] { return parse_header_from(kFrom).address.size(); });
  measure("From, encoded", messages, [] { return parse_header_from(kEncodedFrom).address.size(); });
  measure("Authentication-Results, three fields", messages,
          [] { return Authentication::summarize(kResults, kIds).trusted_fields(); });
  measure("all of a message", messages, read_message);
}
