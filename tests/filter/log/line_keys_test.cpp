#include "filter/log/line_keys.hpp"

#include <set>

#include "filter/log/daemon_line.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// Written for a person alone.
const std::set<std::string_view> kNotRead = {"proof", "key_bits", "key_ms", "dnssec", "action", "server"};

// Whether the value is in what is read of the line.
bool is_read(const std::string& line, std::string_view value) {
  if (const auto read = read_decision_line(line)) {
    for (const std::string_view text : {read->decision,       read->queue_id,     read->sender,
                                        read->header_from,    read->reason,       read->identity,
                                        read->authentication, read->whitelist,    read->confirmed,
                                        read->deep_check,     read->child_signer, read->child_of,
                                        read->entry,          read->signer,       read->fault,
                                        read->dkim,           read->domain,       read->selector,
                                        read->recipients,     read->listed_for,   read->signed_by.front()}) {
      if (text == value) return true;
    }
    if (read->forged_fields != 0 || read->decision_seconds || read->confirm_seconds || read->check_seconds) return true;
  }
  const auto sample = read_sample_line(line);
  return sample && (sample->answer == value || sample->score == value);
}

TEST_CASE("each key of the table is read, except the keys that are known to be unread") {
  for (const std::string_view name : kLineKeys) {
    INFO(name);
    const LineKey key = *LineKey::find(name);
    CHECK(key.name() == name);
    std::string value = "17";
    if (name == "decision") value = "check";
    std::string line;
    if (name != "queue_id") add_word(line, "queue_id", "Q");
    add_word(line, key, value);
    if (name != "decision") add_word(line, "decision", "check");
    if (name != "reason") add_word(line, "reason", "not-listed");
    if (name == "score") add_word(line, "sample", "spam");
    CHECK(is_read(line, value) != kNotRead.contains(name));
  }
}

TEST_CASE("no other word is a key") {
  for (const char* name : {"", "queue", "queue_id=", "QUEUE_ID", "sender "}) CHECK_FALSE(LineKey::find(name));
}

}  // namespace
}  // namespace bloomgate
