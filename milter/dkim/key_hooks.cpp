#include "milter/dkim/key_hooks.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "milter/dkim/key_reply.hpp"

namespace bloomgate {
namespace {

thread_local const std::vector<FoundKey>* keys_at_hand = nullptr;

std::string_view name_of(const unsigned char* text) noexcept {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

// The hooks of libopendkim's resolver (dkim_dns_set_query_start(3) and so on). The answer is available at once; its
// size serves as the handle of the query.
extern "C" int start_query(void*, int, unsigned char* name, unsigned char* out, size_t size, void** query) {
  std::string_view record;
  if (keys_at_hand != nullptr) {
    const auto key = std::ranges::find(*keys_at_hand, name_of(name), &FoundKey::name);
    if (key != keys_at_hand->end()) record = key->record;
  }
  const std::size_t written = write_key_reply(name_of(name), record, {out, size});
  *query = reinterpret_cast<void*>(written);  // NOLINT(performance-no-int-to-ptr): it is never dereferenced
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

}  // namespace

KeysAtHand::KeysAtHand(const std::vector<FoundKey>& keys) noexcept {
  keys_at_hand = &keys;
}

KeysAtHand::~KeysAtHand() {
  keys_at_hand = nullptr;
}

void use_keys_at_hand(DKIM_LIB* library) noexcept {
  dkim_dns_set_query_service(library, library);  // so that the library creates none of its own
  dkim_dns_set_close(library, [](void*) {});
  dkim_dns_set_query_start(library, start_query);
  dkim_dns_set_query_waitreply(library, wait_for_reply);
  dkim_dns_set_query_cancel(library, cancel_query);
}

}  // namespace bloomgate
