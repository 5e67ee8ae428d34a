// A whole session of callbacks, in any order, as libmilter might call them and as it never would. The input is a
// script, a callback a line: its letter, then its text, in which 0x1f stands for a line feed.
//
//     N              negotiation           D NAME: VALUE  a header field
//     C ADDRESS      a client connects     O              the end of the header
//     H NAME         its greeting          B TEXT         a part of the body
//     M PATH         MAIL                  E              the end of the message
//     R PATH         RCPT                  A              the message is given up
//     L NAME         its login; until      Q              the connection is closed
//                    the next, all messages have it
//
// Each script is played without a deeper check, and with one that has its answer from the text: it says spam, reject or
// nothing at all where that has the word.
//
// What must hold: every message ends with a mark or, where it is exempt, without one, or is refused by the deeper
// check or for too many forged fields; what it came with is removed, from the last to the first; only what a trusted
// field lets pass is delivered, and is not shown to the checker; a message is decided the same without those before it;
// the log gets one line for it, whatever bytes it has.
#include <arpa/inet.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "filter/system/bus_fault.hpp"
#include "milter/fields/field_name.hpp"
#include "milter/policy/decide.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"

namespace bloomgate {
namespace {

using test::require;

// Counts the lines and looks at their bytes.
class LineSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  std::size_t lines() const noexcept { return lines_; }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const auto is_control = [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; };
    require(std::ranges::none_of(text, is_control), "a line of the log is one line", text);
    if (text.starts_with("queue_id=")) ++lines_;
  }
  void flush_() override {}

  std::size_t lines_ = 0;
};

struct World {
  World() {
    install_bus_fault_handler();
    slot.set(whitelist.load_alone());
    parts.judge = &judge;
    parts.record = &record;
    parts.host_name = "mx.example.net";
    parts.in_progress = &in_progress;
    parts.log = log;
  }

  void set_deep(bool is_asked) {
    parts.deep_check = is_asked ? deep : nullptr;
    set_connection_parts(&served);
  }

  DeepResult answer(const MessageText& text) {
    ++asked;
    std::string whole(static_cast<std::size_t>(text.size()), '\0');
    whole.resize(text.read(0, whole));
    if (whole.find("nothing") != std::string::npos) throw std::runtime_error("nothing\nto say");
    DeepResult result;
    if (whole.find("spam") != std::string::npos) result.verdict = DeepVerdict::spam;
    if (whole.find("reject") != std::string::npos) result.verdict = DeepVerdict::reject;
    return result;
  }

  // Small enough for long messages to be cut off, and kept in memory alone.
  static DeepCheckOptions deep_options() {
    return {.max_bytes = 2000,
            .memory_bytes = 2000,
            .on_spam = SpamAction::quarantine,
            .on_failure = CheckFailureAction::tag};
  }

  static JudgeRules rules() {
    JudgeRules rules;
    rules.policy.exempt_logged_in = true;
    rules.trusted_authserv_ids = {"mx.example.net"};
    return rules;
  }

  std::shared_ptr<LineSink> sink = std::make_shared<LineSink>();
  std::shared_ptr<spdlog::logger> log = std::make_shared<spdlog::logger>("fuzz", sink);
  test::WhitelistFile whitelist{{"joe@example.org", "@corp.example"}};
  ListSlot slot;
  ResultsWatch results;
  Record record{log};
  Judge judge{rules(), slot, results, record, {[] {}, [] {}}};
  MessagesInProgress in_progress;
  std::shared_ptr<const DeepCheck> deep =
      std::make_shared<DeepCheck>(deep_options(), [this](const auto&, const auto& text) { return answer(text); });
  int asked = 0;
  ConnectionParts parts;
  PartsSlot served{std::shared_ptr<const ConnectionParts>(std::shared_ptr<void>(), &parts)};
};

struct Step {
  char letter = 0;
  std::string text;
};

std::vector<Step> steps_of(std::string_view script) {
  std::vector<Step> steps;
  while (!script.empty() && steps.size() < 200) {
    std::string_view line = script.substr(0, script.find('\n'));
    script.remove_prefix(std::min(line.size() + 1, script.size()));
    // libmilter hands over strings that end at the first NUL.
    line = line.substr(0, line.find('\0'));
    if (line.empty()) continue;
    Step step{line.front(), std::string(line.substr(std::min<std::size_t>(line.size(), 2)))};
    std::ranges::replace(step.text, '\x1f', '\n');
    steps.push_back(std::move(step));
  }
  return steps;
}

// What a message depends on, beside who sends it.
constexpr std::string_view kOfMessage = "RDOBE";

// One connection, and what is known of the message on it without asking the code under test.
class Player {
 public:
  explicit Player(World& world) : world_(world) { server_.context().macros["j"] = "mx.example.net"; }

  void play(const Step& step) {
    if (kOfMessage.find(step.letter) != std::string_view::npos) message_.push_back(step);
    switch (step.letter) {
      case 'N':
        begin();
        server_.negotiate();
        break;
      case 'C':
        connect(step);
        break;
      case 'H':
        greeting_ = step;
        server_.helo(step.text);
        break;
      case 'L':
        login_ = step;
        server_.context().macros["{auth_authen}"] = step.text;
        break;
      case 'M':
        forget();
        message_ = {login_, client_, greeting_, step};
        is_exempt_ = !login_.text.empty();
        has_grounds_ = step.text.find('@') != std::string::npos;
        server_.mail(step.text);
        break;
      case 'R':
        server_.recipient(step.text);
        break;
      case 'D':
        header(step.text);
        break;
      case 'O':
        server_.end_of_header();
        break;
      case 'B':
        server_.body(step.text);
        break;
      case 'E':
        end();
        break;
      case 'A':
        forget();
        server_.abort();
        break;
      case 'Q':
        begin();
        server_.close();
        break;
      default:  // no callback
        break;
    }
  }

  const std::vector<std::string>& edits() const noexcept { return server_.edits(); }

 private:
  void forget() {
    message_.clear();
    is_exempt_ = false;
    forged_ = 0;
    spam_fields_.clear();
    has_pass_ = false;
    has_grounds_ = false;
    has_long_name_ = false;
  }

  // A negotiation, like a close, leaves nothing of what was said on the connection before.
  void begin() {
    forget();
    client_ = greeting_ = {};
  }

  void connect(const Step& step) {
    forget();
    client_ = step;
    greeting_ = {};
    sockaddr_in6 unused = {};
    const bool is_address =
        inet_pton(AF_INET, step.text.c_str(), &unused) == 1 || inet_pton(AF_INET6, step.text.c_str(), &unused) == 1;
    server_.connect(is_address ? step.text.c_str() : nullptr);
  }

  void header(const std::string& field) {
    const std::string name = field.substr(0, field.find(':'));
    const std::string value = field.substr(std::min(name.size() + 1, field.size()));
    std::string lower = value;
    std::erase(lower, '\\');
    std::ranges::transform(lower, lower.begin(),
                           [](char byte) { return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte; });
    has_pass_ =
        has_pass_ || (lower.find("mx.example.net") != std::string::npos && lower.find("pass") != std::string::npos);
    has_grounds_ = has_grounds_ || is_header(name, "DKIM-Signature");
    forged_ += is_our_header(name) ? 1 : 0;
    note_spam_field(name);
    server_.header(name, value);
  }

  // By their names in lower case: how often each came, and how it was written first.
  void note_spam_field(std::string name) {
    name.resize(name.find_last_not_of(" \t") + 1);
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(),
                           [](char byte) { return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte; });
    if (!lower.starts_with("x-spam")) return;
    const auto known = std::ranges::find(spam_fields_, lower, &SpamField::lower);
    if (known != spam_fields_.end()) {
      ++known->count;
    } else {
      spam_fields_.push_back({lower, name, 1});
    }
    has_long_name_ = has_long_name_ || name.size() > 1000;
  }

  void end() {
    const std::size_t lines = world_.sink->lines();
    const int asked = world_.asked;
    answer_ = server_.end_of_message();
    require(world_.sink->lines() == lines + 1, "every message has its line in the log", "");
    const bool is_checked = world_.asked != asked;
    if (answer_ == SMFIS_CONTINUE) {
      check_edits(server_.edits(), is_checked);
    } else {
      require(answer_ == SMFIS_REJECT, "a message is refused for good", "");
      require(has_too_many_forged_fields(true) || is_checked, "a message is refused for a reason", "");
    }
    if (!replaying_) replay();
    forget();
  }

  // A script is too short for a message with so many other fields that its forged ones are too many.
  bool has_too_many_forged_fields(bool with_results) const {
    if (world_.parts.deep_check == nullptr) with_results = false;
    std::size_t count = static_cast<std::size_t>(forged_);
    for (const SpamField& field : spam_fields_) count += with_results ? static_cast<std::size_t>(field.count) : 0;
    return count > ForgedFields::kMaxRemovals || (with_results && has_long_name_);
  }

  void check_edits(std::vector<std::string> edits, bool is_checked) const {
    require(!has_too_many_forged_fields(!is_exempt_), "a message with too many forged fields is refused", "");
    for (int index = forged_; index >= 1; --index) take(edits, "delete " + std::to_string(index));
    if (world_.parts.deep_check != nullptr && !edits.empty()) {
      for (const SpamField& field : spam_fields_) {
        for (int index = field.count; index >= 1; --index) {
          take(edits, "delete " + field.name + " " + std::to_string(index));
        }
      }
    }
    if (!edits.empty() && edits.back().starts_with("quarantine ")) edits.pop_back();
    if (edits.empty()) {
      require(!is_checked, "an exempt message is not shown to the checker", "");
      return require(is_exempt_, "only exempt messages are not marked", "");
    }
    const std::string mark = edits.back();
    edits.pop_back();
    const bool is_delivered = mark.starts_with("insert 0 deliver; reason=listed");
    require(is_delivered || mark.starts_with("insert 0 check; reason="), "a mark is check or deliver", mark);
    const bool has_results = world_.parts.deep_check != nullptr && !is_delivered;
    require(edits.empty() != has_results, "what is to be checked, and nothing else, gets results", mark);
    for (const std::string& edit : edits) require(edit.starts_with("insert 0 X-Spam"), "results are results", edit);
    if (!is_delivered) return;
    require(!is_checked, "what is delivered is not shown to the checker", mark);
    require(has_pass_, "nothing is delivered without a pass in a trusted field", mark);
    require(has_grounds_, "nothing is delivered without a sender or a signature", mark);
    const auto is_control = [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; };
    require(std::ranges::none_of(mark, is_control), "a mark is one line", mark);
  }

  static void take(std::vector<std::string>& edits, const std::string& wanted) {
    require(!edits.empty() && edits.front() == wanted, "forged fields are removed", wanted);
    edits.erase(edits.begin());
  }

  // The same message alone on a connection of its own.
  void replay() const {
    Player other(world_);
    other.replaying_ = true;
    for (const Step& step : message_) other.play(step);
    require(other.answer_ == answer_ && other.edits() == server_.edits(),
            "a message is decided the same without those before it", "");
  }

  World& world_;
  test::FakeMailServer server_;
  std::vector<Step> message_;  // all that it depends on
  Step login_, client_, greeting_;
  bool is_exempt_ = false;
  int forged_ = 0;
  struct SpamField {
    std::string lower, name;
    int count = 0;
  };
  std::vector<SpamField> spam_fields_;
  bool has_long_name_ = false;
  sfsistat answer_ = SMFIS_CONTINUE;
  bool has_pass_ = false;
  bool has_grounds_ = false;
  bool replaying_ = false;
};

void check_input(std::string_view script) {
  static World world;
  for (const bool is_asked : {false, true}) {
    world.set_deep(is_asked);
    Player player(world);
    for (const Step& step : steps_of(script)) player.play(step);
  }
  require(world.in_progress.wait_for_none({}) == 0, "no message is left behind", "");
}

}  // namespace
}  // namespace bloomgate

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bloomgate::check_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
