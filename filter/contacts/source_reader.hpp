// What kind a source is, and how its lines are read: one reader for each kind except logs. See Harvest.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomgate {

enum class SourceKind : std::uint8_t {
  log,
  message,  // a file of one message: .eml, or of a Maildir
  mbox,
  vcard,
  csv,
};

// Recognises the kind by the first lines of a source. Nothing if they are of no known kind. Pure. Throws
// std::bad_alloc.
std::optional<SourceKind> recognise_source(std::string_view start);

// For one source, and one thread.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  // Reads the next lines, in order and whole; only the last line of a source may lack its end. Passes on what the sink
  // throws.
  virtual void read(std::string_view lines) = 0;
  // Call it after the last lines.
  virtual void finish() {}
  // After finish(): whether the source has anything of its kind, even if that was left out.
  virtual bool has_found() const noexcept { return true; }
  // Whether later lines can still matter.
  virtual bool wants_more() const noexcept { return true; }
};

}  // namespace bloomgate
