// libunbound with one list of name servers: finds TXT records. Look-ups are cached, run concurrently, and are validated
// by DNSSEC if there is a trust anchor. Has a thread for the answers, beside libunbound's own. Safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/name_server.hpp"
#include "milter/names/awaited_answer.hpp"

namespace bloomgate {

struct UnboundOptions {
  std::vector<NameServer> servers = {};   // empty: the authoritative servers are queried directly
  std::string trust_anchor_file = {};     // empty: no answer is validated
  std::vector<std::string> records = {};  // answers that need no server
};

class UnboundContext {
 public:
  // Throws BloomgateError if the options are unusable.
  explicit UnboundContext(const UnboundOptions& options);
  // No question may be in progress. Must not be called from on_answer().
  ~UnboundContext();
  UnboundContext(const UnboundContext&) = delete;
  UnboundContext& operator=(const UnboundContext&) = delete;

  // A question that libunbound is answering; destroying it abandons the question. Must not outlive the context.
  class Question;

  // Sets the answer later, or at once if libunbound refuses the name. Throws std::bad_alloc.
  std::unique_ptr<Question> ask(std::shared_ptr<AwaitedAnswer> answer);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

class UnboundContext::Question {
 public:
  Question(Library& library, std::shared_ptr<AwaitedAnswer> answer);
  ~Question();
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  Library& library_;
  std::shared_ptr<AwaitedAnswer>* reference_ = nullptr;  // libunbound's copy, while on_answer() may still be called
  int id_ = 0;                                           // libunbound's ID of the query
};

}  // namespace bloomgate
