// Speaks the milter protocol as a mail server does, on many connections at a time: `milter_client SOCKET SENDERS`.
// Prints a JSON object: messages a second, and the time from MAIL to the last answer of a message, in microseconds.
#include <arpa/inet.h>
#include <libmilter/mfdef.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "filter/system/file_descriptor.hpp"
#include "tests/bench/bench.hpp"

namespace bloomgate::bench {
namespace {

namespace po = boost::program_options;
using std::string_literals::operator""s;

struct Options {
  std::string socket;
  std::string senders;
  unsigned connections = 16;
  unsigned messages = 2000;  // on each connection, one after the other
  unsigned repeats = 1;      // connections that each thread makes, one after the other
  unsigned strangers = 5;    // every so manieth sender is in no list; 0: none is
  bool like_sendmail = false;
  bool outgoing = false;  // each message is of a user who has logged in, to somebody who has had none yet
};

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

FileDescriptor connect_to(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (name.starts_with("unix:")) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1, colon + 1);
    FileDescriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail(name);
    return made;
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(name.substr(colon + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail(name);
  const int on = 1;
  setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

// One connection of a mail server.
class Conversation {
 public:
  Conversation(const std::string& socket, bool like_sendmail)
      : socket_(connect_to(socket)), sends_each_(like_sendmail) {
    put(SMFIC_OPTNEG, number(SMFI_PROT_VERSION) + number(SMFI_CURR_ACTS) + number(SMFI_CURR_PROT));
    flush();
    const std::string offer = answer();
    if (offer.size() < 1 + MILTER_OPTLEN || offer[0] != SMFIC_OPTNEG) throw std::runtime_error("not a milter");
    steps_ = number_at(offer, 1 + 2 * MILTER_LEN_BYTES);
  }

  void macros(char stage, const std::string& pairs) { put(SMFIC_MACRO, stage + pairs); }

  // A step that the milter may have no use for, or no answer to.
  void step(char command, const std::string& data, std::uint32_t unwanted, std::uint32_t unanswered) {
    if ((steps_ & unwanted) != 0) return;
    put(command, data);
    if ((steps_ & unanswered) != 0) return;
    flush();
    const char said = answer()[0];
    // The milter may skip what is left of a body; there is no more of ours.
    if (said != SMFIR_CONTINUE && !(said == SMFIR_SKIP && command == SMFIC_BODY)) {
      throw std::runtime_error(std::string("the milter answers ") + said + " to " + command);
    }
  }

  // Returns all that the milter asks for.
  std::string end_of_message() {
    put(SMFIC_BODYEOB, "");
    flush();
    std::string all;
    for (;;) {
      const std::string each = answer();
      if (std::strchr("acdrty", each[0]) != nullptr) return all;
      all += each;
    }
  }

  void quit() {
    put(SMFIC_QUIT, "");
    flush();
  }

 private:
  static std::string number(std::uint32_t value) {
    const std::uint32_t big_endian = htonl(value);
    return std::string(reinterpret_cast<const char*>(&big_endian), sizeof big_endian);
  }

  static std::uint32_t number_at(const std::string& text, std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, text.data() + offset, sizeof value);
    return ntohl(value);
  }

  void put(char command, const std::string& data) {
    out_ += number(static_cast<std::uint32_t>(1 + data.size()));
    out_ += command;
    out_ += data;
    if (sends_each_ || out_.size() >= kStreamBytes) flush();
  }

  void flush() {
    std::size_t sent = 0;
    while (sent < out_.size()) {
      const ssize_t count = send(socket_.get(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) fail("send");
      sent += static_cast<std::size_t>(count);
    }
    out_.clear();
  }

  std::string answer() {
    need(MILTER_LEN_BYTES);
    const std::uint32_t bytes = number_at(in_, 0);
    if (bytes == 0) throw std::runtime_error("an empty answer");
    need(MILTER_LEN_BYTES + bytes);
    std::string text = in_.substr(MILTER_LEN_BYTES, bytes);
    in_.erase(0, MILTER_LEN_BYTES + bytes);
    return text;
  }

  void need(std::size_t bytes) {
    while (in_.size() < bytes) {
      std::array<char, 4096> buffer;
      const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (count < 0) fail("recv");
      if (count == 0) throw std::runtime_error("the milter has closed the connection");
      in_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  static constexpr std::size_t kStreamBytes = 4096;  // as Postfix's streams have

  FileDescriptor socket_;
  bool sends_each_;
  std::uint32_t steps_ = 0;
  std::string out_;
  std::string in_;
};

std::string words(std::initializer_list<std::string> all) {
  std::string text;
  for (const std::string& each : all) text += each + '\0';
  return text;
}

// A mail server's usual macros and a message's usual fields.
void greet(Conversation& talk) {
  talk.macros(SMFIC_CONNECT, words({"j", "mx.example.net", "{daemon_name}", "smtpd", "v", "Postfix 3.7.11"}));
  talk.step(SMFIC_CONNECT, words({"mail.example.org"}) + "4\0\x19"s + words({"192.0.2.7"}), SMFIP_NOCONNECT,
            SMFIP_NR_CONN);
  talk.step(SMFIC_HELO, words({"mail.example.org"}), SMFIP_NOHELO, SMFIP_NR_HELO);
}

std::vector<std::pair<std::string, std::string>> fields_of(const std::string& sender) {
  const std::string domain = sender.substr(sender.rfind('@') + 1);
  return {
      {"Authentication-Results", "mx.example.net; dkim=pass header.d=" + domain + " header.s=2026 header.b=Zm9v"},
      {"Authentication-Results", "mx.example.net; spf=pass smtp.mailfrom=" + sender +
                                     ";\n\tdmarc=pass (p=reject dis=none) header.from=" + domain},
      {"Authentication-Results", "relay.example.com; spf=pass smtp.mailfrom=" + sender},
      {"Received", "from mail.example.org (mail.example.org [192.0.2.7])\n\tby mx.example.net with ESMTPS"},
      {"Received", "by mail.example.org (Postfix, from userid 1000) id 4XyZ; Sat, 21 Nov 2026 10:00:00 +0000"},
      {"DKIM-Signature",
       "v=1; a=rsa-sha256; c=relaxed/simple; d=" + domain + "; s=2026; t=" + std::to_string(std::time(nullptr)) +
           ";\n\th=From:To:Subject;\n\tbh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=" + std::string(344, 'Z')},
      {"From", "\"Doe, Joe\" <" + sender + ">"},
      {"To", "Ann <ann@example.net>"},
      {"Subject", "=?utf-8?Q?a_usual_message?="},
      {"Date", "Sat, 21 Nov 2026 10:00:00 +0000"},
      {"Message-ID", "<20261121100000.4XyZ@" + domain + ">"},
      {"MIME-Version", "1.0"},
      {"Content-Type", "text/plain; charset=utf-8"},
      {"User-Agent", "Mail 1.0"},
      {"X-Mailer", "Mail 1.0"},
  };
}

// Returns what the milter asks for at its end. A LOGIN is of the user who sends; without one nobody has logged in.
std::string send_message(Conversation& talk, const std::string& sender, const std::string& recipient,
                         const std::string& login, const std::string& queue_id) {
  std::string macros = words({"i", queue_id, "{mail_addr}", sender, "{mail_host}", "", "{mail_mailer}", "smtp"});
  if (!login.empty()) macros += words({"{auth_authen}", login});
  talk.macros(SMFIC_MAIL, macros);
  talk.step(SMFIC_MAIL, words({"<" + sender + ">", "BODY=8BITMIME"}), SMFIP_NOMAIL, SMFIP_NR_MAIL);
  talk.step(SMFIC_RCPT, words({"<" + recipient + ">"}), SMFIP_NORCPT, SMFIP_NR_RCPT);
  talk.step(SMFIC_DATA, "", SMFIP_NODATA, SMFIP_NR_DATA);
  for (const auto& [name, value] : fields_of(sender)) {
    talk.step(SMFIC_HEADER, words({name, value}), SMFIP_NOHDRS, SMFIP_NR_HDR);
  }
  talk.step(SMFIC_EOH, "", SMFIP_NOEOH, SMFIP_NR_EOH);
  talk.step(SMFIC_BODY, std::string(2000, 'a'), SMFIP_NOBODY, SMFIP_NR_BODY);
  talk.macros(SMFIC_BODYEOB, words({"i", queue_id}));
  return talk.end_of_message();
}

struct Senders {
  std::vector<std::string> all;
  unsigned strangers;
  std::atomic<std::uint64_t> next{0};

  std::pair<std::string, bool> take() {
    const std::uint64_t number = next.fetch_add(1);
    const std::string& sender = all[number % all.size()];
    const bool is_stranger = strangers != 0 && number % strangers == strangers - 1;
    return {is_stranger ? stranger_of(sender) : sender, !is_stranger};
  }
};

struct Tally {
  std::vector<double> microseconds;
  std::uint64_t listed = 0;     // messages of listed senders
  std::uint64_t delivered = 0;  // and marked so
};

Tally talk(const Options& options, Senders& senders, unsigned thread) {
  Tally tally;
  for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
    Conversation conversation(options.socket, options.like_sendmail);
    greet(conversation);
    for (unsigned i = 0; i < options.messages; ++i) {
      const auto [sender, is_listed] = senders.take();
      const std::string queue_id = "4X" + std::to_string(thread) + "Z" + std::to_string(i);
      // A login of its own for every message: no rate of a login is met.
      const std::string login = options.outgoing ? "user" + std::to_string(thread) + "." + std::to_string(i) : "";
      const Stopwatch watch;
      const std::string asked = options.outgoing
                                    ? send_message(conversation, login + "@example.net", sender, login, queue_id)
                                    : send_message(conversation, sender, "ann@example.net", login, queue_id);
      tally.microseconds.push_back(watch.seconds() * 1e6);
      if (is_listed) ++tally.listed;
      if (asked.find("deliver; reason=listed;") != std::string::npos) ++tally.delivered;
    }
    conversation.quit();
  }
  return tally;
}

Options read_options(int argc, char** argv) {
  Options options;
  po::options_description words("milter_client SOCKET SENDERS");
  words.add_options()("socket", po::value(&options.socket)->required(), "unix:PATH or inet:PORT (on loopback)")(
      "senders", po::value(&options.senders)->required(), "a list of listed addresses, one a line")(
      "connections", po::value(&options.connections), "at a time, each on a thread")(
      "messages", po::value(&options.messages), "on each connection")(
      "repeats", po::value(&options.repeats), "connections that each thread makes, one after the other")(
      "strangers", po::value(&options.strangers), "every so manieth sender is in no list")(
      "like-sendmail", po::bool_switch(&options.like_sendmail), "sends each step by itself")(
      "outgoing", po::bool_switch(&options.outgoing), "each message is of another user, to another recipient");
  po::positional_options_description places;
  places.add("socket", 1).add("senders", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(words).positional(places).run(), values);
  po::notify(values);
  return options;
}

Json run(const Options& options) {
  Senders senders{.all = {}, .strangers = options.strangers};
  std::ifstream file(options.senders);
  for (std::string line; std::getline(file, line);) senders.all.push_back(line);
  if (senders.all.empty()) throw std::runtime_error("no sender in " + options.senders);
  Tally all;
  std::mutex mutex;
  std::string fault;
  std::vector<std::thread> threads;
  const Stopwatch watch;
  for (unsigned thread = 0; thread < options.connections; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        Tally mine = talk(options, senders, thread);
        const std::lock_guard lock(mutex);
        all.microseconds.insert(all.microseconds.end(), mine.microseconds.begin(), mine.microseconds.end());
        all.listed += mine.listed;
        all.delivered += mine.delivered;
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        fault = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = watch.seconds();
  if (!fault.empty()) throw std::runtime_error(fault);
  std::ranges::sort(all.microseconds);
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(all.microseconds.size() - 1);
    return all.microseconds[static_cast<std::size_t>(place)];
  };
  return {{"messages", all.microseconds.size()},
          {"seconds", seconds},
          {"messages_a_second", static_cast<double>(all.microseconds.size()) / seconds},
          {"p50_us", at(0.5)},
          {"p99_us", at(0.99)},
          {"p99_9_us", at(0.999)},
          {"max_us", at(1)},
          {"listed", all.listed},
          {"delivered", all.delivered}};
}

}  // namespace
}  // namespace bloomgate::bench

int main(int argc, char** argv) {
  return bloomgate::bench::run_bench([&] { return bloomgate::bench::run(bloomgate::bench::read_options(argc, argv)); });
}
