// Linked into the test programs without a sanitizer, in place of the C library's pthread_create(): when the first
// thread starts, it makes the file that BLOOMGATE_THREADS_SEEN names. So scripts/test knows what has nothing to say to
// ThreadSanitizer. A test fails whose file cannot be made: it would be left out there, and nothing would say so.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

bool noted() {
  const char* const path = std::getenv("BLOOMGATE_THREADS_SEEN");
  if (path == nullptr) return false;
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    std::perror(path);
    std::abort();
  }
  close(file);
  return true;
}

}  // namespace

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  [[maybe_unused]] static const bool once = noted();
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}
