// What commands print of a manifest.
#pragma once

#include <optional>
#include <string>

#include "filter/base/json.hpp"
#include "filter/keep/publish_manifest.hpp"

namespace bloomgate::cli {

// "layers/manifest: list layers, number 1796013180, made 2026-11-29
// 04:33:00 UTC, holds until 2026-12-13 04:33:00 UTC".
std::string written_text(const WrittenManifest& written);
// A line of it on standard output, behind `label`; nothing where none was written.
void print_written(const char* label, const std::optional<WrittenManifest>& written);

// The object: "file", "list", "number", "made", "holds_until", "signer", "next_key". Null where there is none.
Json written_json(const std::optional<WrittenManifest>& written);

// What `info` shows of the manifest of a whitelist: the above, and whether each file is as it says. Never throws for
// what is in the files.
void print_manifest(const std::string& whitelist);
// The same, with "files", "unnamed" (layers that it does not name) and "fault". Null where there is none.
Json manifest_json(const std::string& whitelist);

}  // namespace bloomgate::cli
