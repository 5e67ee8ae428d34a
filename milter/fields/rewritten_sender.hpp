// Undoes what mail servers on the way have done to an envelope sender, so that the listed original sender is found:
//
//   BATV: `prvs=TAG=local@domain`, `prvs=local=TAG@domain` and `btv1==TAG==local@domain` are `local@domain`.
//
// The sender's own server tags its senders, to recognise its bounces. The domain stays the same, so any BATV may be
// undone.
//
//   SRS0: `SRS0=hash=tt=domain=local@forwarder` is `local@domain`.
//
// A forwarder turned the sender into one of its own addresses, so that SPF passes for it. Anyone can write such an
// address, so it is undone for trusted forwarders only.
//
//   SRS1: `SRS1=hash=first==hash=tt=domain=local@last` is `local@domain` too.
//
// A further forwarder received an SRS0 address. It is undone if both the first and the last forwarder are trusted: the
// last one vouches that it received the address from the first, and the first that it received it from `local@domain`.
// If the last one were enough, a spammer could send it an SRS0 address of the spammer's own domain with any sender
// inside, and the last forwarder would truthfully pass that on.
//
// To trust a forwarder means two things: it checks mail before it forwards it (SPF of the senders that it rewrites),
// and it accepts SRS1 addresses only from forwarders that do so, too. Forwarders between the first and the last leave
// no trace in the address.
//
// Pure and noexcept; safe from any thread. Used by the decision. The original sender has the forwarder's
// authentication, not its own. Rules that forbid a sender must still check the sender in its rewritten form.
//
// Sources: draft-levine-smtp-batv-01 (BATV), Shevek, "The Sender Rewriting Scheme" (SRS).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/base/fixed_text.hpp"

namespace bloomgate {

enum class Rewriting : std::uint8_t { batv, srs0, srs1 };

// The result, without memory on the heap.
class RewrittenSender {
 public:
  static constexpr std::size_t kMaxLayers = 4;  // a forwarder may rewrite what a BATV server has tagged, and so on

  // Whether anything was undone; otherwise the other members are empty.
  bool is_undone() const noexcept { return layer_count_ != 0; }
  // `local@domain`, for canonicalize_path(), which may still reject it.
  std::string_view path() const noexcept { return path_.view(); }
  // The layers that were undone, the outermost first.
  std::span<const Rewriting> layers() const noexcept { return {layers_.data(), layer_count_}; }
  // Whether SRS is among the layers. If so, path() has another domain than the sender had on arrival.
  bool is_forwarded() const noexcept;
  // The canonical domain that the sender had on arrival; for forwarded mail, this domain has to be authenticated.
  std::string_view sending_domain() const noexcept { return sending_domain_.view(); }

 private:
  friend RewrittenSender undo_rewriting(std::string_view path,
                                        std::span<const std::string> trusted_forwarders) noexcept;

  FixedText<kMaxAddressBytes> path_;
  FixedText<kMaxDomainBytes> sending_domain_;
  std::array<Rewriting, kMaxLayers> layers_{};
  std::size_t layer_count_ = 0;
};

// Undoes all layers that can be undone. `path` is the envelope sender as the mail server passes it, `<local@domain>` or
// without brackets; local parts over 64 octets are undone too, since SRS makes them. `trusted_forwarders` are canonical
// domains (Entry::domain()); each stands for itself only, not for domains below it. A path is left unchanged if its
// local part is in quotes, if its tag may be either of two fields, or if a field is malformed. Linear in the path and
// in the number of forwarders; allocates only for domains beyond ASCII.
RewrittenSender undo_rewriting(std::string_view path, std::span<const std::string> trusted_forwarders) noexcept;

}  // namespace bloomgate
