// A composed month of mail through the brake: listed senders with their habits, accounts that are taken over, and a
// checker that is wrong for an hour. Prints, as JSON, how much of their mail is delivered and how much good mail is
// checked by mistake. usage: bench_taken_over [SEED]
//
// The daemon's own brake, with a clock that the program sets. A message goes through it as the judge has it: counted; a
// hundredth of what is delivered, and all that is held, is shown to the checker.
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "milter/brake/brake.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds;

constexpr double kSample = 0.01;
constexpr double kSpamCalledSpam = 0.98, kHamCalledSpam = 0.0005;
constexpr sys_seconds kStart{1'783'900'800s};  // a Monday
constexpr int kDays = 56;                      // four weeks of observation, then a month that counts
constexpr int kFirstDay = 28;
constexpr int kUsers = 100'000;

struct Event {
  std::uint32_t second;  // since kStart
  std::uint32_t sender;
  std::uint32_t first_user;
  std::uint16_t recipients;
  bool is_spam;
};

struct Sender {
  std::string name;
  bool is_shared = false;
  std::uint32_t spam_delivered = 0, spam_sent = 0;
  std::uint32_t delivered_until_suspended = 0;  // spam
  bool was_suspended = false;
};

class Month {
 public:
  explicit Month(std::uint64_t seed) : random_(seed) {}

  void add_people(int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint32_t sender = add("person" + std::to_string(i) + "@people.example");
      const double a_day = std::exponential_distribution<>(1 / 3.0)(random_);
      const std::uint32_t correspondents = user();
      for (int day = 0; day < kDays; ++day) {
        if (day % 7 >= 5) continue;
        const int messages = std::poisson_distribution<>(a_day)(random_);
        for (int j = 0; j < messages; ++j) {
          send(sender, day, 8 * 3600 + below(10 * 3600), correspondents + below(20), 1 + below(3), false);
        }
      }
    }
  }

  // Each week at its hour, a message for each reader.
  void add_newsletters(int count) {
    for (int i = 0; i < count; ++i) {
      const std::uint32_t sender = add("news" + std::to_string(i) + "@letters.example");
      const auto readers =
          static_cast<std::uint32_t>(100 * std::exp(std::uniform_real_distribution<>(0, 5.3)(random_)));
      const int weekday = static_cast<int>(below(5));
      const std::uint32_t hour = 6 + below(12), first = user();
      for (int day = weekday; day < kDays; day += 7) {
        const std::uint32_t late = below(1800), now = readers + below(readers / 10 + 1);
        for (std::uint32_t j = 0; j < now; ++j) send(sender, day, hour * 3600 + late + j % 3600, first + j, 1, false);
      }
    }
  }

  // Orders, bills and notes of programs, day and night.
  void add_services(int count, bool are_shared) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "service" + std::to_string(i) + ".example";
      const std::uint32_t sender = add(are_shared ? "@" + name : "robot@" + name, are_shared);
      const double a_day = 20 * std::exp(std::uniform_real_distribution<>(0, 5.5)(random_));
      for (int day = 0; day < kDays; ++day) {
        const int messages = std::poisson_distribution<>(a_day * (day % 7 >= 5 ? 0.5 : 1))(random_);
        for (int j = 0; j < messages; ++j) send(sender, day, below(24 * 3600), user(), 1, false);
      }
    }
  }

  enum class Way { at_once, slow, to_few, to_many };
  // People's accounts, each taken over at some day of the month that counts.
  std::vector<std::uint32_t> take_over(Way way, std::uint32_t first_person, int count) {
    std::vector<std::uint32_t> taken;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t sender = first_person + static_cast<std::uint32_t>(i);
      const int day = kFirstDay + static_cast<int>(below(20));
      const std::uint32_t begin = below(20 * 3600);
      switch (way) {
        case Way::at_once:
          for (std::uint32_t j = 0; j < 10'000; ++j) send(sender, day, begin + j / 10, user(), 1, true);
          break;
        case Way::slow:
          for (int d = day; d < kDays; ++d) {
            for (int j = 0; j < 200; ++j) send(sender, d, below(24 * 3600), user(), 1, true);
          }
          break;
        case Way::to_few:
          for (std::uint32_t j = 0; j < 10'000; ++j) send(sender, day, begin + j / 10, j % 5, 1, true);
          break;
        case Way::to_many:
          for (std::uint32_t j = 0; j < 200; ++j) send(sender, day, begin + j * 5, j * 100, 100, true);
          break;
      }
      taken.push_back(sender);
    }
    return taken;
  }

  // The checker calls everything spam from then on, for an hour.
  void play(std::uint32_t broken_from) {
    std::ranges::sort(events_, {}, &Event::second);
    const auto log = std::make_shared<spdlog::logger>("none", std::make_shared<spdlog::sinks::null_sink_mt>());
    sys_seconds now = kStart;
    Brake brake({.observe = std::chrono::days(28),
                 .path = folder_.file("habits"),
                 .suspends = true,
                 .suspensions_path = folder_.file("suspended")},
                log, [&now] { return now; });
    brake.begin();
    std::uint64_t number = 0;
    std::vector<std::string> paths(100);
    for (const Event& event : events_) {
      now = kStart + std::chrono::seconds(event.second);
      Sender& sender = senders_[event.sender];
      const std::string id = std::to_string(++number);
      std::vector<std::string_view> recipients;
      for (std::uint32_t i = 0; i < event.recipients; ++i) {
        paths[i] = std::to_string((event.first_user + i) % kUsers);
        recipients.emplace_back(paths[i]);
      }
      const Hold hold = brake.count(
          {.sender = sender.name, .is_shared = sender.is_shared, .message_id = id, .recipients = recipients});
      const bool is_delivered = hold == Hold::none;
      note(sender, event, hold);
      const bool is_shown = is_delivered ? chance(kSample) : true;
      if (!is_shown) continue;
      const bool is_broken = event.second >= broken_from && event.second < broken_from + 3600;
      const bool called_spam = is_broken || chance(event.is_spam ? kSpamCalledSpam : kHamCalledSpam);
      brake.tell({.names = {.sender = sender.name}, .is_spam = called_spam, .is_sample = is_delivered, .message = ""});
      brake.work_off();
    }
    suspensions_ = brake.status().suspended.suspensions;
    bytes_ = brake.status().bytes;
  }

  // Of spam that each of these has sent: how much was delivered until the first suspension, and in all.
  nlohmann::json outcome(const std::vector<std::uint32_t>& taken) const {
    std::vector<std::uint32_t> until, all;
    std::size_t suspended = 0;
    for (const std::uint32_t each : taken) {
      until.push_back(senders_[each].delivered_until_suspended);
      all.push_back(senders_[each].spam_delivered);
      suspended += senders_[each].was_suspended ? std::size_t{1} : 0;
    }
    std::ranges::sort(until);
    std::ranges::sort(all);
    const auto at = [](const std::vector<std::uint32_t>& values, double part) {
      return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
    };
    return {{"accounts", taken.size()},
            {"suspended", suspended},
            {"delivered_before_suspension",
             {{"median", at(until, 0.5)}, {"nine_in_ten", at(until, 0.9)}, {"most", until.back()}, {"each", until}}},
            {"delivered_in_all", {{"median", at(all, 0.5)}, {"most", all.back()}}}};
  }

  nlohmann::json good_mail() const {
    return {{"messages", good_},
            {"checked", held_good_},
            {"for_a_burst", held_for_burst_},
            {"for_a_suspension", held_good_ - held_for_burst_},
            {"share", static_cast<double>(held_good_) / static_cast<double>(good_)}};
  }
  std::size_t size() const { return events_.size(); }
  std::size_t senders() const { return senders_.size(); }
  std::uint64_t suspensions() const { return suspensions_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  std::uint32_t user() { return below(kUsers); }
  bool chance(double part) { return std::bernoulli_distribution(part)(random_); }

  std::uint32_t add(std::string name, bool is_shared = false) {
    senders_.push_back({.name = std::move(name), .is_shared = is_shared});
    return static_cast<std::uint32_t>(senders_.size() - 1);
  }

  void send(std::uint32_t sender, int day, std::uint32_t second, std::uint32_t user, std::uint32_t recipients,
            bool spam) {
    events_.push_back({static_cast<std::uint32_t>(day) * 86'400 + second, sender, user,
                       static_cast<std::uint16_t>(recipients), spam});
  }

  void note(Sender& sender, const Event& event, Hold hold) {
    if (event.is_spam) {
      ++sender.spam_sent;
      if (hold == Hold::suspended) sender.was_suspended = true;
      if (hold != Hold::none) return;
      ++sender.spam_delivered;
      if (!sender.was_suspended) ++sender.delivered_until_suspended;
      return;
    }
    if (event.second < kFirstDay * 86'400U) return;
    // Of an account that is taken over, what its owner writes meanwhile is held rightly.
    if (sender.spam_sent != 0) return;
    ++good_;
    if (hold != Hold::none) ++held_good_;
    if (hold == Hold::burst) ++held_for_burst_;
  }

  const test::TemporaryFolder folder_;
  std::mt19937_64 random_;
  std::vector<Event> events_;
  std::vector<Sender> senders_;
  std::uint64_t good_ = 0, held_good_ = 0, held_for_burst_ = 0, suspensions_ = 0, bytes_ = 0;
};

}  // namespace
}  // namespace bloomgate

int main(int argc, char** argv) {
  using namespace bloomgate;
  using Way = Month::Way;
  Month month(argc > 1 ? std::stoull(argv[1]) : 1);
  month.add_people(20'000);
  month.add_newsletters(300);
  month.add_services(150, false);
  month.add_services(150, true);
  const auto at_once = month.take_over(Way::at_once, 0, 10);
  const auto slow = month.take_over(Way::slow, 100, 30);
  const auto to_few = month.take_over(Way::to_few, 500, 10);
  const auto to_many = month.take_over(Way::to_many, 600, 10);
  month.play(40 * 86'400 + 10 * 3600);
  const nlohmann::json all = {{"messages", month.size()},
                              {"senders", month.senders()},
                              {"memory_bytes", month.bytes()},
                              {"suspensions", month.suspensions()},
                              {"10,000 at once", month.outcome(at_once)},
                              {"200 a day", month.outcome(slow)},
                              {"10,000 to five recipients", month.outcome(to_few)},
                              {"200 messages to 100 recipients each", month.outcome(to_many)},
                              {"good mail", month.good_mail()}};
  std::cout << all.dump(2) << '\n';
  return std::cout.flush() ? 0 : 1;
}
