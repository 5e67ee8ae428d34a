// The alerts for Prometheus (config/prometheus/bloomgate.rules.yml): one for each rule of the table, and those that a
// daemon cannot know of itself. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// "BloomgateWhitelistOld" for "whitelist-old".
std::string alert_name(std::string_view rule);

// The text of that file.
std::string alerts_text();

// What `bloomgate-milter --list-alerts` prints; the shipped file is made from it. The help does not mention it.
inline constexpr std::string_view kListAlerts = "--list-alerts";

}  // namespace bloomgate
