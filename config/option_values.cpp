#include "config/option_values.hpp"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "config/name_server.hpp"
#include "filter/base/ascii.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxWhitelistNameBytes = 64;
constexpr std::size_t kMaxWordBytes = 255;

[[noreturn]] void reject(const OptionSpec& spec, const GivenValue& given, std::string_view expected,
                         std::string_view found, const std::string& hint = {}) {
  const std::string got = found.empty() ? "nothing" : quoted(found);
  throw config_error(given.place, std::string(spec.name), "expected " + std::string(expected) + ", got " + got + hint);
}

[[noreturn]] void reject(const OptionSpec& spec, const GivenValue& given, std::string_view expected) {
  reject(spec, given, expected, given.text);
}

// The words of a list: separated by spaces, tabs or commas, in any number.
std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kSeparators = " \t,";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// ASCII labels of letters, digits, hyphens and underscores; the canonicaliser checks bytes beyond ASCII, which
// international names contain.
bool looks_like_domain(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > kMaxWordBytes || text.starts_with('.') || text.find("..") != text.npos)
    return false;
  return std::ranges::all_of(text, [](char character) {
    return ascii::is_letter_or_digit(character) || character == '.' || character == '-' || character == '_' ||
           !ascii::is_ascii(character);
  });
}

// A domain, or a domain with all domains below it.
bool looks_like_domain_or_tree(std::string_view text) {
  return looks_like_domain(text.substr(text.starts_with('.') ? 1 : 0));
}

// Names that can come first in an Authentication-Results field without quotes (RFC 8601 section 2.2), and names of
// listeners.
bool is_token(std::string_view text) {
  return text.size() <= kMaxWordBytes && std::ranges::all_of(text, [](char character) {
           return static_cast<unsigned char>(character) > ' ' && character != '\x7f' &&
                  std::string_view("()<>@;\\\"[]?=").find(character) == std::string_view::npos;
         });
}

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

bool is_name_server(std::string_view text) {
  return parse_name_server(text).has_value();
}

// Fields that a signature need not cover unless an operator requires it.
bool is_field_to_require(std::string_view text) {
  constexpr std::string_view kFields[] = {"To",
                                          "Cc",
                                          "Date",
                                          "Message-ID",
                                          "References",
                                          "In-Reply-To",
                                          "List-Unsubscribe",
                                          "List-Id",
                                          "MIME-Version",
                                          "Content-Type",
                                          "Content-Transfer-Encoding",
                                          "Content-Disposition"};
  return std::ranges::any_of(kFields,
                             [text](std::string_view field) { return ascii::equal_ignoring_case(field, text); });
}

struct WordForm {
  std::string_view option;
  bool (*accepts)(std::string_view);
  std::string_view expected;
};
constexpr WordForm kWordForms[] = {
    {"trusted-authserv-id", is_token, "names of authentication services, such as mx.example.org"},
    {"own-domains", looks_like_domain_or_tree, "domains, such as example.org or .example.org"},
    {"trusted-forwarders", looks_like_domain, "domains, such as forwarder.example"},
    {"dns-servers", is_name_server, kNameServerForms},
    {"require-signed", is_field_to_require,
     "header fields such as To, Cc, Date or List-Unsubscribe (the manual has all)"},
    {"exempt-daemons", is_token, "names of listeners, such as ORIGINATING"},
};

struct NumberLimits {
  std::string_view option;
  std::size_t least, most;
};
constexpr NumberLimits kNumberLimits[] = {
    {"max-connections", 1, 100'000},   //
    {"connection-timeout", 1, 7'200},  // libmilter's own is 7,210 s
    {"deep-check-connections", 1, 10'000},
    {"learn-max-recipients", 1, 1'000},
    {"learn-rate", 1, 1'000'000},
    {"learn-exempt-rate", 1, 1'000'000},
    {"burst-limit", 0, 1'000'000},
    {"burst-recipients", 1, 1'000'000},
    {"lookup-messages", 0, 64},  // each has a thread
    {"reload", 1, 1 << 22},      // process IDs: a container has 1
};
constexpr std::size_t kMaxSeconds = 3600;
constexpr std::size_t kMaxDays = 36'500;
constexpr std::uint64_t kMaxByteSize = std::uint64_t{1} << 40;

bool is_whitelist_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxWhitelistNameBytes && std::ranges::all_of(name, [](char character) {
    return ascii::is_letter_or_digit(character) || character == '.' || character == '-' || character == '_';
  });
}

// The file's name up to its last dot, made safe for a header field.
std::string name_from_path(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot != 0) name = name.substr(0, dot);
  std::string fit(name.substr(0, kMaxWhitelistNameBytes));
  for (char& character : fit) {
    if (!is_whitelist_name({&character, 1})) character = '_';
  }
  return fit.empty() ? "whitelist" : fit;
}

// `NAME=PATH` if the text before the first equals sign can be a name, which is never so in an absolute path; otherwise
// a path with an empty name.
WhitelistSource named_path(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos && is_whitelist_name(text.substr(0, equals))) {
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  }
  return {{}, std::string(text)};
}

// The daemon has another working folder than the operator's editor. A path on the command line is relative to the
// shell's folder.
void require_absolute(const OptionSpec& spec, const GivenValue& given, std::string_view path) {
  if (given.place.path.empty() || path.empty()) return;
  if (!path.starts_with('/')) reject(spec, given, "a path that begins with '/'", path);
  if (path.find(" /") != std::string_view::npos) reject(spec, given, "one path on its line", path);
}

void refuse_long_path(const OptionSpec& spec, const GivenValue& given) {
  const std::size_t path = given.text.find('/');
  if (path == std::string::npos || given.text.substr(0, path).find("://") != std::string::npos) return;
  if (given.text.size() - path < sizeof(sockaddr_un::sun_path)) return;
  reject(spec, given, "a path of at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes",
         given.text.substr(path));
}

std::string number_form(const OptionSpec& spec, const NumberLimits* limits) {
  std::string text = spec.argument == "SECONDS" ? "a number of seconds" : "a number";
  if (limits != nullptr) {
    text += " from " + std::to_string(limits->least) + " to " + std::to_string(limits->most);
  }
  return text;
}

}  // namespace

std::size_t choose(const OptionSpec& spec, const GivenValue& given, std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, given.text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string expected;
  for (const std::string_view word : words) expected.append(expected.empty() ? "one of " : ", ").append(word);
  reject(spec, given, expected, given.text, nearest_word_hint(given.text, words));
}

void convert(const OptionSpec& spec, const GivenValue& given, bool& out) {
  constexpr std::string_view kWords[] = {"yes", "no"};
  out = choose(spec, given, kWords) == 0;
}

void convert(const OptionSpec& spec, const GivenValue& given, SocketAddress& out) {
  const auto address = parse_socket_address(given.text);
  refuse_long_path(spec, given);
  if (!address) reject(spec, given, std::string(kSocketAddressForms) + " (as in inet:8891@127.0.0.1)");
  out = *address;
}

void convert(const OptionSpec& spec, const GivenValue& given, OptionalAddress& out) {
  out.socket.reset();
  if (given.text.empty()) return;
  out.socket = parse_http_address(given.text);
  refuse_long_path(spec, given);
  if (!out.socket) reject(spec, given, std::string(kHttpAddressForms) + " (as in 127.0.0.1:9812)");
}

void convert(const OptionSpec& spec, const GivenValue& given, mode_t& out) {
  unsigned mode = 0;
  const char* const begin = given.text.data();
  const char* const end = begin + given.text.size();
  const auto [stop, error] = std::from_chars(begin, end, mode, 8);
  if (error != std::errc() || stop != end || mode > 0777) reject(spec, given, "an octal mode from 0000 to 0777");
  out = mode;
}

void convert(const OptionSpec& spec, const GivenValue& given, std::size_t& out) {
  const auto* const found = std::ranges::find(kNumberLimits, spec.name, &NumberLimits::option);
  const NumberLimits* const limits = found == std::end(kNumberLimits) ? nullptr : found;
  const auto number = number_of(given.text);
  if (!number || (limits != nullptr && (*number < limits->least || *number > limits->most))) {
    reject(spec, given, number_form(spec, limits));
  }
  out = *number;
}

void convert(const OptionSpec& spec, const GivenValue& given, ByteSize& out) {
  constexpr std::string_view kUnits = "KMG";
  std::string_view text = given.text;
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const unsigned shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<unsigned>(unit) + 1);
  if (shift != 0) text.remove_suffix(1);
  const auto number = number_of(text);
  const std::size_t least = spec.name == "recheck-rate" ? 0 : 1;
  if (!number || *number < least || *number > kMaxByteSize >> shift) {
    reject(spec, given,
           "a number of bytes from " + std::to_string(least) + " to 1024G, with or without K, M or G after it");
  }
  out.bytes = std::uint64_t{*number} << shift;
}

// std::from_chars() alone would also accept "nan" and "-0".
void convert(const OptionSpec& spec, const GivenValue& given, Percentage& out) {
  const std::string_view text = given.text;
  const std::string_view number = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const char* const end = number.data() + number.size();
  double percent = 0;
  const auto [stop, error] = std::from_chars(number.data(), end, percent, std::chars_format::fixed);
  const bool is_plain = !number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!text.ends_with('%') || !is_plain || error != std::errc() || stop != end || percent > 100) {
    reject(spec, given, "a share from 0% to 100%, such as 0.1%");
  }
  out = {percent / 100, given.place};
}

void convert(const OptionSpec& spec, const GivenValue& given, std::chrono::milliseconds& out) {
  const auto seconds = number_of(given.text);
  if (!seconds || *seconds == 0 || *seconds > kMaxSeconds) {
    reject(spec, given, "a number of seconds from 1 to " + std::to_string(kMaxSeconds));
  }
  out = std::chrono::seconds(*seconds);
}

void convert(const OptionSpec& spec, const GivenValue& given, std::chrono::days& out) {
  const std::string_view text = given.text;
  const auto days = number_of(text.substr(0, text.size() - (text.ends_with('d') ? 1 : 0)));
  const std::size_t least = spec.name == "burst-observe" ? 0 : 1;
  if (!days || *days < least || *days > kMaxDays) {
    reject(spec, given, "a number of days from " + std::to_string(least) + "d to " + std::to_string(kMaxDays) + "d");
  }
  out = std::chrono::days(*days);
}

void convert(const OptionSpec& spec, const GivenValue& given, std::string& out) {
  constexpr std::array<std::string_view, 5> kMadeByDaemon = {"learn-file", "burst-file", "suspend-file", "history-file",
                                                             "taken-manifests"};
  if (std::ranges::count(kMadeByDaemon, spec.name) != 0 && !given.text.starts_with('/'))
    reject(spec, given, "the path of a file");
  if (spec.name == "host-name" && !given.text.empty() && !is_host_name(given.text)) reject(spec, given, "a host name");
  if (spec.name == "deep-check-folder" && !given.text.starts_with('/')) reject(spec, given, "the path of a folder");
  if (spec.argument == "FILE") require_absolute(spec, given, given.text);
  out = given.text;
}

void convert(const OptionSpec& spec, const GivenValue& given, IpAddress& out) {
  const auto address = parse_ip_address(given.text);
  if (!address) reject(spec, given, "an IP address, such as 192.0.2.1 or 2001:db8::1");
  out = *address;
}

void convert(const OptionSpec& spec, const GivenValue& given, std::vector<std::string>& out) {
  const auto* const form = std::ranges::find(kWordForms, spec.name, &WordForm::option);
  if (form == std::end(kWordForms)) {
    out.push_back(given.text);
    return;
  }
  for (const std::string_view word : words_of(given.text)) {
    if (!form->accepts(word)) reject(spec, given, form->expected, word);
    out.emplace_back(word);
  }
}

void convert(const OptionSpec& spec, const GivenValue& given, std::vector<IpNetwork>& out) {
  for (const std::string_view word : words_of(given.text)) {
    // A netmask would otherwise count as another client.
    const auto network = word.starts_with("255.") ? std::nullopt : parse_ip_network(word);
    if (!network) reject(spec, given, std::string(kIpNetworkForms) + " (no bits after the prefix)", word);
    out.push_back(*network);
  }
}

// The message does not repeat the value: it may be a secret key.
void convert(const OptionSpec& spec, const GivenValue& given, TrustedKeys& out) {
  for (const std::string_view word : words_of(given.text)) {
    const std::optional<PublicKey> key = PublicKey::parse(word);
    if (!key) throw config_error(given.place, std::string(spec.name), public_key_fault(word));
    out.push_back(*key);
  }
}

void convert(const OptionSpec& spec, const GivenValue& given, std::vector<DeepCheckServer>& out) {
  if (given.text == "none") {
    if (out.empty()) return;
    throw config_error(given.place, std::string(spec.name),
                       "'none' and " + to_string(out.front()) + " exclude each other: keep one of them");
  }
  auto server = parse_deep_check_server(given.text);
  if (!server) {
    constexpr std::array<std::string_view, 3> kKinds = {"none", "rspamd", "spamd"};
    reject(spec, given, "none, " + std::string(kDeepCheckServerForms), given.text,
           nearest_word_hint(std::string_view(given.text).substr(0, given.text.find(':')), kKinds));
  }
  out.push_back(std::move(*server));
}

void convert(const OptionSpec& spec, const GivenValue& given, std::vector<WhitelistSource>& out) {
  WhitelistSource source = named_path(given.text);
  if (source.name.empty()) source.name = name_from_path(source.path);
  if (source.path.empty()) reject(spec, given, "a path, or a name, '=' and a path");
  require_absolute(spec, given, source.path);
  if (std::ranges::find(out, source.name, &WhitelistSource::name) != out.end()) {
    throw config_error(given.place, std::string(spec.name),
                       "there is a whitelist named '" + source.name +
                           "' already; give this one another name: NAME=" + printable(source.path));
  }
  out.push_back(std::move(source));
}

void convert(const OptionSpec& spec, const GivenValue& given, std::vector<LearnedFrom>& out) {
  if (given.text.empty()) return;
  const std::size_t end = std::min(given.text.find_first_of(" \t"), given.text.size());
  LearnedFrom host = {.folder = given.text.substr(0, end)};
  require_absolute(spec, given, host.folder);
  convert(spec, {given.text.substr(end), given.place}, host.keys);
  if (host.keys.empty()) {
    throw config_error(given.place, std::string(spec.name),
                       "expected a folder and the public key of the host that shares it, got no key: without one, "
                       "anything could be put there");
  }
  if (std::ranges::find(out, host.folder, &LearnedFrom::folder) != out.end()) {
    throw config_error(given.place, std::string(spec.name),
                       "the folder " + printable(host.folder) + " is named twice: keep one of the two");
  }
  out.push_back(std::move(host));
}

void convert(const OptionSpec& spec, const GivenValue& given, std::vector<StoreSource>& out) {
  if (given.text.empty()) return;
  WhitelistSource source = named_path(given.text);
  if (source.path.empty()) reject(spec, given, "a path, or a whitelist's name, '=' and a path");
  require_absolute(spec, given, source.path);
  out.push_back({std::move(source.name), std::move(source.path), given.place});
}

}  // namespace bloomgate
