#include "milter/policy/confirmation.hpp"

#include "config/enum_words.hpp"

namespace bloomgate {

std::string_view confirmation_name(Confirmation confirmation) noexcept {
  using enum Confirmation;
  static constexpr auto kWords = enum_words<Confirmation>({{yes, "yes"},
                                                           {no, "no"},
                                                           {timeout, "timeout"},
                                                           {busy, "busy"},
                                                           {damaged, "damaged"},
                                                           {unreadable, "unreadable"}});
  return word_of(kWords, confirmation);
}

}  // namespace bloomgate
