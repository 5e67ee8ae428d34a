#include "milter/lists/taken_manifests.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/keep/manifest_rules.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kTakenMode = 0640;

// The accepted manifests of one whitelist.
struct Taken {
  std::optional<SignedManifest> last;
  std::optional<SignedManifest> names_key;  // the manifest that has named the next key
};

// Null if nothing was accepted yet.
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

// The names under which a whitelist is in the file.
std::vector<std::string> names_in_file(const WhitelistSource& source) {
  std::vector<std::string> names = {source.path};
  std::error_code error;
  const std::string place = std::filesystem::weakly_canonical(source.path, error).string();
  if (!error && place != source.path) names.push_back(place);
  return names;
}

// The manifests that were accepted under any of these names, the highest number first. They differ if a link has
// changed its target.
std::vector<Taken> taken_of(const WhitelistSource& source, const Json& file) {
  std::vector<Taken> all;
  for (const std::string& name : names_in_file(source)) {
    const Json& taken = file.at(name);
    all.push_back({.last = manifest_in(taken, "taken", source.taken_manifests),
                   .names_key = manifest_in(taken, "names-key", source.taken_manifests)});
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Taken& each) { return each.last ? each.last->manifest.number : 0; });
  return all;
}

std::vector<Taken> taken_of(const WhitelistSource& source) {
  return taken_of(source, read_taken_file(source.taken_manifests));
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
  return keys_with_next(source.trusted_keys, taken_of(source).front().names_key);
}

std::chrono::sys_seconds used_until(const Manifest& manifest, const WhitelistSource& source) noexcept {
  return manifest.holds_until + source.overdue_for;
}

bool is_overdue(const Manifest& manifest, const WhitelistSource& source,
                std::chrono::system_clock::time_point now) noexcept {
  return std::chrono::floor<std::chrono::seconds>(now) > used_until(manifest, source);
}

UsableManifest usable_manifest(const WhitelistSource& source, std::chrono::system_clock::time_point now) {
  const std::string path = manifest_path(source.path);
  const std::vector<Taken> taken = taken_of(source);
  std::optional<SignedManifest> found = read_manifest(source.path);
  if (!found) {
    refuse(path,
           fmt::format("is not there, so nothing tells whether the whitelist is the newest one; where it is made, "
                       "bloomgate sign --key KEYFILE {} writes it; where bloomgate pull fetches it, see what that "
                       "reports (systemctl status 'bloomgate-pull@*')",
                       shell_word(source.path, "FILE")));
  }
  UsableManifest usable = {.signed_by_trusted = *std::move(found),
                           .keys = keys_with_next(source.trusted_keys, taken.front().names_key)};
  const SignedManifest& manifest = usable.signed_by_trusted;
  require_trusted(manifest, usable.keys, path);
  for (const Taken& each : taken) require_not_before(manifest, each.last, usable.keys, path);
  if (is_overdue(manifest.manifest, source, now)) {
    refuse(path,
           fmt::format("holds until {}, and its publisher has published nothing since {}: it is too old to be used "
                       "(use-overdue-for); it is {} by the clock of this machine; if that is right, see whether "
                       "bloomgate pull still fetches it (systemctl status 'bloomgate-pull@*') and its publisher still "
                       "signs it",
                       date_text(manifest.manifest.holds_until), date_text(manifest.manifest.made),
                       date_text(std::chrono::floor<std::chrono::seconds>(now))));
  }
  return usable;
}

void remember_taken(const WhitelistSource& source, const SignedManifest& manifest) {
  if (source.taken_manifests.empty()) return;
  // Otherwise a thread that stores another whitelist's manifest at the same time would write the file without this one.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  Json file = read_taken_file(source.taken_manifests);
  const std::vector<Taken> taken = taken_of(source, file);
  const auto is_known = [&](const Taken& each) { return each.last && each.last->text == manifest.text; };
  if (std::ranges::all_of(taken, is_known)) return;
  const auto names_key = namer_after(source.trusted_keys, taken.front().names_key, manifest);
  Json entry = {{"taken", manifest.text}};
  if (names_key) entry["names-key"] = names_key->text;
  for (const std::string& name : names_in_file(source)) file[name] = entry;
  replace_file(source.taken_manifests, file.dump(1) + "\n", kTakenMode);
}

std::string fault_of_memory(const WhitelistSource& source) {
  if (source.trusted_keys.empty() || source.taken_manifests.empty()) return {};
  try {
    const std::string name = std::filesystem::path(source.taken_manifests).filename().string();
    // A different name from the one in replace_file(), which the daemon may be using now.
    const std::string temporary =
        (std::filesystem::path(folder_of(source.taken_manifests)) / ("." + name + ".trial")).string();
    static_cast<void>(Replacement(source.taken_manifests, temporary, kTakenMode));
  } catch (const BloomgateError& error) {
    return error.what();
  }
  return {};
}

}  // namespace bloomgate
