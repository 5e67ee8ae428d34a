// What a source is, and how its lines are read: one reader for each kind but logs. See Harvest.
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

// By the first lines of a source. Nothing if they are of no kind that is known. Pure. Throws std::bad_alloc.
std::optional<SourceKind> recognise_source(std::string_view start);

// For one source, and one thread.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  // The next lines, in order and whole; only the last one of a source may lack its end. Passes on what the sink throws.
  virtual void read(std::string_view lines) = 0;
  // After the last of them.
  virtual void finish() {}
  // After that: whether the source has anything that it is read for, even if that is left out.
  virtual bool has_found() const noexcept { return true; }
  // Whether what comes next can tell anything.
  virtual bool wants_more() const noexcept { return true; }
};

}  // namespace bloomgate
