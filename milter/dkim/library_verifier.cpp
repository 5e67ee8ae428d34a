#include "milter/dkim/library_verifier.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/base/error.hpp"
#include "milter/dkim/header_hash.hpp"
#include "milter/dkim/key_hooks.hpp"
#include "milter/dkim/key_record.hpp"
#include "milter/dkim/library_outcome.hpp"
#include "milter/dkim/opendkim.hpp"
#include "milter/dkim/owner_questions.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/dkim/verifier.hpp"
#include "milter/fields/body_check.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

struct FreeMessage {
  void operator()(DKIM* message) const noexcept { dkim_free(message); }
};

// One of the messages that are verified concurrently; decrements their number at its end.
struct LeavePlace {
  void operator()(std::atomic<std::size_t>* places) const noexcept { --*places; }
};
using Place = std::unique_ptr<std::atomic<std::size_t>, LeavePlace>;

std::string key_name(const Signature& signature) {
  return signature.selector + "._domainkey." + signature.domain;
}

// In the form in which the library asks for it: with the signature's own upper and lower case.
std::string key_name_of(const SignatureCandidate& candidate) {
  return *candidate.tags["s"] + "._domainkey." + *candidate.tags["d"];
}

// The look-ups of the keys of one message's signatures, started at the end of its header.
class KeyLookups {
 public:
  // Starts a look-up for each candidate that is worth verifying, and does not wait. `resolver` must outlive the object.
  // Throws std::bad_alloc.
  KeyLookups(Resolver& resolver, const std::vector<SignatureCandidate>& candidates);

  // Waits until `deadline` for the key of the candidate at `index`, which must be worth verifying, and stores in its
  // signature how long that took. Returns nothing, and sets the outcome of the signature, if there is no valid key.
  // Throws std::bad_alloc.
  std::optional<FoundKey> find(SignatureCandidate& candidate, std::size_t index, Resolver::Clock::time_point deadline);

 private:
  Resolver& resolver_;
  std::vector<std::shared_ptr<Resolver::Lookup>> lookups_;  // of each candidate; null: not worth verifying
};

KeyLookups::KeyLookups(Resolver& resolver, const std::vector<SignatureCandidate>& candidates) : resolver_(resolver) {
  for (const SignatureCandidate& each : candidates) {
    lookups_.push_back(each.is_worth_verifying ? resolver.start(key_name(each.signature)) : nullptr);
  }
}

std::optional<FoundKey> KeyLookups::find(SignatureCandidate& candidate, std::size_t index,
                                         Resolver::Clock::time_point deadline) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  Signature& signature = candidate.signature;
  const Resolver::Clock::time_point start = Resolver::Clock::now();
  const TxtRecord record = resolver_.wait(*lookups_[index], deadline);
  signature.key_milliseconds = Milliseconds(Resolver::Clock::now() - start).count();
  resolver_.report_key(*lookups_[index], record.status);
  signature.has_secure_key = record.is_secure;
  ReadKey key = {.outcome = outcome_of(record.status), .record = {}};
  if (record.status == TxtStatus::found) key = read_key_record(record.text, *candidate.tags["a"]);
  if (key.outcome == SignatureOutcome::pass) return FoundKey{key_name_of(candidate), std::move(key.record)};
  signature.outcome = key.outcome;
  return std::nullopt;
}

}  // namespace

class LibraryVerifier::Library {
 public:
  Library() : library_(dkim_init(nullptr, nullptr)) {
    unsigned flags = DKIM_LIBFLAGS_DELAYSIGPROC;  // keys are requested at the end of the message
    unsigned bits = kLeastRsaBits;
    if (library_ == nullptr ||
        dkim_options(library_, DKIM_OP_SETOPT, DKIM_OPTS_FLAGS, &flags, sizeof flags) != DKIM_STAT_OK ||
        dkim_options(library_, DKIM_OP_SETOPT, DKIM_OPTS_MINKEYBITS, &bits, sizeof bits) != DKIM_STAT_OK) {
      throw BloomgateError(ErrorCode::library_failed, "libopendkim refused to start");
    }
    dkim_set_prescreen(library_, prescreen);
    dkim_set_final(library_, before_verifying);
    use_keys_at_hand(library_);
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
  static DKIM_CBSTAT before_verifying(DKIM* message, DKIM_SIGINFO** signatures, int count) noexcept;

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
    make_own_hashes(request);
    add_header(request);
    if (!has_signature_to_verify()) {
      place_.reset();
      return;
    }
    keys_.emplace(verifier.resolver_, choice_.candidates);
    owners_.emplace(verifier.resolver_, choice_, verifier.rules_.alignment);
  }

  bool add_body(std::string_view bytes) noexcept override {
    if (is_over() || bytes.empty()) return false;
    body_bytes_ += bytes.size();
    if (body_bytes_ > verifier_.rules_.max_body_bytes) give_up(Outcome::body_too_large);
    if (has_long_line(bytes)) give_up(Outcome::line_too_long);
    if (is_over()) return false;
    if (body_check_) body_check_->add(bytes);
    ends_with_line_end_ = bytes.ends_with("\r\n") || (bytes == "\n" && last_byte_ == '\r');
    last_byte_ = bytes.back();
    return give_to_library(bytes);
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
      Signatures found = std::move(choice_).outcome();
      found.owner_rules = std::move(owner_rules_);
      return found;
    } catch (const std::bad_alloc&) {
      return {.all = {}, .fault = Outcome::verifier_failed};
    }
  }

  // The library gives access to the memory of the hash that it is about to verify.
  void set_own_hashes() noexcept {
    for (std::size_t index = 0; index < places_.size(); ++index) {
      if (places_[index] == nullptr || !own_hashes_[index]) continue;
      void* header = nullptr;
      void* body = nullptr;
      std::size_t header_bytes = 0, body_bytes = 0;
      const DKIM_STAT status = dkim_sig_gethashes(places_[index], &header, &header_bytes, &body, &body_bytes);
      if (status == DKIM_STAT_OK && header_bytes == sizeof(HeaderHash)) {
        std::memcpy(header, own_hashes_[index]->data(), header_bytes);
      }
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
  std::size_t index_of(const SignatureCandidate& candidate) const noexcept {
    return static_cast<std::size_t>(&candidate - choice_.candidates.data());
  }

  DKIM_SIGINFO*& place_of(const SignatureCandidate& candidate) noexcept { return places_[index_of(candidate)]; }

  void make_own_hashes(const VerifyRequest& request) {
    for (std::size_t index = 0; index < choice_.candidates.size(); ++index) {
      const SignatureCandidate& each = choice_.candidates[index];
      if (each.is_worth_verifying && needs_own_hash(request.header[each.field])) {
        own_hashes_[index] = header_hash(request.header, each.field);
      }
    }
  }

  void add_header(const VerifyRequest& request) {
    dkim_set_user_context(library_.get(), this);
    for (std::size_t index = 0; index < request.header.size(); ++index) {
      if (!is_for_library(index, request.header[index])) continue;
      std::string field(request.header[index]);
      // If the library rejects a field, no signature should cover it; if one does, that signature fails.
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
      return each.is_worth_verifying && (each.needs_enclosed_body || each.needs_encoded_body || each.needs_no_message);
    });
  }

  bool has_signature_to_verify() const noexcept {
    return has_header_ && std::ranges::any_of(places_, [](const DKIM_SIGINFO* each) { return each != nullptr; });
  }

  // The library buffers an unfinished line.
  bool has_long_line(std::string_view bytes) noexcept {
    const std::size_t first = std::min(bytes.find('\n'), bytes.size());
    const bool is_long = line_bytes_ + first > kMaxVerifiedLineBytes;
    const std::size_t last = bytes.rfind('\n');
    line_bytes_ = last == std::string_view::npos ? line_bytes_ + bytes.size() : bytes.size() - last - 1;
    return is_long || line_bytes_ > kMaxVerifiedLineBytes;
  }

  bool give_to_library(std::string_view bytes) noexcept {
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // which it does not change
    if (dkim_body(library_.get(), data, bytes.size()) != DKIM_STAT_OK) give_up(Outcome::verifier_failed);
    return !is_over();
  }

  void give_up(Outcome fault) noexcept {
    if (!has_given_up_) fault_ = fault;
    has_given_up_ = true;
  }

  void verify() {
    std::vector<FoundKey> keys;
    for (SignatureCandidate& each : choice_.candidates) {
      if (place_of(each) == nullptr) continue;
      if (auto key = keys_->find(each, index_of(each), deadline_)) {
        keys.push_back(std::move(*key));
      } else {
        dkim_sig_ignore(place_of(each));
        place_of(each) = nullptr;
      }
    }
    const KeysAtHand at_hand(keys);
    if (body_check_) body_check_->finish();
    // A body ends with a line end, or gets one (RFC 6376 sections 3.4.3 and 3.4.4).
    if (body_bytes_ != 0 && !ends_with_line_end_) give_to_library("\r\n");
    // The library's result is that of one signature, of its choice; each signature has its own.
    static_cast<void>(dkim_eom(library_.get(), nullptr));
    for (SignatureCandidate& each : choice_.candidates) {
      if (place_of(each) == nullptr) continue;
      judge(place_of(each), each.signature);
      if (each.signature.outcome == Outcome::pass) each.signature.outcome = outcome_of_body(each);
    }
    owner_rules_ = owners_->rules(choice_, deadline_);
  }

  // For a signature that is valid.
  Outcome outcome_of_body(const SignatureCandidate& candidate) const noexcept {
    // With l=, the library counts no more bytes than l= says, so whether that is the whole body is unknown.
    if (candidate.tags["l"]) return Outcome::body_not_covered;
    if ((candidate.needs_enclosed_body && !body_check_->is_enclosed()) ||
        (candidate.needs_no_message && body_check_->has_message())) {
      return Outcome::field_added_content_type;
    }
    if (candidate.needs_encoded_body && !body_check_->is_encoded()) {
      return Outcome::field_added_content_transfer_encoding;
    }
    return Outcome::pass;
  }

  LibraryVerifier& verifier_;
  Place place_;  // null: there is nothing to verify
  SignatureChoice choice_;
  Resolver::Clock::time_point deadline_;
  std::unique_ptr<DKIM, FreeMessage> library_;
  bool has_header_ = false;
  bool has_given_up_ = false;
  Outcome fault_ = Outcome::no_signature;
  // For each candidate: the library's object.
  std::array<DKIM_SIGINFO*, kMaxVerifiedSignatures> places_ = {};
  std::array<std::optional<HeaderHash>, kMaxVerifiedSignatures> own_hashes_ = {};  // where the library's hash is wrong
  std::optional<KeyLookups> keys_;
  std::optional<OwnerQuestions> owners_;
  std::vector<OwnerRule> owner_rules_;
  std::optional<BodyCheck> body_check_;  // nothing: no signature needs it
  std::uint64_t body_bytes_ = 0;
  std::size_t line_bytes_ = 0;
  char last_byte_ = '\0';
  bool ends_with_line_end_ = false;
};

DKIM_CBSTAT LibraryVerifier::Library::prescreen(DKIM* message, DKIM_SIGINFO** signatures, int count) noexcept {
  auto* const ours = static_cast<Message*>(dkim_get_user_context(message));
  ours->prescreen({signatures, static_cast<std::size_t>(std::max(count, 0))});
  return DKIM_CBSTAT_CONTINUE;
}

DKIM_CBSTAT LibraryVerifier::Library::before_verifying(DKIM* message, DKIM_SIGINFO**, int) noexcept {
  static_cast<Message*>(dkim_get_user_context(message))->set_own_hashes();
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
