// What a client asks of the socket for look-ups by HTTP, as a query, as a body and as a message: whatever the bytes
// are, a sender who is looked up has no control byte of a query, and a body has a word for each line.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "filter/base/ascii.hpp"
#include "milter/lookup/http_lookup.hpp"
#include "milter/lookup/posted_message.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;
using test::require;

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, ascii::is_control);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const HttpAnswer one = answer_over_http({.target = text}, [](const SenderQuestion& question) {
    require(is_printable(question.sender) && is_printable(question.recipient));
    return SenderStanding::listed;
  });
  require(one.status == 200 ? one.body == "listed\n" : one.status == 400 || one.status == 404 || one.status == 405);
  if (const auto named = named_sender(text)) require(named->address.size() + named->recipient.size() <= size);

  std::size_t asked = 0;
  const HttpAnswer many =
      answer_over_http({.target = "/senders", .posted = text}, [&asked, size](const SenderQuestion& question) {
        require(question.sender.size() + question.recipient.size() <= size);
        ++asked;
        return SenderStanding::neither;
      });
  require(many.status == 200 || (many.status == 413 && asked == 0));
  if (many.status == 200) require(many.body.size() == asked * 8);
  require(asked <= kMaxPostedLines);

  HttpFields fields;
  for (std::string_view rest = text; !rest.empty() && fields.size() < 2000;) {
    std::string_view value = next_part(rest, '\n');
    const std::string_view name = next_part(value, ':');
    fields.emplace_back(name, value);
  }
  std::string fault;
  if (const auto envelope = posted_envelope(fields, fault)) {
    require(envelope->from.starts_with('<') && envelope->from.ends_with('>') && is_printable(envelope->from));
    require(envelope->to.size() <= kMaxPostedRecipients);
    require(is_printable(envelope->helo) && is_printable(envelope->login) && is_printable(envelope->queue_id));
  } else {
    require(!fault.empty());
  }
  // Header and body are the text, but for line ends.
  const PostedText message = split_posted(text);
  if (!message.fault.empty()) {
    require(message.fields.empty() && message.body.empty());
  } else {
    require(text.ends_with(message.body));
    std::size_t bytes = message.body.size();
    for (const HeaderField& field : message.fields) {
      require(!field.name.empty() && starts_field(field.name + ':'));
      bytes += field.name.size() + 1 + field.value.size();
    }
    require(bytes <= size);
  }
  return 0;
}
