// `doctor --send`: tests the whole chain with real messages. They go through the mail server, and the logs of the
// daemon and of the mail server show what happened to them.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "filter/base/printable.hpp"
#include "milter/deep_check/curl_handle.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_probes.hpp"
#include "milter/doctor/run_program.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDialoguePatience{60};  // milters and a checker may run within it
constexpr std::chrono::seconds kLogPatience{20};
constexpr std::chrono::milliseconds kBetweenLookings{200};

// The server's side of one SMTP dialogue.
struct Dialogue {
  std::string greeting;  // the first line
  std::string last;      // the last line
  std::string fault;     // of the connection; empty if the message was accepted
};

std::size_t keep_line(char* data, std::size_t size, std::size_t count, void* user) {
  auto& dialogue = *static_cast<Dialogue*>(user);
  const std::string line(data, size * count);
  if (dialogue.greeting.empty()) dialogue.greeting = line;
  dialogue.last = line;
  return size * count;
}

std::size_t give_content(char* buffer, std::size_t size, std::size_t count, void* user) {
  auto& left = *static_cast<std::string_view*>(user);
  const std::size_t given = left.copy(buffer, size * count);
  left.remove_prefix(given);
  return given;
}

// libcurl's SMTP doubles the dots and ends the data.
Dialogue send(const Probe& probe, const DoctorOptions& options) {
  Dialogue dialogue;
  std::string_view content = probe.content;
  const std::string url = "smtp://" + options.smtp + "/bloomgate-doctor.example";
  const std::string sender = "<" + probe.sender + ">";
  const std::string recipient = "<" + options.send + ">";
  curl_slist* const recipients = curl_slist_append(nullptr, recipient.c_str());
  try {
    CurlHandle curl;
    curl.set(CURLOPT_PROTOCOLS_STR, "smtp");
    curl.set(CURLOPT_URL, url.c_str());
    curl.set(CURLOPT_MAIL_FROM, sender.c_str());
    curl.set(CURLOPT_MAIL_RCPT, recipients);
    curl.set(CURLOPT_UPLOAD, 1L);
    curl.set(CURLOPT_READFUNCTION, &give_content);
    curl.set(CURLOPT_READDATA, &content);
    curl.set(CURLOPT_HEADERFUNCTION, &keep_line);
    curl.set(CURLOPT_HEADERDATA, &dialogue);
    curl.perform(Clock::now() + kDialoguePatience);
  } catch (const CheckerError& error) {
    dialogue.fault = error.what();
  }
  curl_slist_free_all(recipients);
  return dialogue;
}

// The logs from now on.
class Logs {
 public:
  explicit Logs(std::vector<std::string> files) : files_(std::move(files)), since_(time(nullptr)) {
    if (files_.empty() && access("/var/log/mail.log", R_OK) == 0) files_.emplace_back("/var/log/mail.log");
    for (const std::string& file : files_) sizes_.push_back(size_of(file));
  }

  // The new lines about a message, or with other words in them. Files are returned whole.
  std::string about(const std::string& words) const {
    std::string text = run_program({"journalctl", "--since=@" + std::to_string(since_), "--output=cat", "--no-pager",
                                    "--quiet", "--grep=" + words})
                           .output;
    for (std::size_t i = 0; i < files_.size(); ++i) text += text_of(files_[i], sizes_[i]);
    return text;
  }

 private:
  // A file that does not exist yet is later read from its beginning.
  static std::streamoff size_of(const std::string& path) {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(path, none);
    return none ? 0 : static_cast<std::streamoff>(size);
  }

  static std::string text_of(const std::string& path, std::streamoff begin) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(begin);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::vector<std::string> files_;
  std::vector<std::streamoff> sizes_;
  std::time_t since_;
};

MessageFate wait_for_fate(const Logs& logs, const std::string& queue_id) {
  for (const auto deadline = Clock::now() + kLogPatience;;) {
    MessageFate fate = fate_of(logs.about(queue_id), queue_id);
    if ((!fate.decision.empty() && !fate.delivery.empty()) || Clock::now() > deadline) return fate;
    std::this_thread::sleep_for(kBetweenLookings);
  }
}

std::string remedy_for(const std::string& reason, const DaemonOptions& options) {
  if (reason == "not-listed") return "the sender of the saved message is on no whitelist: take another message";
  if (reason == "not-authenticated" || reason == "authentication-failed" || reason == "dmarc-fail" ||
      reason == "distrusted-results") {
    if (verifies_signatures(options)) {
      return "bloomgate-milter explain < MESSAGE shows what is wrong with its signature: is the message saved as it "
             "came, with its header and its line ends, and does the name server answer?";
    }
    return "see in the log what OpenDKIM, or the milter in its place, says of it: is the message saved as it came, "
           "with its header and line ends, and does the name server answer?";
  }
  if (reason == "revoked") return "the sender is revoked: bloomgate-milter unrevoke, or take another message";
  if (reason == "opted-out") return "the recipient has opted out: name another one with --send";
  return "bloomgate-milter explain < MESSAGE shows each step of the decision";
}

class Sending {
 public:
  Sending(const DaemonCommand& command, std::vector<DoctorFinding>& findings)
      : options_(command.doctor), daemon_(command.options), logs_(command.doctor.logs), findings_(findings) {}

  void examine() {
    const std::string word = std::to_string(getpid()) + "-" + std::to_string(time(nullptr));
    const Dialogue last = examine_probe("an unlisted sender", unlisted_probe(word, options_.send), false);
    if (last.greeting.empty()) return;  // no mail server: further probes would give the same
    const std::string server = word_of(last.greeting, 1);
    if (options_.signed_message.empty()) {
      findings_.push_back({Level::warning, "send", "no listed sender was tried, since only its owner can sign for it",
                           "save a message from a listed sender as it came, and name it: --signed-message FILE"});
      return;
    }
    std::ifstream file(options_.signed_message, std::ios::binary);
    std::ostringstream saved;
    saved << file.rdbuf();
    const Probe genuine = genuine_probe(saved.str());
    if (!saved || genuine.sender.empty()) {
      findings_.push_back({Level::problem, "send", options_.signed_message + " is no message with a sender",
                           "save a message with all of its header, as it came"});
      return;
    }
    examine_probe("a listed sender, signed", genuine, true);
    examine_probe("the same message, forged", forged_probe(genuine, server), false);
  }

 private:
  static std::string word_of(const std::string& line, int number) {
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i <= number; ++i) words >> word;
    return word;
  }

  void add(Level level, const std::string& text, const std::string& remedy = {}) {
    findings_.push_back({level, "send", text, remedy});
  }

  Dialogue examine_probe(const std::string& name, const Probe& probe, bool is_good) {
    Dialogue dialogue = send(probe, options_);
    const std::string queue_id = queue_id_of(dialogue.last);
    if (dialogue.greeting.empty()) {
      add(Level::problem, "no mail server can be reached at " + options_.smtp + ": " + dialogue.fault,
          "start it, or name another with --smtp HOST:PORT");
    } else if (!dialogue.fault.empty()) {
      add(is_good ? Level::problem : Level::ok, name + ": the mail server refused it: " + printable(dialogue.last),
          is_good ? "see the mail server's log for the reason" : "");
    } else if (queue_id.empty()) {
      add(Level::warning, name + ": the mail server took it and gave no queue ID: " + printable(dialogue.last),
          "look for it in the log by hand");
    } else {
      judge(name, queue_id, wait_for_fate(logs_, queue_id), is_good);
    }
    return dialogue;
  }

  void judge(const std::string& name, const std::string& queue_id, const MessageFate& fate, bool is_good) {
    std::string text = name + " (" + queue_id + "): ";
    if (const std::string unreached =
            fate.decision.empty() ? unreached_milter(logs_.about("connect to Milter service")) : "";
        !unreached.empty()) {
      add(Level::problem,
          text + "the mail server could not reach a milter, so it accepted the mail without asking it: " + unreached,
          "see the findings on the socket and on the mail server; bloomgate report --journal, or with the mail "
          "server's "
          "log, shows how much mail has bypassed the milter, and since when");
      return;
    }
    if (fate.decision.empty()) {
      add(Level::problem, text + "no log has a decision on it: the mail server did not ask, or the log is elsewhere",
          "name the daemon's log with --log FILE; log-level has to be info; then see the findings on the mail server");
      return;
    }
    text += "decision=" + fate.decision + " reason=" + fate.reason;
    text += fate.delivery.empty() ? ", not delivered yet" : ", " + fate.delivery;
    if (fate.reason.starts_with("exempt")) {
      add(Level::warning, text + ": mail from this machine is exempt, so it shows nothing",
          "run the doctor on a machine that is not exempt, with --smtp HOST:PORT");
    } else if ((fate.decision == "deliver") == is_good) {
      add(Level::ok, text);
    } else if (is_good) {
      add(Level::problem, text, remedy_for(fate.reason, daemon_));
    } else {
      add(Level::problem, text + ": this message is delivered as if its sender were listed",
          "see the findings on authentication and on forged fields; is it a false positive (bloomgate query)?");
    }
  }

  const DoctorOptions& options_;
  const DaemonOptions& daemon_;
  Logs logs_;
  std::vector<DoctorFinding>& findings_;
};

}  // namespace

void examine_by_mail(const DaemonCommand& command, std::vector<DoctorFinding>& findings) {
  if (!command.doctor.send.empty()) Sending(command, findings).examine();
}

}  // namespace bloomgate
