#include "milter/fields/signed_fields.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// A header, `Name: value` each.
SeenFields seen_in(const std::vector<std::string>& fields) {
  SeenFields seen;
  for (const std::string& field : fields) {
    const std::size_t colon = field.find(':');
    seen.add(field.substr(0, colon), field.substr(colon + 1));
  }
  return seen;
}

// The field that is held against a signature with that h=, or what has to hold of the body; "-" for nothing.
std::string open_in(const std::vector<std::string>& fields, std::string_view names, WatchedFieldSet required = {}) {
  const OpenFields open = open_fields(seen_in(fields), SignedNames(names), required);
  if (open.added) return std::string(field_name(*open.added));
  std::string body;
  if (open.needs_enclosed_body) body += "enclosed by " + open.structure.boundary;
  if (open.needs_encoded_body) body += open.encoding == BodyEncoding::base64 ? " base64" : " quoted-printable";
  return body.empty() ? "-" : body;
}

TEST_CASE("fields that a reader sees must be signed as often as they occur") {
  struct Case {
    std::string_view name;
    std::vector<std::string> fields;
    std::string_view names, want;
  };
  const std::vector<Case> cases = {
      {"nothing beside From", {"From: a"}, "from", "-"},
      {"Subject", {"From: a", "Subject: x"}, "from", "Subject"},
      {"Subject is signed", {"From: a", "Subject: x"}, "from:subject", "-"},
      {"Reply-To", {"From: a", "Reply-To: x"}, "from:subject", "Reply-To"},
      {"Sender", {"From: a", "Sender: x"}, "from:subject", "Sender"},
      {"MIME-Version", {"From: a", "MIME-Version: 1.0"}, "from:subject", "-"},
      {"two MIME-Version", {"From: a", "MIME-Version: 1.0", "MIME-Version: 1.0"}, "from:mime-version", "MIME-Version"},
      {"another version of MIME", {"From: a", "MIME-Version: 2.0"}, "from:subject", "MIME-Version"},
      {"To", {"From: a", "To: x"}, "from:subject", "-"},
      {"two To", {"From: a", "To: x", "To: y"}, "from:to", "To"},
      {"two To that are signed", {"From: a", "To: x", "To: y"}, "from:to:to", "-"},
      {"two From", {"From: a", "From: b"}, "from:subject", "From"},
      {"two List-Unsubscribe", {"From: a", "List-Unsubscribe: x", "List-Unsubscribe: y"}, "from", "-"},
      {"another name that is there often", {"From: a", "Received: x", "Received: y"}, "from", "-"},
      {"in capitals, with spaces", {"FROM: a", "SUBJECT: x"}, " From : Subject ", "-"},
      {"a name that begins like one", {"From: a", "Subject-Line: x"}, "from", "-"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(open_in(c.fields, c.names) == c.want);
  }
}

TEST_CASE("a name that occurs very often in h= is counted up to a bound, without overflow") {
  std::string list;
  for (int times = 0; times < 70'000; ++times) list += "subject:";
  CHECK(SignedNames(list).count(WatchedField::subject) == 65'535);
  CHECK(SignedNames("subject:subject").count(WatchedField::subject) == 2);
}

TEST_CASE("a name with something before its colon counts, since readers differ about it") {
  for (const std::string end : {" ", "\t", " \t ", "\x0b", "\xc2\xa0", "\x7f"}) {
    INFO(end);
    CHECK(open_in({"From: a", "Subject: x", "Subject" + end + ": y"}, "from:subject:subject") == "Subject");
    CHECK(open_in({"From: a", "Subject" + end + ": y"}, "from:subject") == "Subject");
    CHECK(open_in({"From" + end + ": a"}, "from") == "From");
    CHECK(open_in({"From: a", "Content-Type" + end + ": text/plain"}, "from:content-type") == "Content-Type");
    CHECK(open_in({"From: a", "To" + end + ": x"}, "from:to") == "-");
    CHECK(open_in({"From: a", "To: x", "To" + end + ": y"}, "from:to:to") == "To");
  }
}

TEST_CASE("an operator may require further fields to be signed") {
  WatchedFieldSet required;
  required.add(WatchedField::to);
  required.add(WatchedField::list_unsubscribe);
  CHECK(open_in({"From: a", "To: x"}, "from", required) == "To");
  CHECK(open_in({"From: a", "To: x"}, "from:to", required) == "-");
  CHECK(open_in({"From: a", "Cc: x"}, "from", required) == "-");
  CHECK(open_in({"From: a", "List-Unsubscribe: x"}, "from", required) == "List-Unsubscribe");
  CHECK(open_in({"From: a"}, "from", required) == "-");
}

TEST_CASE("unsigned fields about the body may only have harmless values") {
  const std::string mime = "MIME-Version: 1.0";
  const std::string mixed = "Content-Type: multipart/mixed; boundary=\"=_b\"";
  struct Case {
    std::string_view name;
    std::vector<std::string> fields;
    std::string_view names, want;
  };
  const std::vector<Case> cases = {
      {"plain text", {"Content-Type: text/plain; charset=utf-8"}, "from", "-"},
      {"a multipart", {mime, mixed}, "from:mime-version", "enclosed by =_b"},
      {"a multipart of which nothing is signed", {mime, mixed}, "from", "enclosed by =_b"},
      {"a multipart that is signed", {mime, mixed}, "from:mime-version:content-type", "-"},
      {"a multipart without MIME-Version", {mixed}, "from:mime-version", "Content-Type"},
      {"a page", {mime, "Content-Type: text/html"}, "from:mime-version", "Content-Type"},
      {"a page that is signed", {mime, "Content-Type: text/html"}, "from:mime-version:content-type", "-"},
      {"two types, of which one is signed",
       {mime, "Content-Type: text/plain", mixed},
       "from:mime-version:content-type",
       "Content-Type"},
      {"7 bits", {"Content-Transfer-Encoding: 7bit"}, "from", "-"},
      {"quoted-printable", {"Content-Transfer-Encoding: Quoted-Printable"}, "from", " quoted-printable"},
      {"base64", {"Content-Transfer-Encoding: base64"}, "from", " base64"},
      {"base64 that is signed", {"Content-Transfer-Encoding: base64"}, "from:content-transfer-encoding", "-"},
      {"uuencode", {"Content-Transfer-Encoding: x-uuencode"}, "from", "Content-Transfer-Encoding"},
      {"a page that is signed, in an encoding that is not",
       {mime, "Content-Type: text/html", "Content-Transfer-Encoding: base64"},
       "from:mime-version:content-type",
       " base64"},
      {"a name for a file", {"Content-Disposition: attachment; filename=x.html"}, "from", "Content-Disposition"},
      {"inline", {"Content-Disposition: inline"}, "from", "-"},
      {"a name for a file that is signed",
       {"Content-Disposition: attachment; filename=x.html"},
       "from:content-disposition",
       "-"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    std::vector<std::string> fields = c.fields;
    fields.emplace_back("From: a");
    CHECK(open_in(fields, c.names) == c.want);
  }
  WatchedFieldSet required;
  required.add(WatchedField::content_type);
  CHECK(open_in({"From: a", "Content-Type: text/plain"}, "from", required) == "Content-Type");
}

TEST_CASE("the time of a signature is its t=, or else the Date field if that is signed") {
  const auto seconds = [](std::optional<std::string_view> t, const std::vector<std::string>& fields,
                          std::string_view names) {
    const auto time = time_signed(t, seen_in(fields), SignedNames(names));
    return time ? time->time_since_epoch().count() : -1;
  };
  const std::string date = "Date: Sun, 09 Sep 2001 01:46:40 +0000";
  CHECK(seconds("5", {date}, "from:date") == 5);
  CHECK(seconds("", {date}, "from:date") == -1);
  CHECK(seconds("-5", {date}, "from:date") == -1);
  CHECK(seconds("99999999999999999999", {date}, "from:date") == -1);
  CHECK(seconds({}, {date}, "from:date") == 1'000'000'000);
  CHECK(seconds({}, {date}, "from") == -1);
  CHECK(seconds({}, {date, date}, "from:date:date") == -1);
  CHECK(seconds({}, {}, "from:date") == -1);
}

}  // namespace
}  // namespace bloomgate
