// What the canonicaliser allocates, and what it does when it cannot. A program of its own, since it replaces malloc;
// not built with sanitizers, which replace it too.
#include <cstddef>
#include <limits>
#include <string>
#include <thread>

#include "address_wording.hpp"
#include "filter/address/address.hpp"
#include "tests/support/catch.hpp"

namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
std::size_t allocations = 0;
std::size_t allocations_allowed = kNoLimit;

bool may_allocate() noexcept {
  return ++allocations <= allocations_allowed;
}

}  // namespace

// The C library's own functions under the names that it keeps for those who replace them.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  return may_allocate() ? __libc_malloc(size) : nullptr;
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return may_allocate() ? __libc_calloc(count, size) : nullptr;
}
void* realloc(void* old, std::size_t size) noexcept {
  return may_allocate() ? __libc_realloc(old, size) : nullptr;
}
}

namespace bloomgate {
namespace {

using Canonicalize = Entry (*)(std::string_view, AddressProfile) noexcept;

// How many allocations there were. Past `allowed`, all further ones fail. In a thread of its own: a thread remembers
// the labels that it has converted, and would not allocate for one that an earlier case has met.
std::size_t count_allocations(Canonicalize canonicalize, const std::string& text, AddressProfile profile, Entry& entry,
                              std::size_t allowed = kNoLimit) {
  std::size_t count = 0;
  std::thread([&] {
    allocations = 0;
    allocations_allowed = allowed;
    entry = canonicalize(text, profile);
    allocations_allowed = kNoLimit;
    count = allocations;
  }).join();
  return count;
}

TEST_CASE("This program sees the allocations of the C library and of the Unicode libraries") {
  Entry entry;
  CHECK(count_allocations(canonicalize_path, "joe@müller.example", {}, entry) > 0);
  allocations = 0;
  const std::string text(100, 'x');
  CHECK(allocations == 1);
}

TEST_CASE("Nothing is allocated for ASCII, accepted or rejected, on the fast path or off it") {
  const std::string inputs[] = {
      "joe@example.org",
      "<Joe.Doe+tag@Example.ORG.>",
      R"("joe"@example.org)",
      R"("Joe \"Doe\""@example.org)",
      "<@relay.example,@[192.0.2.1]:joe@example.org> SIZE=1000",
      "joe@[IPv6:2001:DB8:0:0::1]",
      "joe@xn--mller-kva.example",
      "<>",
      "",
      "# a comment",
      "@example.org",
      "@.example.org # a comment",
      "@[192.0.2.1]",
      "a..b@example.org",
      "joe",
      "joe@example.org x",
      "\"joe",
      "\"" + repeated("\\a", 1000) + "\"@example.org",
      std::string(64, 'a') + "@" + domain_of(189),
      std::string(65, 'a') + "@" + domain_of(189),
      std::string(252, 'a') + "@b",
      "\"Doe, Joe\" <joe@example.org>",
      "@" + domain_of(255),
      "@" + domain_of(2000),
      std::string(3000, 'a'),
      std::string("a\0b@c", 5),
      "j\xf6@example.org",
  };
  for (const std::string& input : inputs) {
    for (const Canonicalize canonicalize : {canonicalize_path, canonicalize_line}) {
      for (const bool keep : {false, true}) {
        CAPTURE(input, keep);
        Entry entry;
        const std::size_t count = count_allocations(canonicalize, input, {.keep_local_part_case = keep}, entry);
        CHECK(count == 0);
      }
    }
  }
}

TEST_CASE("If a library finds no memory, the entry is rejected for that reason") {
  const std::string inputs[] = {
      "<PELÉ@example.org>",
      "<" + repeated("\u023a", 600) + "@example.org>",
      "<" + repeated("\u023a", 80) + "@example.org>",
      "<a" + repeated("\u0301\u0323", 500) + "@example.org>",
      "<joe@müller.example>",
      "<joe@" + repeated("mu\u0308ller.", 10) + "example>",
      "<PELÉ@müller.example>",
      "<\uff4aoe@example.org>",
      "<jo\u200be@\u00e9x\u00adample.org>",
  };
  for (const std::string& input : inputs) {
    for (const bool keep : {false, true}) {
      const AddressProfile profile{.keep_local_part_case = keep};
      Entry want;
      const std::size_t needed = count_allocations(canonicalize_path, input, profile, want);
      for (std::size_t allowed = 0; allowed <= needed; ++allowed) {
        Entry entry;
        count_allocations(canonicalize_path, input, profile, entry, allowed);
        CAPTURE(input, keep, needed, allowed);
        const std::string got = wording(entry);
        CHECK((got == wording(want) || got == "rejected: out-of-memory"));
        if (allowed == needed) CHECK(got == wording(want));
      }
    }
  }
}

TEST_CASE("A domain and a local part that find no memory at all are rejected for that") {
  Entry entry;
  count_allocations(canonicalize_path, "<joe@müller.example>", {}, entry, 0);
  CHECK(wording(entry) == "rejected: out-of-memory");
  count_allocations(canonicalize_path, "<" + repeated("\u023a", 600) + "@example.org>", {}, entry, 0);
  CHECK(wording(entry) == "rejected: out-of-memory");
}

}  // namespace
}  // namespace bloomgate
