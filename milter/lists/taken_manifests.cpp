#include "milter/lists/taken_manifests.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kTakenMode = 0640;

// Of one whitelist.
struct Taken {
  std::optional<SignedManifest> last;
  std::optional<SignedManifest> names_key;  // the one that has named the next key
};

bool has_key(const TrustedKeys& keys, const PublicKey& key) noexcept {
  return std::ranges::find(keys, key) != keys.end();
}

// Null where nothing was taken yet.
Json read_taken_file(const std::string& path) {
  if (path.empty() || (access(path.c_str(), F_OK) != 0 && errno == ENOENT)) return {};
  try {
    const std::string text = read_text(path);
    if (!text.starts_with('{')) throw JsonError("is no JSON object");
    return Json::parse(text);
  } catch (const JsonError& error) {
    throw BloomgateError(ErrorCode::bad_input,
                         "'" + path + "' " + error.what() +
                             ", so it is not known which manifest was taken last; remove the file if whatever is "
                             "published now may be taken",
                         {.path = path});
  }
}

std::optional<SignedManifest> manifest_in(const Json& taken, std::string_view key, const std::string& path) {
  const auto text = taken.at(key).text();
  if (!text) return std::nullopt;
  try {
    return parse_manifest(*text, path);
  } catch (const BloomgateError& error) {
    throw BloomgateError(
        ErrorCode::bad_input,
        "'" + path + "' is damaged (" + error.what() + "); remove the file if whatever is published now may be taken",
        {.path = path});
  }
}

Taken taken_of(const WhitelistSource& source) {
  const Json file = read_taken_file(source.taken_manifests);
  const Json& taken = file.at(source.path);
  return {.last = manifest_in(taken, "taken", source.taken_manifests),
          .names_key = manifest_in(taken, "names-key", source.taken_manifests)};
}

TrustedKeys keys_of(const WhitelistSource& source, const Taken& taken) {
  TrustedKeys keys = source.trusted_keys;
  if (taken.names_key && has_key(keys, taken.names_key->signer) && taken.names_key->manifest.next_key) {
    keys.push_back(*taken.names_key->manifest.next_key);
  }
  return keys;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why, ErrorCode code = ErrorCode::bad_input) {
  throw BloomgateError(code, path + " " + why, {.path = path});
}

// Nothing was changed on the way that its publisher has not signed; but it may be the wrong one.
void require_not_before(const std::string& path, const SignedManifest& found, const SignedManifest& last) {
  const Manifest& is = found.manifest;
  const Manifest& was = last.manifest;
  if (is.list != was.list) {
    refuse(path,
           fmt::format("is of the list '{}', and that of '{}' was taken before: it is another list under the same "
                       "key; if that is meant, name it by another path",
                       is.list, was.list));
  }
  if (is.number < was.number) {
    refuse(path, fmt::format("has the number {} of {}, and {} was taken before: an old state has come back; if its "
                             "publisher wants that, 'bloomgate rollback' gives it a new number",
                             is.number, date_text(is.made), was.number));
  }
  if (is.number == was.number && found.text != last.text) {
    refuse(path, fmt::format("has the number {}, as the one that was taken before, and says something else: its "
                             "publisher has made two; let a new one be made (bloomgate sign)",
                             is.number));
  }
}

}  // namespace

std::string date_text(std::chrono::sys_seconds time) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

TrustedKeys keys_of(const WhitelistSource& source) {
  return keys_of(source, taken_of(source));
}

std::chrono::sys_seconds used_until(const Manifest& manifest, const WhitelistSource& source) noexcept {
  return manifest.holds_until + source.overdue_for;
}

UsableManifest usable_manifest(const WhitelistSource& source, std::chrono::system_clock::time_point now) {
  const std::string path = manifest_path(source.path);
  const Taken taken = taken_of(source);
  std::optional<SignedManifest> found = read_manifest(source.path);
  if (!found) {
    refuse(path,
           "is not there, so nothing tells whether the whitelist is the newest one; whoever has its key makes it: "
           "bloomgate sign --key KEYFILE " +
               shell_word(source.path, "FILE"));
  }
  UsableManifest usable = {.signed_by_trusted = *std::move(found), .keys = keys_of(source, taken)};
  const SignedManifest& manifest = usable.signed_by_trusted;
  if (!has_key(usable.keys, manifest.signer)) {
    refuse(path,
           "is signed by " + manifest.signer.text() +
               ", which is no trusted key; sign it with a trusted one (bloomgate sign --key KEYFILE)",
           ErrorCode::bad_signature);
  }
  if (taken.last) require_not_before(path, manifest, *taken.last);
  if (now > used_until(manifest.manifest, source)) {
    refuse(path,
           fmt::format("holds until {}, and its publisher has published nothing since {}: it is too old to be used "
                       "(use-overdue-for)",
                       date_text(manifest.manifest.holds_until), date_text(manifest.manifest.made)));
  }
  return usable;
}

void remember_taken(const WhitelistSource& source, const SignedManifest& manifest) {
  if (source.taken_manifests.empty()) return;
  Taken taken = taken_of(source);
  if (taken.last && taken.last->text == manifest.text) return;
  if (has_key(source.trusted_keys, manifest.signer)) {
    taken.names_key = manifest.manifest.next_key ? std::optional(manifest) : std::nullopt;
  }
  Json entry = {{"taken", manifest.text}};
  if (taken.names_key) entry["names-key"] = taken.names_key->text;
  Json file = read_taken_file(source.taken_manifests);
  file[source.path] = std::move(entry);
  replace_file(source.taken_manifests, file.dump(1) + "\n", kTakenMode);
}

}  // namespace bloomgate
