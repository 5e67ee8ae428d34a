#include "milter/lookup/learned_answers.hpp"

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

bool is_unix_socket(const SocketAddress& address) noexcept {
  return address.family == SocketAddress::Family::unix_path;
}

}  // namespace

bool answers_for_learned(const SocketAddress& address, const DaemonOptions& options) noexcept {
  return is_unix_socket(address) || options.lookup_learned_over_tcp;
}

std::string learned_answers_text(const SocketAddress& address, const DaemonOptions& options) {
  if (!knows_learned(options)) return {};
  const std::string begin = "lookup-socket " + printable(to_string(address)) + ": ";
  if (is_unix_socket(address)) {
    constexpr mode_t kOthersWrite = 0002;
    return begin + "answers for what was learned, too; " +
           ((options.socket_mode & kOthersWrite) != 0 ? "socket-mode lets every user of this machine ask"
                                                      : "socket-mode and socket-group say who may ask");
  }
  if (answers_for_learned(address, options)) {
    return begin + "answers for what was learned, too (lookup-learned-over-tcp = yes): every program that reaches " +
           "this address can ask whether a user has written to somebody";
  }
  return begin +
         "what was learned is not asked there; a unix socket, whose mode says who may ask, answers for it, or " +
         "lookup-learned-over-tcp = yes";
}

}  // namespace bloomgate
