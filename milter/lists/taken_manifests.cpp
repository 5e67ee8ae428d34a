#include "milter/lists/taken_manifests.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/keep/manifest_rules.hpp"
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

[[noreturn]] void refuse(const std::string& path, const std::string& why, ErrorCode code = ErrorCode::bad_input) {
  throw BloomgateError(code, path + " " + why, {.path = path});
}

}  // namespace

std::string date_text(std::chrono::sys_seconds time) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

TrustedKeys keys_of(const WhitelistSource& source) {
  return keys_with_next(source.trusted_keys, taken_of(source).names_key);
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
  UsableManifest usable = {.signed_by_trusted = *std::move(found),
                           .keys = keys_with_next(source.trusted_keys, taken.names_key)};
  const SignedManifest& manifest = usable.signed_by_trusted;
  require_trusted(manifest, usable.keys, path);
  require_not_before(manifest, taken.last, usable.keys, path);
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
  taken.names_key = namer_after(source.trusted_keys, taken.names_key, manifest);
  Json entry = {{"taken", manifest.text}};
  if (taken.names_key) entry["names-key"] = taken.names_key->text;
  Json file = read_taken_file(source.taken_manifests);
  file[source.path] = std::move(entry);
  replace_file(source.taken_manifests, file.dump(1) + "\n", kTakenMode);
}

}  // namespace bloomgate
