#include "milter/dkim/library_verifier.hpp"

#include <sys/types.h>
// libopendkim's header is for C, whose name for it this is.
#define _Bool bool  // NOLINT(bugprone-reserved-identifier)
#include <dkim.h>
#undef _Bool

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "milter/dkim/key_reply.hpp"
#include "milter/dkim/known_outcome.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/fields/body_check.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

constexpr unsigned kLeastRsaBits = 1024;  // RFC 8301
constexpr unsigned kEd25519Bits = 256;    // for which the library says nothing

struct FoundKey {
  std::string name;
  std::string record;
};

// The keys of the message that this thread finishes: the library's hooks are told of no message.
thread_local const std::vector<FoundKey>* keys_at_hand = nullptr;

class KeysAtHand {
 public:
  explicit KeysAtHand(const std::vector<FoundKey>& keys) noexcept { keys_at_hand = &keys; }
  ~KeysAtHand() { keys_at_hand = nullptr; }
  KeysAtHand(const KeysAtHand&) = delete;
  KeysAtHand& operator=(const KeysAtHand&) = delete;
};

std::string_view view_of(const unsigned char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// The hooks of libopendkim's resolver (dkim_dns_set_query_start(3) and so on). The answer is there at once; its size is
// the handle of the query.
extern "C" int start_query(void*, int, unsigned char* name, unsigned char* out, size_t size, void** query) {
  std::string_view record;
  if (keys_at_hand != nullptr) {
    const auto key = std::ranges::find(*keys_at_hand, view_of(name), &FoundKey::name);
    if (key != keys_at_hand->end()) record = key->record;
  }
  const std::size_t written = write_key_reply(view_of(name), record, {out, size});
  *query = reinterpret_cast<void*>(written);  // NOLINT(performance-no-int-to-ptr): it is never followed
  return written == 0 ? DKIM_DNS_ERROR : DKIM_DNS_SUCCESS;
}

extern "C" int wait_for_reply(void*, void* query, timeval*, size_t* size, int* error, int* dnssec) {
  *size = reinterpret_cast<std::size_t>(query);
  *error = 0;
  *dnssec = DKIM_DNSSEC_UNKNOWN;
  return DKIM_DNS_SUCCESS;
}

extern "C" int cancel_query(void*, void*) {
  return DKIM_DNS_SUCCESS;
}

Outcome outcome_of(KeyStatus status) noexcept {
  switch (status) {
    case KeyStatus::found:
      return Outcome::pass;
    case KeyStatus::not_found:
      return Outcome::key_not_found;
    case KeyStatus::several:
      return Outcome::several_keys;
    case KeyStatus::too_long:
      return Outcome::key_too_long;
    case KeyStatus::malformed:
      return Outcome::key_malformed;
    case KeyStatus::server_failed:
      return Outcome::name_server_failed;
    case KeyStatus::bogus:
      return Outcome::dnssec_bogus;
    case KeyStatus::timed_out:
      return Outcome::name_timeout;
  }
  return Outcome::name_server_failed;
}

Outcome outcome_of_error(DKIM_SIGINFO* signature) noexcept {
  switch (dkim_sig_geterror(signature)) {
    case DKIM_SIGERROR_DOMAIN:
      return Outcome::foreign_identity;
    case DKIM_SIGERROR_EXPIRED:
      return Outcome::expired;
    case DKIM_SIGERROR_FUTURE:
      return Outcome::not_yet_valid;
    case DKIM_SIGERROR_INVALID_A:
      return Outcome::weak_algorithm;
    case DKIM_SIGERROR_TOOLARGE_L:
    case DKIM_SIGERROR_INVALID_L:
      return Outcome::body_not_covered;
    case DKIM_SIGERROR_NOKEY:
      return Outcome::key_not_found;
    case DKIM_SIGERROR_MULTIREPLY:
      return Outcome::several_keys;
    case DKIM_SIGERROR_KEYREVOKED:
      return Outcome::key_revoked;
    case DKIM_SIGERROR_KEYTOOSMALL:
      return Outcome::key_too_short;
    case DKIM_SIGERROR_KEYHASHMISMATCH:
    case DKIM_SIGERROR_NOTEMAILKEY:
      return Outcome::key_not_for_this;
    case DKIM_SIGERROR_DNSSYNTAX:
    case DKIM_SIGERROR_KEYFAIL:
    case DKIM_SIGERROR_KEYVERSION:
    case DKIM_SIGERROR_KEYUNKNOWNHASH:
    case DKIM_SIGERROR_KEYTYPEMISSING:
    case DKIM_SIGERROR_KEYTYPEUNKNOWN:
    case DKIM_SIGERROR_KEYDECODE:
      return Outcome::key_malformed;
    case DKIM_SIGERROR_SUBDOMAIN:
      return Outcome::subdomain_not_allowed;
    case DKIM_SIGERROR_BADSIG:
      return dkim_sig_getbh(signature) == DKIM_SIGBH_MISMATCH ? Outcome::body_changed : Outcome::header_changed;
    default:
      return Outcome::malformed_signature;
  }
}

bool has_same_tags(DKIM_SIGINFO* signature, const SignatureTags& tags) noexcept {
  for (std::size_t index = 0; index < tags.size(); ++index) {
    unsigned char name[] = {static_cast<unsigned char>(kReadTags[index]), '\0'};
    const unsigned char* const value = dkim_sig_gettagvalue(signature, false, name);
    if ((value != nullptr) != tags[index].has_value()) return false;
    if (value != nullptr && view_of(value) != *tags[index]) return false;
  }
  return true;
}

bool has_tag(const SignatureCandidate& candidate, char name) noexcept {
  return candidate.tags[kReadTags.find(name)].has_value();
}

struct FreeMessage {
  void operator()(DKIM* message) const noexcept { dkim_free(message); }
};

// One of the messages that are verified at once, of which it lowers the number at its end.
struct LeavePlace {
  void operator()(std::atomic<std::size_t>* places) const noexcept { --*places; }
};
using Place = std::unique_ptr<std::atomic<std::size_t>, LeavePlace>;

}  // namespace

class LibraryVerifier::Library {
 public:
  Library() : library_(dkim_init(nullptr, nullptr)) {
    unsigned flags = DKIM_LIBFLAGS_DELAYSIGPROC;  // keys are asked for at the end of the message
    unsigned bits = kLeastRsaBits;
    if (library_ == nullptr ||
        dkim_options(library_, DKIM_OP_SETOPT, DKIM_OPTS_FLAGS, &flags, sizeof flags) != DKIM_STAT_OK ||
        dkim_options(library_, DKIM_OP_SETOPT, DKIM_OPTS_MINKEYBITS, &bits, sizeof bits) != DKIM_STAT_OK) {
      throw BloomgateError(ErrorCode::library_failed, "libopendkim refused to start");
    }
    dkim_set_prescreen(library_, prescreen);
    dkim_dns_set_query_service(library_, this);  // so that the library makes none of its own
    dkim_dns_set_close(library_, [](void*) {});
    dkim_dns_set_query_start(library_, start_query);
    dkim_dns_set_query_waitreply(library_, wait_for_reply);
    dkim_dns_set_query_cancel(library_, cancel_query);
  }
  ~Library() { dkim_close(library_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  DKIM* begin() {
    static constexpr unsigned char kName[] = "message";
    DKIM_STAT status = DKIM_STAT_OK;
    DKIM* const message = dkim_verify(library_, kName, nullptr, &status);
    if (message == nullptr) throw std::bad_alloc();
    return message;
  }

 private:
  static DKIM_CBSTAT prescreen(DKIM* message, DKIM_SIGINFO** signatures, int count) noexcept;

  DKIM_LIB* library_;
};

class LibraryVerifier::Message : public Verification {
 public:
  Message(LibraryVerifier& verifier, Place place, SignatureChoice choice, const VerifyRequest& request)
      : verifier_(verifier),
        place_(std::move(place)),
        choice_(std::move(choice)),
        deadline_(Resolver::Clock::now() + verifier.rules_.dns_timeout),
        library_(verifier.library_->begin()) {
    if (needs_body_check()) body_check_.emplace(choice_.structure, choice_.encoding);
    add_header(request);
    if (!has_signature_to_verify()) {
      place_.reset();
      return;
    }
    for (const SignatureCandidate& each : choice_.candidates) {
      lookups_.push_back(each.is_worth_verifying ? verifier.resolver_.start(key_name(each.signature)) : nullptr);
    }
  }

  bool add_body(std::string_view bytes) noexcept override {
    if (is_over() || bytes.empty()) return false;
    body_bytes_ += bytes.size();
    if (body_bytes_ > verifier_.rules_.max_body_bytes) give_up(Outcome::body_too_large);
    if (has_long_line(bytes)) give_up(Outcome::line_too_long);
    if (is_over()) return false;
    if (body_check_) body_check_->add(bytes);
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // which it does not change
    if (dkim_body(library_.get(), data, bytes.size()) != DKIM_STAT_OK) give_up(Outcome::verifier_failed);
    return !is_over();
  }

  bool is_over() const noexcept override { return !place_ || has_given_up_; }

  Signatures finish() noexcept override {
    try {
      if (!is_over()) verify();
    } catch (...) {
      give_up(Outcome::verifier_failed);
    }
    if (has_given_up_) return {.all = {}, .fault = fault_};
    try {
      return std::move(choice_).outcome();
    } catch (const std::bad_alloc&) {
      return {.all = {}, .fault = Outcome::verifier_failed};
    }
  }

  void prescreen(std::span<DKIM_SIGINFO*> signatures) noexcept {
    for (DKIM_SIGINFO* const signature : signatures) {
      const auto is_it = [&](const SignatureCandidate& each) {
        return each.is_worth_verifying && place_of(each) == nullptr && has_same_tags(signature, each.tags);
      };
      const auto candidate = std::ranges::find_if(choice_.candidates, is_it);
      if (candidate == choice_.candidates.end()) {
        dkim_sig_ignore(signature);
      } else {
        place_of(*candidate) = signature;
      }
    }
  }

 private:
  static std::string key_name(const Signature& signature) {
    return signature.selector + "._domainkey." + signature.domain;
  }

  DKIM_SIGINFO*& place_of(const SignatureCandidate& candidate) noexcept {
    return places_[static_cast<std::size_t>(&candidate - choice_.candidates.data())];
  }

  void add_header(const VerifyRequest& request) {
    dkim_set_user_context(library_.get(), this);
    for (std::size_t index = 0; index < request.header.size(); ++index) {
      if (!is_for_library(index, request.header[index])) continue;
      std::string field(request.header[index]);
      // A field that it does not take is none that a signature covers; if one does, it does not verify.
      static_cast<void>(dkim_header(library_.get(), reinterpret_cast<unsigned char*>(field.data()), field.size()));
    }
    has_header_ = dkim_eoh(library_.get()) == DKIM_STAT_OK;
  }

  // Signatures that are not verified only cost time there, unless another one signs them.
  bool is_for_library(std::size_t index, std::string_view field) const noexcept {
    if (field.empty()) return false;
    if (!is_field(field, "DKIM-Signature") || choice_.needs_other_signatures) return true;
    return std::ranges::any_of(choice_.candidates, [index](const SignatureCandidate& each) {
      return each.is_worth_verifying && each.field == index;
    });
  }

  bool needs_body_check() const noexcept {
    return std::ranges::any_of(choice_.candidates, [](const SignatureCandidate& each) {
      return each.is_worth_verifying && (each.needs_enclosed_body || each.needs_encoded_body);
    });
  }

  bool has_signature_to_verify() const noexcept {
    return has_header_ && std::ranges::any_of(places_, [](const DKIM_SIGINFO* each) { return each != nullptr; });
  }

  // The library keeps what is left of a line.
  bool has_long_line(std::string_view bytes) noexcept {
    const std::size_t first = std::min(bytes.find('\n'), bytes.size());
    const bool is_long = line_bytes_ + first > kMaxVerifiedLineBytes;
    const std::size_t last = bytes.rfind('\n');
    line_bytes_ = last == std::string_view::npos ? line_bytes_ + bytes.size() : bytes.size() - last - 1;
    return is_long || line_bytes_ > kMaxVerifiedLineBytes;
  }

  void give_up(Outcome fault) noexcept {
    if (!has_given_up_) fault_ = fault;
    has_given_up_ = true;
  }

  void verify() {
    std::vector<FoundKey> keys;
    for (SignatureCandidate& each : choice_.candidates) {
      if (each.is_worth_verifying) find_key(each, keys);
    }
    const KeysAtHand at_hand(keys);
    if (body_check_) body_check_->finish();
    // The result is that of one signature, of the library's choice; each has its own.
    static_cast<void>(dkim_eom(library_.get(), nullptr));
    for (SignatureCandidate& each : choice_.candidates) {
      if (DKIM_SIGINFO* const place = place_of(each)) judge(each, place);
    }
  }

  void find_key(SignatureCandidate& candidate, std::vector<FoundKey>& keys) {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    DKIM_SIGINFO*& place = place_of(candidate);
    if (place == nullptr) return;
    Signature& signature = candidate.signature;
    const Resolver::Clock::time_point start = Resolver::Clock::now();
    const auto index = static_cast<std::size_t>(&candidate - choice_.candidates.data());
    KeyRecord record = verifier_.resolver_.wait(*lookups_[index], deadline_);
    signature.key_milliseconds = Milliseconds(Resolver::Clock::now() - start).count();
    signature.has_secure_key = record.is_secure;
    if (record.status == KeyStatus::found) {
      keys.push_back(
          {std::string(*candidate.tags[kReadTags.find('s')]) + "._domainkey." + *candidate.tags[kReadTags.find('d')],
           std::move(record.text)});
    } else {
      signature.outcome = outcome_of(record.status);
      dkim_sig_ignore(place);
      place = nullptr;
    }
  }

  void judge(SignatureCandidate& candidate, DKIM_SIGINFO* place) noexcept {
    Signature& signature = candidate.signature;
    dkim_alg_t algorithm = DKIM_SIGN_UNKNOWN;
    static_cast<void>(dkim_sig_getsignalg(place, &algorithm));
    if (algorithm == DKIM_SIGN_ED25519SHA256) {
      signature.key_bits = kEd25519Bits;
    } else if (dkim_sig_getkeysize(place, &signature.key_bits) != DKIM_STAT_OK) {
      signature.key_bits = 0;
    }
    const bool passed = (dkim_sig_getflags(place) & DKIM_SIGFLAG_PASSED) != 0 &&
                        dkim_sig_getbh(place) == DKIM_SIGBH_MATCH && dkim_sig_geterror(place) == DKIM_SIGERROR_OK;
    if (!passed) {
      signature.outcome = outcome_of_error(place);
    } else if (algorithm != DKIM_SIGN_ED25519SHA256 && signature.key_bits < kLeastRsaBits) {
      signature.outcome = Outcome::key_too_short;
    } else {
      signature.outcome = outcome_of_body(candidate);
    }
  }

  // Of a signature that is good.
  Outcome outcome_of_body(const SignatureCandidate& candidate) const noexcept {
    // The library counts no more bytes than l= says, so whether that is all of the body is not known.
    if (has_tag(candidate, 'l')) return Outcome::body_not_covered;
    if (candidate.needs_enclosed_body && !body_check_->is_enclosed()) return Outcome::field_added_content_type;
    if (candidate.needs_encoded_body && !body_check_->is_encoded()) {
      return Outcome::field_added_content_transfer_encoding;
    }
    return Outcome::pass;
  }

  LibraryVerifier& verifier_;
  Place place_;  // none: there is nothing to verify
  SignatureChoice choice_;
  Resolver::Clock::time_point deadline_;
  std::unique_ptr<DKIM, FreeMessage> library_;
  bool has_header_ = false;
  bool has_given_up_ = false;
  Outcome fault_ = Outcome::no_signature;
  // Of each candidate: where the library has it, and its key.
  std::array<DKIM_SIGINFO*, kMaxVerifiedSignatures> places_ = {};
  std::vector<std::shared_ptr<Resolver::Lookup>> lookups_;
  std::optional<BodyCheck> body_check_;  // nothing: no signature needs it
  std::uint64_t body_bytes_ = 0;
  std::size_t line_bytes_ = 0;
};

DKIM_CBSTAT LibraryVerifier::Library::prescreen(DKIM* message, DKIM_SIGINFO** signatures, int count) noexcept {
  auto* const ours = static_cast<Message*>(dkim_get_user_context(message));
  ours->prescreen({signatures, static_cast<std::size_t>(std::max(count, 0))});
  return DKIM_CBSTAT_CONTINUE;
}

LibraryVerifier::LibraryVerifier(const VerifyRules& rules, Resolver& resolver)
    : rules_(rules), resolver_(resolver), library_(std::make_unique<Library>()) {}

LibraryVerifier::~LibraryVerifier() = default;

std::unique_ptr<Verification> LibraryVerifier::begin(const VerifyRequest& request) {
  const bool is_free = under_way_.fetch_add(1) < kMaxAtOnce;
  Place place(&under_way_);
  if (!is_free) {
    return std::make_unique<KnownOutcome>(Signatures{.all = {}, .fault = Outcome::too_busy});
  }
  SignatureChoice choice = choose_signatures(request, rules_);
  if (choice.is_empty()) return std::make_unique<KnownOutcome>(std::move(choice).outcome());
  return std::make_unique<Message>(*this, std::move(place), std::move(choice), request);
}

}  // namespace bloomgate
