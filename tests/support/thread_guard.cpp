// Linked into the test programs without a sanitizer, in place of the C library's pthread_create(): ThreadSanitizer
// leaves out the files whose first line says that no thread starts in them, and here that is held to be true.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's are reserved
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  if (std::getenv("BLOOMGATE_STARTS_NO_THREAD") != nullptr) {
    std::fputs("a thread starts in a test file whose first line says that none does\n", stderr);
    std::abort();
  }
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}
