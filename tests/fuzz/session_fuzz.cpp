// A whole session of callbacks, in any order, as libmilter might call them and as it never would. The input is a
// script, a callback a line: its letter, then its text, in which 0x1f stands for a line feed.
//
//     N              negotiation           D NAME: VALUE  a header field
//     C ADDRESS      a client connects     E              the end of the message
//     H NAME         its greeting          A              the message is given up
//     M PATH         MAIL                  Q              the connection is closed
//     L NAME         its login; until the next, all messages have it
//
// What must hold: every message ends with a mark or, where it is exempt, without one; what it came with is removed,
// from the last to the first; only what a trusted field lets pass is delivered; a message is decided the same without
// those before it; the log gets one line for it, whatever bytes it has.
#include <arpa/inet.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "filter/bus_fault.hpp"
#include "milter/policy/header_field.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/fake_libmilter.hpp"

namespace bloomgate {
namespace {

void require(bool holds, const char* what, std::string_view where) {
  if (holds) return;
  std::cerr << "does not hold: " << what << "\nof: " << where << '\n';
  std::abort();
}

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
    context = {
        .gate = &gate, .in_progress = &in_progress, .log = log, .host_name = "mx.example.net", .fallback_host = ""};
    set_callback_context(&context);
  }

  static GateRules rules() {
    GateRules rules;
    rules.policy.exempt_logged_in = true;
    rules.trusted_authserv_ids = {"mx.example.net"};
    return rules;
  }

  std::shared_ptr<LineSink> sink = std::make_shared<LineSink>();
  std::shared_ptr<spdlog::logger> log = std::make_shared<spdlog::logger>("fuzz", sink);
  test::WhitelistFile whitelist{{"joe@example.org", "@corp.example"}};
  ListSlot slot;
  ResultsWatch results;
  Gate gate{rules(), slot, results, log, {[] {}, [] {}}};
  MessagesInProgress in_progress;
  CallbackContext context;
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

// One connection, and what is known of the message on it without asking the code under test.
class Player {
 public:
  explicit Player(World& world) : world_(world) { server_.context().macros["j"] = "mx.example.net"; }

  void play(const Step& step) {
    if (step.letter == 'D' || step.letter == 'E') message_.push_back(step);
    switch (step.letter) {
      case 'N':
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
      case 'D':
        header(step.text);
        break;
      case 'E':
        end();
        break;
      case 'A':
        forget();
        server_.abort();
        break;
      case 'Q':
        forget();
        client_ = greeting_ = {};
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
    has_pass_ = false;
    has_grounds_ = false;
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
    server_.header(name, value);
  }

  void end() {
    const std::size_t lines = world_.sink->lines();
    const sfsistat answer = server_.end_of_message();
    require(answer == SMFIS_CONTINUE, "every message goes on", "");
    require(world_.sink->lines() == lines + 1, "every message has its line in the log", "");
    check_edits(server_.edits());
    if (!replaying_) replay();
    forget();
  }

  void check_edits(std::vector<std::string> edits) const {
    for (int index = forged_; index >= 1; --index) {
      require(!edits.empty() && edits.front() == "delete " + std::to_string(index), "forged fields are removed", "");
      edits.erase(edits.begin());
    }
    if (edits.empty()) return require(is_exempt_, "only exempt messages are not marked", "");
    const std::string& mark = edits.front();
    require(edits.size() == 1, "a message has one mark", mark);
    if (mark.starts_with("insert 0 check; reason=")) return;
    require(mark.starts_with("insert 0 deliver; reason=listed"), "a mark is check or deliver", mark);
    require(has_pass_, "nothing is delivered without a pass in a trusted field", mark);
    require(has_grounds_, "nothing is delivered without a sender or a signature", mark);
    const auto is_control = [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; };
    require(std::ranges::none_of(mark, is_control), "a mark is one line", mark);
  }

  // The same message alone on a connection of its own.
  void replay() const {
    Player other(world_);
    other.replaying_ = true;
    for (const Step& step : message_) other.play(step);
    require(other.edits() == server_.edits(), "a message is decided the same without those before it", "");
  }

  World& world_;
  test::FakeMailServer server_;
  std::vector<Step> message_;  // all that it depends on
  Step login_, client_, greeting_;
  bool is_exempt_ = false;
  int forged_ = 0;
  bool has_pass_ = false;
  bool has_grounds_ = false;
  bool replaying_ = false;
};

void check_input(std::string_view script) {
  static World world;
  {
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
