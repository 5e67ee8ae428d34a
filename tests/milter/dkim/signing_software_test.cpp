// What the manual says of common signing software: each row is composed here, tried, and held against the page.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/signature_choice.hpp"
#include "milter/fields/signed_fields.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Fields = std::vector<std::string>;

struct Software {
  std::string name;
  std::string names;  // its h= for that message
  Fields fields;      // of an ordinary message, beside From
};

constexpr std::string_view kType = "Content-Type: multipart/alternative; boundary=\"b\"";

Fields ordinary(const Fields& more = {}) {
  Fields fields = {"To: ann@example.net",         "Subject: test",     "Date: Wed, 25 Nov 2026 10:00:00 +0000",
                   "Message-ID: <1@example.org>", "MIME-Version: 1.0", std::string(kType)};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

const Software kSoftware[] = {
    {"Gmail", "to:subject:message-id:date:from:mime-version:from:to:cc:subject:date:message-id:reply-to", ordinary()},
    {"Microsoft 365", "From:Date:Subject:Message-ID:Content-Type:MIME-Version", ordinary()},
    {"OpenDKIM", "Date:To:From:Subject:From", ordinary()},
    {"rspamd",
     "from:from:reply-to:subject:subject:date:date:message-id:message-id:to:to:cc:mime-version:mime-version:content-"
     "type:"
     "content-type",
     ordinary()},
    {"Exim",
     "From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:In-Reply-"
     "To:"
     "References:List-Id:List-Unsubscribe",
     ordinary()},
    {"Mailman 2 behind OpenDKIM", "Date:To:From:Subject:List-Id:List-Unsubscribe:From",
     ordinary({"Sender: list-bounces@example.org", "List-Id: <list.example.org>",
               "List-Unsubscribe: <mailto:list-leave@example.org>"})},
};

// What becomes of a signature with these names, before its key is asked for.
std::string outcome(const Software& software, const Fields& fields, const VerifyRules& rules) {
  Fields all = {"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=s1; t=1795600800; h=" +
                    software.names + "; bh=x; b=y",
                "From: joe@example.org"};
  all.insert(all.end(), fields.begin(), fields.end());
  const std::vector<std::string_view> header(all.begin(), all.end());
  VerifyRequest request = {
      .header = header, .need = {}, .now = std::chrono::sys_seconds(std::chrono::seconds(1'795'600'800))};
  request.need.domains[0].append("example.org");
  const SignatureCandidate candidate = choose_signatures(request, rules).candidates.at(0);
  return std::string(candidate.is_worth_verifying ? "" : signature_outcome_name(candidate.signature.outcome));
}

std::string told(const std::string& fault, const std::string& end) {
  return fault.empty() ? "counts" + end : "does not count\n.Pq Ql " + fault + " " + end;
}

// Names between colons, as a line of the page that may be broken after each of these.
std::string breakable(const std::string& names) {
  std::string text;
  for (const char byte : names) text += byte == ':' ? ":\\:" : std::string(1, byte);
  return text;
}

// As the page has it.
std::string row(const Software& software) {
  VerifyRules strict;
  for (const auto field : {WatchedField::to, WatchedField::cc, WatchedField::date}) strict.cover.required.add(field);
  Fields html = software.fields;
  std::ranges::replace(html, std::string(kType), std::string("Content-Type: text/html"));
  return ".It " + software.name + "\n.Ql " + breakable(software.names) + "\n.br\nA message in parts " +
         told(outcome(software, software.fields, {}), ";") + "\na message of HTML alone " +
         told(outcome(software, html, {}), ";") + "\nwith\n.Cm require-signed No = To Cc Date\none in parts " +
         told(outcome(software, software.fields, strict), ".") + "\n";
}

TEST_CASE("the manual gives the outcome of an ordinary message for each common signing program") {
  const std::string page = test::read_file(test::source_folder() + "/config/bloomgate-milter.conf.5");
  std::string wanted;
  for (const Software& software : kSoftware) wanted += row(software);
  const bool is_there = page.find(wanted) != std::string::npos;
  if (!is_there) test::write_file("signing-software.wanted", wanted);
  INFO("the lines that the page has to have are in signing-software.wanted of this folder");
  CHECK(is_there);
}

// If a signature covers a field that is not there, the field changes what the signature is of.
TEST_CASE("no attacker can add a visible field to an ordinary message") {
  for (const Software& software : kSoftware) {
    for (const auto field : {WatchedField::subject, WatchedField::reply_to, WatchedField::sender}) {
      const std::string name(field_name(field));
      INFO(software.name << " " << name);
      const auto is_it = [&](const std::string& each) { return each.starts_with(name + ":"); };
      const auto before = static_cast<std::size_t>(std::ranges::count_if(software.fields, is_it));
      Fields fields = {name + ": x"};
      fields.insert(fields.end(), software.fields.begin(), software.fields.end());
      const bool changes_what_is_signed = SignedNames(software.names).count(field) > before;
      CHECK((changes_what_is_signed || outcome(software, fields, {}).starts_with("field-added-")));
    }
  }
}

}  // namespace
}  // namespace bloomgate
