#include "filter/learned/learned_use.hpp"

#include <fcntl.h>

#include <cerrno>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kUseFileMode = 0640;
constexpr std::int64_t kToTheEnd = 0;

std::string use_file_of(const std::string& learned_file) {
  return learned_file + "-use";
}

struct flock lock_of(short type, std::int64_t begin, std::int64_t count) noexcept {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = count;
  return lock;
}

}  // namespace

LearnedUse::LearnedUse(const std::string& path) : path_(use_file_of(path)) {
  file_.reset(open(path_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, kUseFileMode));
  if (!file_.is_open()) throw system_error(ErrorCode::cannot_write, "create", path_, errno);
  set_applied(0);
}

// The new byte is locked before the others are released, so that no daemon seems to be absent in between.
void LearnedUse::set_applied(std::int64_t forgets) {
  const auto set = [&](struct flock lock) {
    if (fcntl(file_.get(), F_OFD_SETLK, &lock) != 0) throw system_error(ErrorCode::cannot_write, "lock", path_, errno);
  };
  set(lock_of(F_RDLCK, forgets, 1));
  if (forgets > 0) set(lock_of(F_UNLCK, 0, forgets));
  set(lock_of(F_UNLCK, forgets + 1, kToTheEnd));
}

ForgetState forget_state(const std::string& path, std::int64_t forgets) {
  const std::string name = use_file_of(path);
  const FileDescriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open() && errno == ENOENT) return ForgetState::no_daemon;
  if (!file.is_open()) throw system_error(ErrorCode::cannot_open, "open", name, errno);
  const auto is_locked = [&](std::int64_t begin, std::int64_t count) {
    struct flock lock = lock_of(F_WRLCK, begin, count);
    if (fcntl(file.get(), F_OFD_GETLK, &lock) != 0) {
      throw system_error(ErrorCode::cannot_read, "read the locks of", name, errno);
    }
    return lock.l_type != F_UNLCK;
  };
  if (is_locked(0, forgets)) return ForgetState::not_yet;
  return is_locked(forgets, kToTheEnd) ? ForgetState::in_force : ForgetState::no_daemon;
}

}  // namespace bloomgate
