// A stand-in for libmilter, linked in its place, and the mail server behind it: tests call our callbacks as libmilter
// would, and see what they say to it. One object is one connection; it may be used by one thread at a time.
#pragma once

#include <libmilter/mfapi.h>

#include <map>
#include <string>
#include <vector>

// libmilter's own name for a connection.
struct smfi_str {
  int socket = 0;  // of the connection; the standard input is none of ours
  void* private_data = nullptr;
  std::map<std::string, std::string> macros;
  // In the order in which they were asked for: "delete 2", "insert 0 value" of X-Bloomgate, "delete X-Spam-Flag 1",
  // "insert 0 X-Spam-Flag YES", "quarantine reason", "reply 550 5.7.1 text".
  std::vector<std::string> edits;
  std::vector<std::string> asked_macros;
  // SMFIP_HDR_LEADSPC was agreed: values of fields come with the space after the colon, and have to go with it.
  bool has_leading_space = false;
  int edits_until_failure = -1;  // that many succeed, then all fail; negative: none fails
  bool fails_once = false;       // then only one of them, and those behind it succeed
};

namespace bloomgate::test {

class FakeMailServer {
 public:
  FakeMailServer();
  ~FakeMailServer();
  FakeMailServer(const FakeMailServer&) = delete;
  FakeMailServer& operator=(const FakeMailServer&) = delete;

  // Offers everything that libmilter knows, unless told otherwise.
  sfsistat negotiate();
  sfsistat negotiate(unsigned long actions, unsigned long steps);
  // A client of that address, or a local one.
  sfsistat connect(const char* ip_address = nullptr);
  sfsistat helo(std::string name);
  sfsistat mail(std::string path);
  sfsistat header(std::string name, std::string value = "deliver; reason=listed; host=forged");
  // These are not called where nobody has asked for them, which libmilter takes for a continue.
  sfsistat recipient(std::string path);
  sfsistat end_of_header();
  sfsistat body(std::string bytes);
  // `queue_id` is the macro i. The edits of earlier messages are forgotten.
  sfsistat end_of_message(const std::string& queue_id = "Q1");
  sfsistat abort();
  sfsistat close();  // QUIT, or a QUIT that another session on the same connection follows

  smfi_str& context() noexcept { return context_; }
  const std::vector<std::string>& edits() const noexcept { return context_.edits; }
  unsigned long asked_actions() const noexcept { return asked_actions_; }
  unsigned long asked_steps() const noexcept { return asked_steps_; }

 private:
  smfi_str context_;
  smfiDesc callbacks_;
  unsigned long asked_actions_ = 0;
  unsigned long asked_steps_ = 0;
};

}  // namespace bloomgate::test
