// Decides whole messages for programs that have no milter, and that send them to `lookup-socket`
// (milter/lookup/posted_message.hpp). Hearing decides such a message like every other one, with the lists, the policy
// and the verifier in use, and it appears in the log and the figures. But it teaches nothing and renews nothing that
// was learned, and no deeper checker is asked: what happens next is up to the program.
//
// The client program is trusted as a mail server is: what it says of the SMTP client, of a login and of recipients
// counts. Authentication results in the message count by the same authserv-ids, so the program must have removed those
// that came from outside. It cannot invent what signatures prove.
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

#include "milter/daemon/refused_posts.hpp"
#include "milter/glue/connection.hpp"
#include "milter/lookup/bearer_token.hpp"
#include "milter/lookup/posted_message.hpp"
#include "milter/serving/http_messages.hpp"

namespace bloomgate {

// Returns the decision with its explanation as JSON, as `explain` prints it; status 400 if the text is not a message
// that all programs read alike. Takes as long as the decision. Throws std::bad_alloc.
HttpAnswer decide_posted(const ConnectionParts& parts, const PostedEnvelope& envelope, std::string_view text);

class MessageAnswers {
 public:
  // Decides at most `at_once` messages at the same time, each in its own thread. The references must outlive the
  // object. Without a token, every program that reaches the socket may ask. Throws BloomgateError{no_system_resource}.
  MessageAnswers(const PartsSlot& parts, std::size_t at_once, std::optional<BearerToken> token, RefusedPosts& refused,
                 std::shared_ptr<spdlog::logger> log);
  ~MessageAnswers();
  MessageAnswers(const MessageAnswers&) = delete;
  MessageAnswers& operator=(const MessageAnswers&) = delete;

  // For LookupServer. One thread at a time.
  HttpAdmission admit(const HttpRequest& request);

  // Accepts no further messages, and waits until `deadline` for those that are being decided. Returns false if some are
  // still being decided, since they wait for a name server or a disk.
  bool finish_by(std::chrono::steady_clock::time_point deadline) noexcept;
  // The same without a deadline; then waits a limited time until the answers have been fetched. To be called before the
  // server that fetches them ends.
  void stop() noexcept;

 private:
  using Task = std::function<void()>;

  // Slots for messages, each occupied from a message's header to its answer.
  class Places {
   public:
    // Null if all are occupied.
    std::shared_ptr<void> take(std::size_t most);
    void wait_until_free() noexcept;

   private:
    std::mutex mutex_;
    std::condition_variable is_free_;
    std::size_t taken_ = 0;
  };

  void accept_no_more() noexcept;
  void work() noexcept;
  void push(Task task);

  const PartsSlot& parts_;
  const std::size_t at_once_;
  const std::optional<BearerToken> token_;
  RefusedPosts& refused_;
  const std::shared_ptr<spdlog::logger> log_;
  Places places_;

  std::mutex mutex_;
  std::condition_variable has_task_, is_idle_;
  std::deque<Task> tasks_;
  std::size_t at_work_ = 0;  // threads that are doing a task
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bloomgate
