// Preloaded into a program (LD_PRELOAD), makes its calls to the file system fail, and records them.
//
// Only calls for files in one folder count, libmilter's smfi_main(), in which the daemon runs, and, where a fault is
// wanted of it, pthread_create(); everything else goes to the system as it is. The environment says what is wanted:
//
//   FAULTY_CALLS_FOLDER  the folder, as an absolute path without links
//   FAULTY_CALLS_LOG     a file outside of it, to which a line for each call is appended: `NAME BYTES OFFSET PATH`,
//   with
//                        0 where a call has no bytes or offset. A rename or a link has the new path.
//   FAULTY_CALLS_FAULT   `NAME N FAULT` for the N-th call of that name, counted from 1, or `NAME N+ FAULT` for it and
//                        all that come after. FAULT is an errno number, or one of
//                          short        half of the bytes are done
//                          interrupted  EINTR
//                          end          nothing is done, and 0 is returned
//                          lost         nothing is done, but it is told to be
//                          flipped      one bit in the middle is another
//                          terminate    the call is done, and the program gets SIGTERM in it
//                          kill         the program gets SIGKILL instead of the call
//                          cut          the call is done, and then the file has no bytes any more
//                          touched      the call is done, and then the file has another time, as after a write; of
//                                       an exchange, the file that lost the path
//
// Calls go to the kernel without the C library, since a program may make them before that is ready. fsync() is only
// recorded: a test's files need not survive the machine.

// With checks of sizes, calls get other names. A program that was compiled so has them; here they would be in the way.
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t kDirectBytes = 4096;  // what a file past the page cache is read and written in

enum class Fault { none, error, half, interrupted, end, lost, flipped, cut, touched };

struct Plan {
  std::string folder;
  int log = -1;
  std::string name;
  long first = 0;
  bool goes_on = false;
  Fault fault = Fault::none;
  int error = 0;
  int signal = 0;
  std::atomic<long> calls{0};

  Plan() {
    const auto text_of = [](const char* variable) -> std::string {
      const char* const value = std::getenv(variable);
      return value == nullptr ? "" : value;
    };
    folder = text_of("FAULTY_CALLS_FOLDER");
    const std::string log_path = text_of("FAULTY_CALLS_LOG");
    if (!log_path.empty()) {
      log = static_cast<int>(
          syscall(SYS_openat, AT_FDCWD, log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    }
    const std::string wanted = text_of("FAULTY_CALLS_FAULT");
    if (wanted.empty()) return;
    const std::size_t number_at = wanted.find(' ') + 1;
    const std::size_t fault_at = wanted.find(' ', number_at) + 1;
    name = wanted.substr(0, number_at - 1);
    first = std::atol(wanted.c_str() + number_at);
    goes_on = wanted[fault_at - 2] == '+';
    read_fault(wanted.substr(fault_at));
  }

  void read_fault(const std::string& text) {
    constexpr std::pair<std::string_view, Fault> kNames[] = {
        {"short", Fault::half},     {"interrupted", Fault::interrupted}, {"end", Fault::end},
        {"lost", Fault::lost},      {"flipped", Fault::flipped},         {"cut", Fault::cut},
        {"touched", Fault::touched}};
    signal = text == "terminate" ? SIGTERM : text == "kill" ? SIGKILL : 0;
    if (signal != 0) return;
    for (const auto& [each, kind] : kNames) {
      if (text == each) fault = kind;
    }
    if (fault != Fault::none) return;
    fault = Fault::error;
    error = std::atoi(text.c_str());
  }

  bool is_in_folder(std::string_view path) const {
    return !folder.empty() && path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  }

  // Records the call, and says what is to become of it. It sets errno if that is an error.
  Fault fault_of(std::string_view call, std::size_t bytes, off_t offset, std::string_view path) {
    if (log >= 0) {
      const std::string line = std::string(call) + ' ' + std::to_string(bytes) + ' ' + std::to_string(offset) + ' ' +
                               std::string(path) + '\n';
      syscall(SYS_write, log, line.data(), line.size());
    }
    if (call != name) return Fault::none;
    const long number = ++calls;
    if (number != first && !(goes_on && number > first)) return Fault::none;
    if (signal != 0) raise(signal);
    if (fault == Fault::error) errno = error;
    if (fault == Fault::interrupted) {
      if ((number - first) % 2 == 1) return Fault::none;  // a call that is always interrupted never ends
      errno = EINTR;
    }
    return fault;
  }
};

Plan& plan() {
  static Plan* const plan = new Plan;  // still there when the program's own objects go
  return *plan;
}

std::string path_of(const char* path) {
  if (path[0] == '/') return path;
  char folder[PATH_MAX];
  if (syscall(SYS_getcwd, folder, sizeof folder) < 0) return path;
  return std::string(folder) + (std::strcmp(path, ".") == 0 ? "" : std::string("/") + path);
}

std::string path_of(int file) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), path, sizeof path);
  return size < 0 ? std::string() : std::string(path, static_cast<std::size_t>(size));
}

// What is to become of a call for `where`, a path or a descriptor.
template <typename Where>
Fault fault_of(std::string_view call, std::size_t bytes, off_t offset, Where where) {
  const int error = errno;
  const std::string path = path_of(where);
  errno = error;
  if (!plan().is_in_folder(path)) return Fault::none;
  return plan().fault_of(call, bytes, offset, path);
}

bool fails(Fault fault) {
  return fault == Fault::error || fault == Fault::interrupted;
}

// Half of the bytes; past the page cache half of the blocks, of which the first is done whole.
std::size_t half_of(int file, std::size_t bytes) {
  const bool direct = (syscall(SYS_fcntl, file, F_GETFL) & O_DIRECT) != 0;
  if (!direct) return (bytes + 1) / 2;
  return bytes < 2 * kDirectBytes ? bytes : bytes / 2 / kDirectBytes * kDirectBytes;
}

// `call(bytes, count)` reads or writes.
template <typename Byte, typename Call>
ssize_t transfer(Fault fault, int file, Byte* bytes, std::size_t count, Call call) {
  if (fails(fault)) return -1;
  if (fault == Fault::end) return 0;
  if (fault == Fault::lost) return static_cast<ssize_t>(count);
  return static_cast<ssize_t>(call(bytes, fault == Fault::half ? half_of(file, count) : count));
}

template <typename Call>
ssize_t write_with(Fault fault, int file, const void* from, std::size_t count, Call call) {
  if (fault != Fault::flipped || count == 0) return transfer(fault, file, from, count, call);
  const std::size_t whole = (count + kDirectBytes - 1) / kDirectBytes * kDirectBytes;
  char* const copy = static_cast<char*>(std::aligned_alloc(kDirectBytes, whole));
  std::memcpy(copy, from, count);
  copy[count / 2] = static_cast<char>(copy[count / 2] ^ 1);
  const auto done = static_cast<ssize_t>(call(copy, count));
  std::free(copy);
  return done;
}

// A time that the file never had, however coarse the file system's clock.
void touch(int folder, const char* path) {
  static std::atomic<time_t> seconds{1'000'000'000};
  const timespec time = {.tv_sec = ++seconds, .tv_nsec = 0};
  const timespec times[] = {time, time};
  syscall(SYS_utimensat, folder, path, times, 0);
}

template <typename Call>
ssize_t read_with(Fault fault, int file, void* to, std::size_t count, Call call) {
  const ssize_t done = transfer(fault, file, to, count, call);
  if (fault == Fault::touched) touch(file, nullptr);
  if (fault == Fault::flipped && done > 0) {
    char& byte = static_cast<char*>(to)[done / 2];
    byte = static_cast<char>(byte ^ 1);
  }
  return done;
}

int open_with(int folder, const char* path, int flags, mode_t mode) {
  const bool in_folder_of_process = folder == AT_FDCWD || path[0] == '/';
  if (in_folder_of_process && fails(fault_of("open", 0, 0, path))) return -1;
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

}  // namespace

// NOLINTBEGIN: the names and shapes are the C library's.
extern "C" {

ssize_t pwrite(int file, const void* from, size_t count, off_t offset) {
  return write_with(fault_of("pwrite", count, offset, file), file, from, count,
                    [&](const void* bytes, size_t n) { return syscall(SYS_pwrite64, file, bytes, n, offset); });
}

ssize_t pwrite64(int file, const void* from, size_t count, off64_t offset) {
  return pwrite(file, from, count, offset);
}

ssize_t pread(int file, void* to, size_t count, off_t offset) {
  return read_with(fault_of("pread", count, offset, file), file, to, count,
                   [&](void* bytes, size_t n) { return syscall(SYS_pread64, file, bytes, n, offset); });
}

ssize_t pread64(int file, void* to, size_t count, off64_t offset) {
  return pread(file, to, count, offset);
}

ssize_t __pread_chk(int file, void* to, size_t count, off_t offset, size_t /*room*/) {
  return pread(file, to, count, offset);
}

ssize_t __pread64_chk(int file, void* to, size_t count, off64_t offset, size_t /*room*/) {
  return pread(file, to, count, offset);
}

ssize_t write(int file, const void* from, size_t count) {
  return write_with(fault_of("write", count, 0, file), file, from, count,
                    [&](const void* bytes, size_t n) { return syscall(SYS_write, file, bytes, n); });
}

// As one write() of what it gathers: a fault then has one place.
ssize_t writev(int file, const iovec* parts, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return write(file, bytes.data(), bytes.size());
}

ssize_t read(int file, void* to, size_t count) {
  return read_with(fault_of("read", count, 0, file), file, to, count,
                   [&](void* bytes, size_t n) { return syscall(SYS_read, file, bytes, n); });
}

ssize_t __read_chk(int file, void* to, size_t count, size_t /*room*/) {
  return read(file, to, count);
}

int fsync(int file) {
  return fails(fault_of("fsync", 0, 0, file)) ? -1 : 0;
}

int fdatasync(int file) {
  return fails(fault_of("fdatasync", 0, 0, file)) ? -1 : 0;
}

int ftruncate(int file, off_t size) {
  if (fails(fault_of("ftruncate", 0, size, file))) return -1;
  return static_cast<int>(syscall(SYS_ftruncate, file, size));
}

int ftruncate64(int file, off64_t size) {
  return ftruncate(file, size);
}

// Returns its error.
int posix_fallocate(int file, off_t offset, off_t size) {
  const int old_error = errno;
  const bool failed = fails(fault_of("posix_fallocate", static_cast<size_t>(size), offset, file)) ||
                      syscall(SYS_fallocate, file, 0, offset, size) != 0;
  const int error = failed ? errno : 0;
  errno = old_error;
  return error;
}

int posix_fallocate64(int file, off64_t offset, off64_t size) {
  return posix_fallocate(file, offset, size);
}

int fchown(int file, uid_t owner, gid_t group) {
  if (fails(fault_of("fchown", 0, 0, file))) return -1;
  return static_cast<int>(syscall(SYS_fchown, file, owner, group));
}

int fchmod(int file, mode_t mode) {
  if (fails(fault_of("fchmod", 0, 0, file))) return -1;
  return static_cast<int>(syscall(SYS_fchmod, file, mode));
}

// Under another name here, since a struct has that one.
int lock_file(int file, int operation) __asm__("flock");
int lock_file(int file, int operation) {
  if (fails(fault_of("flock", 0, 0, file))) return -1;
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

int rename(const char* from, const char* to) {
  if (fails(fault_of("rename", 0, 0, to))) return -1;
  return static_cast<int>(syscall(SYS_rename, from, to));
}

// Relative paths are those of the working folder.
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const Fault fault = fault_of("renameat2", 0, 0, to);
  if (fails(fault)) return -1;
  const int result = static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  if (fault == Fault::touched && result == 0) touch(from_folder, from);
  return result;
}

int link(const char* from, const char* to) {
  if (fails(fault_of("link", 0, 0, to))) return -1;
  return static_cast<int>(syscall(SYS_link, from, to));
}

int unlink(const char* path) {
  if (fails(fault_of("unlink", 0, 0, path))) return -1;
  return static_cast<int>(syscall(SYS_unlink, path));
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_with(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_with(AT_FDCWD, path, flags, mode);
}

int __open_2(const char* path, int flags) {
  return open_with(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char* path, int flags) {
  return open_with(AT_FDCWD, path, flags, 0);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  const Fault fault = file >= 0 ? fault_of("mmap", bytes, offset, file) : Fault::none;
  if (fails(fault)) return MAP_FAILED;
  const long mapped = syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
  if (fault == Fault::cut) syscall(SYS_truncate, path_of(file).c_str(), 0);
  return mapped == -1 ? MAP_FAILED : reinterpret_cast<void*>(mapped);
}

// Of libmilter, in the daemon.
int smfi_main() {
  const Fault fault = plan().fault_of("smfi_main", 0, 0, "");
  if (fails(fault)) return -1;
  if (fault == Fault::end) return 0;
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "smfi_main"))();
}

// How many threads a program starts may depend on the machine, so they are not recorded.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
  if (plan().name == "pthread_create" && fails(plan().fault_of("pthread_create", 0, 0, ""))) return errno;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, work, argument);
}
}
// NOLINTEND
