#include "filter/keep/manifest.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <span>

#include "filter/base/error.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/output_check.hpp"
#include "filter/file/signature.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kFirstLine = "bloomgate-manifest 1";
constexpr std::size_t kMostFiles = kMostLayers + 1;  // the layers, and the list of revoked senders
constexpr std::uint64_t kMostNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::chrono::sys_seconds kLastTime{std::chrono::seconds(253'402'300'799)};  // 9999-12-31T23:59:59Z
constexpr std::string_view kTimeForm = "0000-00-00T00:00:00Z";

std::string padded(unsigned value, std::size_t width) {
  std::string text = std::to_string(value);
  return text.insert(0, width - std::min(width, text.size()), '0');
}

std::string time_text(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto two = [](auto value) { return padded(static_cast<unsigned>(value), 2); };
  return padded(static_cast<unsigned>(static_cast<int>(date.year())), 4) + '-' +
         two(static_cast<unsigned>(date.month())) + '-' + two(static_cast<unsigned>(date.day())) + 'T' +
         two(clock.hours().count()) + ':' + two(clock.minutes().count()) + ':' + two(clock.seconds().count()) + 'Z';
}

// The decimal number, without a sign and without zeros before it.
std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || number > kMostNumber) return std::nullopt;
  return text.size() == 1 || text.front() != '0' ? std::optional(number) : std::nullopt;
}

std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) {
  if (text.size() != kTimeForm.size()) return std::nullopt;
  const auto field = [&](std::size_t at, std::size_t width) {
    unsigned value = 0;
    std::from_chars(text.data() + at, text.data() + at + width, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(field(0, 4))),
                                         std::chrono::month(field(5, 2)), std::chrono::day(field(8, 2))};
  if (!date.ok()) return std::nullopt;
  const std::chrono::sys_seconds time = std::chrono::sys_days(date) + std::chrono::hours(field(11, 2)) +
                                        std::chrono::minutes(field(14, 2)) + std::chrono::seconds(field(17, 2));
  // This finds all other errors in the text, such as an hour 24 or a wrong separator.
  if (time < std::chrono::sys_seconds{} || time > kLastTime || time_text(time) != text) return std::nullopt;
  return time;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string hex_of(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  return text;
}

std::optional<Digest> parse_hex(std::string_view text) noexcept {
  Digest digest;
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::size_t high = kHexDigits.find(text[2 * i]);
    const std::size_t low = kHexDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return digest;
}

// The lines of a text, one after the other.
class Lines {
 public:
  Lines(std::string_view text, const std::string& path, std::string_view remedy)
      : text_(text), path_(path), remedy_("; " + std::string(remedy)) {
    if (text.size() > kMostManifestBytes) {
      throw BloomgateError(ErrorCode::bad_input,
                           path + " has " + std::to_string(text.size()) + " bytes, and a manifest has at most " +
                               std::to_string(kMostManifestBytes) + remedy_,
                           {.path = path});
    }
  }

  bool next_begins_with(std::string_view word) const noexcept { return text_.substr(at_).starts_with(word); }

  // The text after `word` in the next line, which must begin with it.
  std::string_view take(std::string_view word, std::string_view wanted) {
    ++number_;
    begin_ = at_;
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) fail(wanted, at_ == text_.size() ? "the end" : "a line without its end");
    at_ = end + 1;
    const std::string_view line = text_.substr(begin_, end - begin_);
    if (!line.starts_with(word)) fail(wanted);
    return line.substr(word.size());
  }

  // Throws the error that the last line is not as it must be.
  [[noreturn]] void fail(std::string_view wanted, std::string_view instead = {}) const {
    constexpr std::size_t kMostShown = 100;
    const std::string_view line = text_.substr(begin_, std::min(text_.find('\n', begin_) - begin_, kMostShown));
    const std::string got = instead.empty() ? "'" + printable(line) + "'" : std::string(instead);
    throw BloomgateError(
        ErrorCode::bad_input,
        path_ + ", line " + std::to_string(number_) + ": expected " + std::string(wanted) + ", got " + got + remedy_,
        {.path = path_, .offset = begin_, .expected = std::string(wanted), .got = got});
  }

  std::string_view taken() const noexcept { return text_.substr(0, at_); }
  bool is_at_end() const noexcept { return at_ == text_.size(); }

 private:
  std::string_view text_;
  const std::string& path_;
  std::string remedy_;
  std::size_t begin_ = 0;   // of the last line that was read
  std::size_t at_ = 0;      // of the next line
  std::size_t number_ = 0;  // of the last line, from 1
};

// Reads the next line, whose value `parse` reads.
template <typename Parse>
auto take_value(Lines& lines, std::string_view word, std::string_view wanted, Parse parse) {
  const auto value = parse(lines.take(word, wanted));
  if (!value) lines.fail(wanted);
  return *value;
}

std::optional<std::string> parse_list_name(std::string_view text) {
  return is_list_name(text) ? std::optional(std::string(text)) : std::nullopt;
}

std::optional<PublishedFile> parse_file(std::string_view text) {
  const std::size_t end_of_name = std::min(text.find(' '), text.size());
  const std::size_t end_of_bytes = std::min(text.find(' ', std::min(end_of_name + 1, text.size())), text.size());
  if (end_of_bytes == text.size()) return std::nullopt;
  const std::string_view name = text.substr(0, end_of_name);
  const auto bytes = parse_number(text.substr(end_of_name + 1, end_of_bytes - end_of_name - 1));
  const auto digest = parse_hex(text.substr(end_of_bytes + 1));
  if (!is_published_name(name) || !bytes || !digest) return std::nullopt;
  return PublishedFile{std::string(name), *bytes, *digest};
}

std::optional<SignatureBytes> parse_signature(std::string_view text) {
  SignatureBytes signature;
  return read_base64(text, signature) ? std::optional(signature) : std::nullopt;
}

std::vector<PublishedFile> take_files(Lines& lines) {
  constexpr std::string_view kWord = "file ";
  constexpr std::string_view kWanted =
      "'file NAME BYTES DIGEST', with a name of at most 232 letters, digits, dots, hyphens and underscores (a layer: "
      "63 "
      "before .bloom) and 64 hexadecimal digits";
  std::vector<PublishedFile> files;
  while (lines.next_begins_with(kWord)) {
    PublishedFile file = take_value(lines, kWord, kWanted, parse_file);
    if (files.size() == kMostFiles) lines.fail("at most " + std::to_string(kMostFiles) + " files");
    if (!files.empty() && file.name <= files.back().name)
      lines.fail("the files in the order of their names, each once");
    files.push_back(std::move(file));
  }
  return files;
}

std::string unsigned_text(const Manifest& manifest, const PublicKey& signer) {
  std::string text = std::string(kFirstLine) + "\nlist " + manifest.list + "\nnumber " +
                     std::to_string(manifest.number) + "\nmade " + time_text(manifest.made) + "\nholds-until " +
                     time_text(manifest.holds_until) + '\n';
  for (const PublishedFile& file : manifest.files) {
    text += "file " + file.name + ' ' + std::to_string(file.bytes) + ' ' + hex_of(file.digest) + '\n';
  }
  if (manifest.next_key) text += "next-key " + manifest.next_key->text() + '\n';
  return text + "signer " + signer.text() + '\n';
}

// An open file of a whitelist, and its entry in a manifest without the digest.
struct OpenFile {
  explicit OpenFile(const std::string& path) {
    struct stat status = {};
    file = open_regular_file(path, "a file of a whitelist", status);
    bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes < kHeaderBytes) return;
    if (const int error = read_at(file.get(), header, 0); error != 0) {
      throw system_error(ErrorCode::cannot_read, "read", path, error);
    }
    is_filter =
        std::ranges::equal(std::span(header).first(kFilterMagic.size()), std::as_bytes(std::span(kFilterMagic)));
  }

  Digest digest(const std::string& path) const {
    return is_filter ? digest_of(header) : digest_of_file(file.get(), bytes, path);
  }

  FileDescriptor file;
  std::uint64_t bytes = 0;
  std::array<std::byte, kHeaderBytes> header = {};
  bool is_filter = false;
};

}  // namespace

bool is_list_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kMaxLayerNameBytes && text.front() != '.' && is_plain_name(text);
}

bool is_published_name(std::string_view text) noexcept {
  const std::size_t most =
      text.ends_with(kLayerSuffix) ? kMaxLayerNameBytes + kLayerSuffix.size() : kMostPublishedNameBytes;
  return !text.empty() && text.size() <= most && text.front() != '.' && is_plain_name(text) &&
         text.find("..") == std::string_view::npos && text != kManifestName;
}

std::string manifest_path(const std::string& whitelist) {
  if (is_folder(whitelist)) return (std::filesystem::path(whitelist) / kManifestName).string();
  return resolve_link(whitelist) + "." + std::string(kManifestName);
}

std::string sign_manifest(const Manifest& manifest, const SecretKey& key) {
  std::string text = unsigned_text(manifest, key.public_key());
  text += "signature " + base64_of(key.sign(std::as_bytes(std::span(text)))) + '\n';
  static_cast<void>(parse_manifest(text, "the new manifest"));  // signs nothing that a reader would refuse
  return text;
}

SignedManifest parse_manifest(std::string_view text, const std::string& path, std::string_view remedy) {
  constexpr std::string_view kName = " of 1 to 63 letters, digits, dots, hyphens and underscores, and no dot in front";
  Lines lines(text, path, remedy);
  if (!lines.take(kFirstLine, "'bloomgate-manifest 1'").empty()) lines.fail("'bloomgate-manifest 1'");
  SignedManifest read = {.manifest = {}, .signer = {}, .text = std::string(text)};
  Manifest& manifest = read.manifest;
  manifest.list = take_value(lines, "list ", "'list NAME', with a name" + std::string(kName), parse_list_name);
  manifest.number = take_value(lines, "number ", "'number N', with N from 1 to 9223372036854775807", parse_number);
  if (manifest.number == 0) lines.fail("a number that is not 0");
  manifest.made = take_value(lines, "made ", "'made', and a time such as 2026-11-29T04:33:00Z", parse_time);
  manifest.holds_until =
      take_value(lines, "holds-until ", "'holds-until', and a time such as 2026-12-13T04:33:00Z", parse_time);
  if (manifest.holds_until < manifest.made) lines.fail("a time that is not before the one of 'made'");
  manifest.files = take_files(lines);
  if (lines.next_begins_with("next-key ")) {
    manifest.next_key = take_value(lines, "next-key ", "'next-key', and a public key", PublicKey::parse);
  }
  read.signer =
      take_value(lines, "signer ", "another 'file', 'next-key' or 'signer', and a public key", PublicKey::parse);
  const std::string_view signed_text = lines.taken();
  constexpr std::string_view kSignature = "'signature', and the signature of the text before it by its signer";
  const SignatureBytes signature = take_value(lines, "signature ", kSignature, parse_signature);
  if (!is_signature_of(signature, std::as_bytes(std::span(signed_text)), read.signer)) {
    lines.fail(kSignature, "another signature");
  }
  if (!lines.is_at_end()) {
    static_cast<void>(lines.take({}, "the end"));
    lines.fail("the end");
  }
  return read;
}

std::optional<SignedManifest> read_manifest(const std::string& whitelist, std::string_view remedy) {
  const std::string path = manifest_path(whitelist);
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0 && errno == ENOENT) return std::nullopt;
  const FileDescriptor file = open_regular_file(path, "a manifest", status);
  // One byte more than allowed shows that it is too long.
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostManifestBytes + 1), '\0');
  if (const int error = read_at(file.get(), std::as_writable_bytes(std::span(text)), 0); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read", path, error);
  }
  return parse_manifest(text, path, remedy);
}

PublishedFile describe_published(const std::string& path) {
  const OpenFile file(path);
  if (file.is_filter) {
    const std::uint64_t expected = file_bytes(decode_header(file.header, path).header);
    if (file.bytes != expected) {
      throw BloomgateError(
          ErrorCode::wrong_size,
          path + " has " + std::to_string(file.bytes) + " bytes instead of the " + std::to_string(expected) +
              " that its header asks for; copy or build the file again",
          {path, std::min(file.bytes, expected), std::to_string(expected), std::to_string(file.bytes)});
    }
  }
  return {std::filesystem::path(path).filename().string(), file.bytes, file.digest(path)};
}

void require_published(const PublishedFile& published, const std::string& path) {
  const auto fail = [&](const std::string& expected, const std::string& got) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " is not the file that the manifest names: expected " + expected + ", got " + got +
                             "; fetch it again together with its manifest, or where it is made, write another manifest "
                             "with 'bloomgate sign --key FILE'",
                         {.path = path, .expected = expected, .got = got});
  };
  const OpenFile file(path);
  if (file.bytes != published.bytes) {
    fail(std::to_string(published.bytes) + " bytes", std::to_string(file.bytes));
  }
  if (const Digest digest = file.digest(path); digest != published.digest) {
    fail("the digest " + hex_of(published.digest), hex_of(digest));
  }
}

}  // namespace bloomgate
