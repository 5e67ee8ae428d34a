// Decides whole messages for programs that have no milter, and ask at `lookup-socket`
// (milter/lookup/posted_message.hpp). A message goes the way of every other one, Hearing, with the lists, the policy
// and the verifier in use, and is in the log and the figures. It teaches nothing, renews nothing that was learned, and
// no deeper checker is asked: the program does what follows.
//
// The asker is trusted as a mail server is: what it says of the client, of a login and of recipients counts, and
// results of authentication in the message count by the same names, so it must have removed those of strangers. What is
// proven by signatures it cannot make up.
#pragma once

#include <spdlog/fwd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "milter/glue/connection.hpp"
#include "milter/lookup/bearer_token.hpp"
#include "milter/lookup/posted_message.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {

// The decision with its explanation as JSON, as --explain has it; status 400 where the text is no message that
// everybody reads alike. Takes as long as the decision. Throws std::bad_alloc.
HttpAnswer decide_posted(const ConnectionParts& parts, const PostedEnvelope& envelope, std::string_view text);

class MessageAnswers {
 public:
  // At most so many at once, each by a thread of its own. `parts` must outlive it. Without a token everybody who
  // reaches the socket may ask. Throws BloomgateError{no_system_resource}.
  MessageAnswers(const PartsSlot& parts, std::size_t at_once, std::optional<BearerToken> token,
                 std::shared_ptr<spdlog::logger> log);
  ~MessageAnswers();
  MessageAnswers(const MessageAnswers&) = delete;
  MessageAnswers& operator=(const MessageAnswers&) = delete;

  // For LookupServer. One thread at a time.
  HttpAdmission admit(const HttpRequest& request);

  // Takes no others, and waits for those that are being decided, and a while for their answers to be taken. Before the
  // end of the server that takes them.
  void stop() noexcept;

 private:
  using Task = std::function<void()>;

  // Of messages, from their header to their answer.
  class Places {
   public:
    // Null: all are taken.
    std::shared_ptr<void> take(std::size_t most);
    void wait_until_free() noexcept;

   private:
    std::mutex mutex_;
    std::condition_variable is_free_;
    std::size_t taken_ = 0;
  };

  HttpAdmission refuse(unsigned status, std::string why);
  void work() noexcept;
  void push(Task task);

  const PartsSlot& parts_;
  const std::size_t at_once_;
  const std::optional<BearerToken> token_;
  const std::shared_ptr<spdlog::logger> log_;
  Places places_;
  std::chrono::steady_clock::time_point told_refusal_ = {};  // when the log was last told of one
  std::uint64_t refusals_ = 0;                               // since then

  std::mutex mutex_;
  std::condition_variable has_task_;
  std::deque<Task> tasks_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bloomgate
