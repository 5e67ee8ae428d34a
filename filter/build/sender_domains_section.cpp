#include "filter/build/sender_domains_section.hpp"

#include "filter/base/error.hpp"
#include "filter/domains/sender_domains_encoder.hpp"

namespace bloomgate {

std::uint64_t count_sender_domains(const ForEachDomain& for_each) {
  CountOfDomains count;
  for_each([&](std::span<const DomainNumber> domains) { count.add(domains); });
  if (count.count() > kMostSenderDomains) {
    throw BloomgateError(ErrorCode::size_overflow, "there are more sender domains than a filter can have");
  }
  return count.count();
}

void write_sender_domains(FilterWriter& writer, const FilterHeader& header, const ForEachDomain& for_each) {
  writer.place(header);
  std::uint64_t offset = 0;
  SenderDomainsEncoder encoder(*header.sender_domains, kChecksumChunkBytes, [&](std::span<const std::byte> bytes) {
    writer.write(SectionKind::sender_domains, offset, bytes);
    offset += bytes.size();
  });
  for_each([&](std::span<const DomainNumber> domains) { encoder.add(domains); });
  encoder.finish();
}

}  // namespace bloomgate
