// Whether a body is what its unsigned fields say about it (content_type.hpp): a multipart that its boundary opens and
// closes, and text in exactly the named encoding. Reads the body once, as it arrives, and keeps only the beginning of
// one line. Also whether it has another message in it, as a bounce has.
//
// Used by one thread at a time. Only the constructor throws (std::bad_alloc).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "milter/fields/content_type.hpp"

namespace bloomgate {

class BodyCheck {
 public:
  BodyCheck(const BodyStructure& structure, BodyEncoding encoding);

  // The next bytes; lines end with CR LF.
  void add(std::string_view bytes) noexcept;
  // To be called when all bytes were given.
  void finish() noexcept;

  // Whether the boundary opens the multipart in the first line that is neither empty nor the usual preamble, and closes
  // it in the last line and in no line before. Then the boundary is the writer's own: the boundary of an attached part
  // opens later. In a multipart/alternative, of which a reader shows one part, no part may be an attachment. Always
  // true for text.
  bool is_enclosed() const noexcept;

  // Whether the body has a message in it, or a part of one, as a bounce, a receipt or a report has. It may be text that
  // the sender did not write. An unsigned Content-Type that says so may be changed or removed on the way; the parts
  // stay.
  bool has_message() const noexcept { return has_message_; }

  // Whether the whole body is in its encoding. Always true for `none`.
  bool is_encoded() const noexcept { return is_encoded_; }

 private:
  static constexpr std::size_t kKeptBytes = 80;  // of a line: two hyphens, a boundary, two hyphens, and one more

  void add_to_line(std::string_view bytes) noexcept;
  void end_line() noexcept;
  void end_structure_line(std::string_view line) noexcept;
  void check_encoding(std::string_view bytes) noexcept;
  void check_quoted_printable(char byte) noexcept;
  void check_base64(char byte) noexcept;

  std::string opening_, closing_;
  BodyKind kind_;
  BodyEncoding encoding_;

  std::string line_;  // its first bytes
  bool is_opened_ = false;
  bool is_first_ = true;  // no line with any content was seen yet
  bool is_closed_ = false;
  bool has_text_behind_ = false;  // after the line that closes
  bool is_in_part_header_ = false;
  bool has_attachment_ = false;
  bool has_message_ = false;

  bool is_encoded_ = true;
  int expected_hex_ = 0;       // quoted-printable: how many digits have to follow
  bool is_at_escape_ = false;  // quoted-printable: the last byte was `=`
  bool ends_line_ = false;     // quoted-printable: the line has to end
  std::size_t padding_ = 0;    // base64: how many `=` were seen
  std::size_t base64_bytes_ = 0;
};

}  // namespace bloomgate
