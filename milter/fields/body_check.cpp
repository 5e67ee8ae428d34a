#include "milter/fields/body_check.hpp"

#include <algorithm>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kDisposition = "content-disposition";

// Text that many programs write before the first part, and that no reader shows. A person's own text has no such line.
bool is_usual_preamble(std::string_view line) noexcept {
  constexpr std::string_view kPreambles[] = {
      "This is a multi-part message in MIME format", "This is a multipart message in MIME format",
      "This is a MIME-encapsulated message", "This is an OpenPGP/MIME signed message",
      "This is a cryptographically signed message in MIME format"};
  return std::ranges::any_of(kPreambles, [line](std::string_view each) { return line.starts_with(each); });
}

// A line of a part's header, or its continuation: `Content-Type: message/delivery-status`.
bool names_message(std::string_view line) noexcept {
  constexpr std::string_view kField = "content-type";
  constexpr std::string_view kTypes[] = {"message/", "text/rfc822-headers"};
  const auto begins_with = [&line](std::string_view word) {
    return ascii::equal_ignoring_case(line.substr(0, word.size()), word);
  };
  if (begins_with(kField)) {
    line = ascii::trimmed_front(line.substr(kField.size()), " \t");
    if (!line.starts_with(':')) return false;
    line.remove_prefix(1);
  } else if (!line.starts_with(' ') && !line.starts_with('\t')) {
    return false;
  }
  line = ascii::trimmed_front(line, " \t");
  return std::ranges::any_of(kTypes, begins_with);
}

bool begins_with_disposition(std::string_view line) noexcept {
  return ascii::equal_ignoring_case(line.substr(0, kDisposition.size()), kDisposition);
}

}  // namespace

BodyCheck::BodyCheck(const BodyStructure& structure, BodyEncoding encoding)
    : opening_("--" + structure.boundary), closing_(opening_ + "--"), kind_(structure.kind), encoding_(encoding) {
  line_.reserve(kKeptBytes);
}

void BodyCheck::add(std::string_view bytes) noexcept {
  if (encoding_ != BodyEncoding::none && is_encoded_) check_encoding(bytes);
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    add_to_line(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

void BodyCheck::finish() noexcept {
  if (!line_.empty()) end_line();
  if (encoding_ == BodyEncoding::quoted_printable && (is_at_escape_ || expected_hex_ != 0)) is_encoded_ = false;
  if (encoding_ == BodyEncoding::base64 && (base64_bytes_ + padding_) % 4 != 0) is_encoded_ = false;
}

bool BodyCheck::is_enclosed() const noexcept {
  if (kind_ == BodyKind::text) return true;
  return is_opened_ && is_closed_ && !has_text_behind_ && !(kind_ == BodyKind::alternative && has_attachment_);
}

void BodyCheck::add_to_line(std::string_view bytes) noexcept {
  line_.append(bytes.substr(0, kKeptBytes - line_.size()));
}

void BodyCheck::end_line() noexcept {
  const bool is_whole = line_.size() < kKeptBytes;
  end_structure_line(is_whole ? ascii::trimmed_back(line_, " \t\r") : std::string_view(line_));
  line_.clear();
}

void BodyCheck::end_structure_line(std::string_view line) noexcept {
  has_message_ = has_message_ || names_message(line);
  if (is_first_ && !line.empty() && !is_usual_preamble(line)) {
    is_first_ = false;
    is_opened_ = line == opening_;
  }
  has_text_behind_ = has_text_behind_ || (is_closed_ && !line.empty());
  is_closed_ = is_closed_ || line == closing_;
  if (line == opening_) {
    is_in_part_header_ = true;
  } else if (line.empty()) {
    is_in_part_header_ = false;
  } else {
    has_attachment_ = has_attachment_ || (is_in_part_header_ && begins_with_disposition(line));
  }
}

void BodyCheck::check_encoding(std::string_view bytes) noexcept {
  for (const char byte : bytes) {
    if (encoding_ == BodyEncoding::base64) {
      check_base64(byte);
    } else {
      check_quoted_printable(byte);
    }
    if (!is_encoded_) return;
  }
}

// RFC 2045 section 6.7. After each `=` come two digits, or the end of the line.
void BodyCheck::check_quoted_printable(char byte) noexcept {
  const bool is_blank = byte == ' ' || byte == '\t' || byte == '\r';
  if (expected_hex_ != 0) {
    is_encoded_ = ascii::is_hex_digit(byte);
    --expected_hex_;
  } else if (ends_line_) {
    is_encoded_ = is_blank || byte == '\n';
    ends_line_ = byte != '\n';
  } else if (is_at_escape_) {
    is_at_escape_ = false;
    expected_hex_ = ascii::is_hex_digit(byte) ? 1 : 0;
    ends_line_ = is_blank;
    is_encoded_ = expected_hex_ != 0 || is_blank || byte == '\n';
  } else {
    is_at_escape_ = byte == '=';
    is_encoded_ = ascii::is_ascii(byte);
  }
}

// RFC 2045 section 6.8. Only base64 characters are allowed, and none after the padding.
void BodyCheck::check_base64(char byte) noexcept {
  if (is_folding_space(byte)) return;
  if (byte == '=') {
    is_encoded_ = ++padding_ <= 2;
  } else {
    is_encoded_ = is_base64_letter(byte) && padding_ == 0;
    ++base64_bytes_;
  }
}

}  // namespace bloomgate
