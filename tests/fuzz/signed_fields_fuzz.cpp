// Whatever the header, the body and the record of a key are: what a signature leaves open is found without reading past
// an end, a Subject that is not signed is never overlooked, a mailing list is one that the field names, and a body is
// judged alike in any pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "filter/address/list_id.hpp"
#include "filter/base/ascii.hpp"
#include "milter/dkim/key_record.hpp"
#include "milter/fields/body_check.hpp"
#include "milter/fields/mail_date.hpp"
#include "milter/fields/signed_fields.hpp"

namespace {

using namespace bloomgate;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Answers {
  bool is_enclosed, is_encoded;
};

Answers read_body(const OpenFields& open, std::string_view body, std::size_t piece) {
  BodyCheck check(open.structure, open.encoding);
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) check.add(body.substr(0, piece));
  check.finish();
  return {check.is_enclosed(), check.is_encoded()};
}

}  // namespace

// The input is h=, then fields, each on a line, then an empty line and the body.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  const std::string_view list = take_line();
  SeenFields seen;
  for (std::string_view line = take_line(); !line.empty(); line = take_line()) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view value = line.substr(std::min(colon + 1, line.size()));
    seen.add(line.substr(0, colon), value);
    static_cast<void>(read_mail_date(value));
    static_cast<void>(read_key_record(value, "rsa-sha256"));
    // The host of a list is one that is in the field, and is canonical.
    if (const auto list_id = read_list_id(value)) {
      require(ascii::lower_case(value).find(*list_id) != std::string::npos);
      require(read_list_id("<" + *list_id + ">") == list_id && !list_host(*list_id).empty());
    }
  }
  const SignedNames names(list);
  const OpenFields open = open_fields(seen, names, WatchedFieldSet::of_bits(static_cast<std::uint32_t>(size)));
  require(open.added || names.count(WatchedField::subject) >= seen.count(WatchedField::subject));
  require(open.structure.boundary.size() <= 70);
  const Answers whole = read_body(open, text, size + 1);
  const Answers bytes = read_body(open, text, 1);
  require(whole.is_enclosed == bytes.is_enclosed && whole.is_encoded == bytes.is_encoded);
  return 0;
}
