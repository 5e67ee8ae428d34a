#include "filter/engine/excluded_section.hpp"

#include "filter/file/section_stream.hpp"

namespace bloomgate {

void write_excluded(FilterWriter& writer, FilterHeader& header, KnownStrangers& strangers,
                    const std::function<void()>& review) {
  strangers.end_notes();
  if (review) review();
  const std::vector<KeyHash> excluded = strangers.excluded();
  header.strangers = strangers.counts();
  header.excluded = excluded.size();
  writer.place(header);
  SectionStream section(writer.file(), SectionKind::excluded);
  section.add(excluded);
  section.finish();
}

}  // namespace bloomgate
