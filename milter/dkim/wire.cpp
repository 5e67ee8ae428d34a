#include "milter/dkim/wire.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace bloomgate::wire {
namespace {

constexpr auto kLastOutcome = SignatureOutcome::verifier_timeout;
constexpr std::size_t kMaxHeaderFields = 4096;
constexpr std::size_t kMaxListEntries = 1024;
constexpr std::uint64_t kMostSeconds = 0xff'ffff'ffff;

template <typename Number>
void put(std::string& out, Number number) {
  for (std::size_t byte = 0; byte < sizeof number; ++byte) {
    out += static_cast<char>(static_cast<unsigned char>(number >> (8 * byte)));
  }
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void put_list(std::string& out, const std::vector<std::string>& list) {
  put(out, static_cast<std::uint32_t>(list.size()));
  for (const std::string& each : list) put_text(out, each);
}

// After the first missing byte it has failed, and returns zeros and empty texts.
class Reader {
 public:
  explicit Reader(std::string_view bytes) noexcept : rest_(bytes) {}

  template <typename Number>
  Number number() noexcept {
    Number value = 0;
    const std::string_view bytes = take(sizeof value);
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
      value = static_cast<Number>(value | Number{static_cast<unsigned char>(bytes[byte])} << (8 * byte));
    }
    return value;
  }

  std::string_view text() noexcept { return take(number<std::uint32_t>()); }

  bool flag() noexcept {
    const auto value = number<std::uint8_t>();
    failed_ = failed_ || value > 1;
    return value == 1;
  }

  // How many entries follow; each takes at least one byte, so a false count does not allocate memory.
  std::size_t count(std::size_t most) noexcept {
    const auto value = number<std::uint32_t>();
    failed_ = failed_ || value > most || value > rest_.size();
    return failed_ ? 0 : value;
  }

  void fail() noexcept { failed_ = true; }
  bool has_failed() const noexcept { return failed_; }
  bool is_done() const noexcept { return !failed_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t size) noexcept {
    failed_ = failed_ || size > rest_.size();
    if (failed_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::vector<std::string> read_list(Reader& reader) {
  std::vector<std::string> list(reader.count(kMaxListEntries));
  for (std::string& each : list) each = reader.text();
  return list;
}

SignatureOutcome read_outcome(Reader& reader) noexcept {
  const auto value = reader.number<std::uint8_t>();
  if (value > static_cast<std::uint8_t>(kLastOutcome)) {
    reader.fail();
    return SignatureOutcome::verifier_failed;
  }
  return static_cast<SignatureOutcome>(value);
}

Domain read_domain(Reader& reader) noexcept {
  Domain domain;
  domain.append(reader.text());
  if (domain.overflowed()) reader.fail();
  return domain;
}

}  // namespace

std::string head_bytes(const Head& head) {
  std::string bytes;
  put(bytes, static_cast<std::uint8_t>(head.kind));
  put(bytes, head.size);
  return bytes;
}

std::optional<Head> read_head(std::string_view bytes) noexcept {
  Reader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  const auto size = reader.number<std::uint32_t>();
  if (!reader.is_done() || kind > static_cast<std::uint8_t>(Kind::found) || size > kMaxPartBytes) return std::nullopt;
  return Head{static_cast<Kind>(kind), size};
}

std::string encode(const VerifyRequest& request) {
  std::string out;
  for (const Domain& domain : request.need.domains) put_text(out, domain.view());
  put(out, static_cast<std::uint64_t>(request.now.time_since_epoch().count()));
  put(out, static_cast<std::uint32_t>(request.header.size()));
  for (const std::string_view field : request.header) put_text(out, field);
  return out;
}

std::optional<OwnedRequest> decode_request(std::string_view bytes) {
  Reader reader(bytes);
  OwnedRequest request;
  for (Domain& domain : request.need.domains) domain = read_domain(reader);
  request.now = std::chrono::sys_seconds(std::chrono::seconds(reader.number<std::uint64_t>() & kMostSeconds));
  request.header.resize(reader.count(kMaxHeaderFields));
  for (std::string& field : request.header) field = reader.text();
  return reader.is_done() ? std::optional(std::move(request)) : std::nullopt;
}

std::string encode(const Signatures& signatures) {
  std::string out;
  put(out, static_cast<std::uint8_t>(signatures.fault));
  put(out, static_cast<std::uint32_t>(signatures.all.size()));
  for (const Signature& each : signatures.all) {
    put(out, static_cast<std::uint8_t>(each.outcome));
    put_text(out, each.domain);
    put_text(out, each.selector);
    put(out, static_cast<std::uint32_t>(each.key_bits));
    put(out, static_cast<std::uint32_t>(std::clamp(each.key_milliseconds * 1000, 0.0, 4e9)));
    put(out, static_cast<std::uint8_t>(each.has_secure_key));
  }
  put(out, static_cast<std::uint32_t>(signatures.owner_rules.size()));
  for (const OwnerRule& each : signatures.owner_rules) {
    put_text(out, each.domain);
    put_text(out, each.signer);
    put(out, static_cast<std::uint8_t>(each.outcome));
  }
  return out;
}

std::optional<Signatures> decode_signatures(std::string_view bytes) {
  Reader reader(bytes);
  Signatures signatures;
  signatures.fault = read_outcome(reader);
  if (signatures.fault == SignatureOutcome::pass) reader.fail();  // only a signature can pass
  signatures.all.resize(reader.count(kMaxVerifiedSignatures));
  for (Signature& each : signatures.all) {
    each.outcome = read_outcome(reader);
    each.domain = read_domain(reader).view();
    each.selector = read_domain(reader).view();
    each.key_bits = reader.number<std::uint32_t>();
    each.key_milliseconds = reader.number<std::uint32_t>() / 1000.0;
    each.has_secure_key = reader.flag();
  }
  signatures.owner_rules.resize(reader.count(kMaxOwnerRules));
  for (OwnerRule& each : signatures.owner_rules) {
    each.domain = read_domain(reader).view();
    each.signer = read_domain(reader).view();
    each.outcome = read_outcome(reader);
  }
  return reader.is_done() ? std::optional(std::move(signatures)) : std::nullopt;
}

std::string encode(const ChildOptions& options) {
  std::string out;
  put(out, static_cast<std::uint8_t>(options.rules.alignment));
  put(out, static_cast<std::uint8_t>(options.rules.cover.require_oversigned));
  put(out, options.rules.cover.required.bits());
  put(out, static_cast<std::uint32_t>(options.rules.cover.max_age.count()));
  put(out, static_cast<std::uint64_t>(options.rules.dns_timeout.count()));
  put(out, options.rules.max_body_bytes);
  put_list(out, options.resolver.servers);
  put_text(out, options.resolver.trust_anchor_file);
  put_list(out, options.resolver.records);
  put_text(out, options.resolver.resolv_conf);
  return out;
}

std::optional<ChildOptions> decode_options(std::string_view bytes) {
  Reader reader(bytes);
  ChildOptions options;
  options.rules.alignment = static_cast<Alignment>(reader.number<std::uint8_t>());
  options.rules.cover.require_oversigned = reader.flag();
  options.rules.cover.required = WatchedFieldSet::of_bits(reader.number<std::uint32_t>());
  options.rules.cover.max_age = std::chrono::days(reader.number<std::uint32_t>() & 0xff'ffff);
  options.rules.dns_timeout = std::chrono::milliseconds(reader.number<std::uint64_t>() & 0xffff'ffff);
  options.rules.max_body_bytes = reader.number<std::uint64_t>();
  options.resolver.servers = read_list(reader);
  options.resolver.trust_anchor_file = reader.text();
  options.resolver.records = read_list(reader);
  options.resolver.resolv_conf = reader.text();
  return reader.is_done() ? std::optional(std::move(options)) : std::nullopt;
}

std::string encode(const Note& note) {
  constexpr std::size_t kRest = 16;
  std::string out;
  put(out, static_cast<std::uint8_t>(note.kind));
  put(out, static_cast<std::uint8_t>(note.status));
  put(out, static_cast<std::uint32_t>(std::clamp<std::int64_t>(note.took.count(), 0, 0xffff'ffff)));
  put_text(out, std::string_view(note.text).substr(0, kMaxNoteBytes - kRest));
  return out;
}

std::optional<Note> decode_note(std::string_view bytes) {
  Reader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  const auto status = reader.number<std::uint8_t>();
  Note note;
  note.took = std::chrono::microseconds(reader.number<std::uint32_t>());
  note.text = reader.text();
  if (!reader.is_done() || kind > static_cast<std::uint8_t>(Note::Kind::key) || status >= kTxtStatuses) {
    return std::nullopt;
  }
  note.kind = static_cast<Note::Kind>(kind);
  note.status = static_cast<TxtStatus>(status);
  return note;
}

}  // namespace bloomgate::wire
