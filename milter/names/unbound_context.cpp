#include "milter/names/unbound_context.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unbound.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <thread>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {
namespace {

constexpr int kTxt = 16;
constexpr int kInternet = 1;

struct DeleteContext {
  void operator()(ub_ctx* context) const noexcept { ub_ctx_delete(context); }
};
struct DeleteResult {
  void operator()(ub_result* result) const noexcept { ub_resolve_free(result); }
};

// libunbound's own defaults are for a program that makes a look-up now and then, with 16 questions at a time, and that
// queries the authoritative servers itself. A recursive server takes long for some names and answers others at once. So
// it gets more time, and a name without an answer must not make the server count as dead.
constexpr std::array<const char*, 2> kSettings[] = {
    {"outgoing-range:", "512"},  // sockets, and so concurrent questions
    {"num-queries-per-thread:", "1024"},
    {"unknown-server-time-limit:", "2000"},  // milliseconds until a question is asked again
    {"infra-cache-min-rtt:", "2000"},        // the same, of a server that has answered before
    {"infra-host-ttl:", "1"},
    {"outbound-msg-retry:", "2"},
    {"msg-cache-size:", "8m"},
    {"rrset-cache-size:", "16m"},
    {"cache-max-ttl:", "86400"},
    {"use-syslog:", "no"},
    {"logfile:", ""},
};

[[noreturn]] void fail(const std::string& what, int error) {
  throw BloomgateError(ErrorCode::bad_configuration, what + ": " + ub_strerror(error));
}

// Joins the character strings of one TXT record (RFC 6376 section 3.6.2.2). Returns false if they are not well-formed.
bool append_strings(const unsigned char* bytes, std::size_t size, std::string& text) {
  while (size != 0) {
    const std::size_t length = bytes[0];
    if (length > size - 1) return false;
    text.append(reinterpret_cast<const char*>(bytes + 1), length);
    bytes += length + 1;
    size -= length + 1;
  }
  return true;
}

bool is_text(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char byte) { return (byte >= ' ' && byte <= '~') || byte == '\t'; });
}

TxtRecord record_of(int error, const ub_result* result) {
  if (error != 0 || result == nullptr) return {.status = TxtStatus::server_failed};
  if (result->bogus != 0) return {.status = TxtStatus::bogus};
  constexpr int kNoError = 0;
  constexpr int kNoSuchName = 3;
  if (result->nxdomain != 0 || result->rcode == kNoSuchName) return {.status = TxtStatus::not_found};
  if (result->rcode != kNoError) return {.status = TxtStatus::server_failed};
  if (result->havedata == 0 || result->data == nullptr || result->data[0] == nullptr) {
    return {.status = TxtStatus::not_found};
  }
  if (result->data[1] != nullptr) return {.status = TxtStatus::several};
  TxtRecord record = {.status = TxtStatus::found,
                      .text = {},
                      .is_secure = result->secure != 0,
                      .ttl = std::chrono::seconds(result->ttl)};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(result->data[0]);
  if (!append_strings(bytes, static_cast<std::size_t>(std::max(result->len[0], 0)), record.text)) {
    return {.status = TxtStatus::malformed};
  }
  if (record.text.size() > kMaxTxtBytes) return {.status = TxtStatus::too_long};
  return is_text(record.text) ? record : TxtRecord{.status = TxtStatus::malformed};
}

extern "C" void on_answer(void* data, int error, ub_result* result) {
  const std::unique_ptr<ub_result, DeleteResult> owner(result);
  const std::unique_ptr<std::shared_ptr<AwaitedAnswer>> answer(static_cast<std::shared_ptr<AwaitedAnswer>*>(data));
  try {
    (*answer)->set(record_of(error, result));
  } catch (...) {
    (*answer)->set({.status = TxtStatus::server_failed});  // no memory for its text
  }
}

}  // namespace

class UnboundContext::Library {
 public:
  explicit Library(const UnboundOptions& options) : context_(ub_ctx_create()), stop_(eventfd(0, EFD_CLOEXEC)) {
    if (!context_ || !stop_.is_open()) throw BloomgateError(ErrorCode::out_of_memory, "cannot make a resolver");
    for (const auto& [name, value] : kSettings) {
      if (const int error = ub_ctx_set_option(context_.get(), name, value)) fail(name, error);
    }
    for (const NameServer& server : options.servers) {
      const std::string text = to_string(server);
      if (const int error = ub_ctx_set_fwd(context_.get(), text.c_str())) fail("name server " + text, error);
    }
    add_trust_anchor(options.trust_anchor_file);
    if (const int error = ub_ctx_async(context_.get(), 1)) fail("the resolver's thread", error);
    // After the first record was added, no setting can change.
    for (const std::string& record : options.records) {
      if (const int error = ub_ctx_data_add(context_.get(), record.c_str())) fail("the record " + record, error);
    }
    thread_ = std::thread([this] { take_answers(); });
  }

  ~Library() {
    const std::uint64_t one = 1;
    static_cast<void>(!write(stop_.get(), &one, sizeof one));
    thread_.join();
  }

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  ub_ctx* context() noexcept { return context_.get(); }

 private:
  void add_trust_anchor(const std::string& file) {
    if (file.empty()) return;
    if (access(file.c_str(), R_OK) != 0) {
      throw BloomgateError(ErrorCode::cannot_open,
                           "dns-trust-anchor: " + file + ": " + std::generic_category().message(errno));
    }
    if (const int error = ub_ctx_add_ta_file(context_.get(), file.c_str())) fail("dns-trust-anchor: " + file, error);
  }

  // libunbound calls on_answer() from here.
  void take_answers() noexcept {
    while (true) {
      std::array<pollfd, 2> ready = {pollfd{.fd = ub_fd(context_.get()), .events = POLLIN, .revents = 0},
                                     pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
      poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0) return;
      if (ready[0].revents != 0) ub_process(context_.get());
    }
  }

  std::unique_ptr<ub_ctx, DeleteContext> context_;
  FileDescriptor stop_;
  std::thread thread_;
};

UnboundContext::UnboundContext(const UnboundOptions& options) : library_(std::make_unique<Library>(options)) {}

UnboundContext::~UnboundContext() = default;

std::unique_ptr<UnboundContext::Question> UnboundContext::ask(std::shared_ptr<AwaitedAnswer> answer) {
  return std::make_unique<Question>(*library_, std::move(answer));
}

UnboundContext::Question::Question(Library& library, std::shared_ptr<AwaitedAnswer> answer) : library_(library) {
  auto reference = std::make_unique<std::shared_ptr<AwaitedAnswer>>(answer);
  const int error =
      ub_resolve_async(library.context(), answer->name().c_str(), kTxt, kInternet, reference.get(), on_answer, &id_);
  if (error == 0) {
    reference_ = reference.release();
  } else {
    answer->set({.status = TxtStatus::server_failed});
  }
}

UnboundContext::Question::~Question() {
  // If libunbound still has the query, there will be no callback; if not, on_answer() has freed the reference, or will.
  if (reference_ != nullptr && ub_cancel(library_.context(), id_) == 0) delete reference_;
}

}  // namespace bloomgate
