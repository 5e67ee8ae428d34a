#include "filter/gather/sender_domains_section.hpp"

#include <bit>
#include <optional>
#include <stdexcept>

#include "filter/base/error.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/domains/sender_domains_cursor.hpp"
#include "filter/domains/sender_domains_encoder.hpp"

namespace bloomgate {

ForEachDomain until_stopped(const ForEachDomain& for_each, const std::atomic<bool>& stop) {
  return [&](const std::function<void(std::span<const DomainNumber>)>& use) {
    for_each([&](std::span<const DomainNumber> domains) {
      check_stop(stop);
      use(domains);
    });
    check_stop(stop);
  };
}

void require_possible_number(std::uint64_t sender_domains) {
  if (sender_domains <= kMostSenderDomains) return;
  throw BloomgateError(ErrorCode::size_overflow, "there are more sender domains than a filter can have");
}

void require_sender_domains(const StoreFile& store) {
  if (store.header().knows_sender_domains()) return;
  throw BloomgateError(ErrorCode::bad_argument,
                       store.path() +
                           " does not have the domains of its senders, so no filter that has them can be made from it; "
                           "build the store from its lists again, or give " +
                           choice_names().no_sender_domains,
                       {.path = store.path()});
}

void require_sender_domains_of(const StoreFile& store, const MappedFilter& filter) {
  if (!filter.view().sender_domains().is_there()) return;
  SenderDomainsCursor cursor(filter.view().sender_domains());
  std::optional<DomainNumber> last;  // two hashes may have one number
  bool agree = true;
  store.for_each_sender_domain([&](std::span<const KeyHash> hashes) {
    for (const KeyHash hash : hashes) {
      const DomainNumber number = domain_number(hash);
      if (number == last) continue;
      last = number;
      agree = agree && cursor.peek() == last;
      if (agree) cursor.advance();
    }
  });
  if (agree && !cursor.peek()) return;
  throw BloomgateError(ErrorCode::bad_section,
                       filter.path() + " has other sender domains than its store, " + store.path() +
                           "; build both again, and report a bug",
                       {.path = filter.path()});
}

std::uint64_t count_sender_domains(const ForEachDomain& for_each) {
  CountOfDomains count;
  for_each([&](std::span<const DomainNumber> domains) { count.add(domains); });
  require_possible_number(count.count());
  return count.count();
}

namespace {

// Writes the section in the coding of at most that many domains, unless the coding does not suit them. Returns their
// number.
std::uint64_t write_coded_for(std::uint64_t most, FilterWriter& writer, FilterHeader header,
                              const ForEachDomain& for_each) {
  header.sender_domains = most;
  writer.place(header);
  std::uint64_t offset = 0;
  SenderDomainsEncoder encoder(most, kChecksumChunkBytes, [&](std::span<const std::byte> bytes) {
    writer.write(SectionKind::sender_domains, offset, bytes);
    offset += bytes.size();
  });
  for_each([&](std::span<const DomainNumber> domains) { encoder.add(domains); });
  if (encoder.suits_count()) {
    header.sender_domains = encoder.count();
    writer.place(header);  // the last write must end with the section
    encoder.finish();
  }
  return encoder.count();
}

}  // namespace

void write_sender_domains(FilterWriter& writer, const FilterHeader& header, const ForEachDomain& for_each) {
  if (write_coded_for(*header.sender_domains, writer, header, for_each) != *header.sender_domains) {
    throw std::logic_error("another number of sender domains than was counted");
  }
}

namespace {

ForEachDomain each_of(const GatheredDomains& domains, unsigned threads) {
  return [&domains, threads](const std::function<void(std::span<const DomainNumber>)>& use) {
    domains.for_each_number(threads, use);
  };
}

}  // namespace

void write_sender_domains(FilterWriter& writer, const FilterHeader& header, StoreWriter* store,
                          const GatheredDomains& domains, unsigned threads, const std::atomic<bool>& stop) {
  write_sender_domains(writer, header, until_stopped(each_of(domains, threads), stop));
  if (store == nullptr) return;
  domains.for_each_hash(threads, [&](std::span<const KeyHash> hashes) {
    check_stop(stop);
    store->add_sender_domains(hashes);
  });
}

void write_estimated_sender_domains(FilterWriter& writer, FilterHeader& header, const GatheredDomains& domains,
                                    unsigned threads, const std::atomic<bool>& stop) {
  const ForEachDomain each = each_of(domains, threads);
  const ForEachDomain for_each = until_stopped(each, stop);
  const std::uint64_t most = std::bit_ceil(*header.sender_domains);
  header.sender_domains = write_coded_for(most, writer, header, for_each);
  require_possible_number(*header.sender_domains);
  if (std::bit_ceil(*header.sender_domains) == most) return;
  writer.forget(SectionKind::sender_domains);
  write_sender_domains(writer, header, for_each);
}

}  // namespace bloomgate
