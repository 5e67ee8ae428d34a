// From an option's text to its value: one convert() for each type that an option of the table may have. Used by
// daemon_options.cpp. All throw config_error() with the value's place, what was expected and what was found.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/daemon_options.hpp"
#include "config/enum_words.hpp"
#include "config/given_options.hpp"
#include "config/option_table.hpp"

namespace bloomgate {

// A number of bytes, which an operator may write as 512K, 10M or 1G.
struct ByteSize {
  std::uint64_t bytes = 0;
};

// A share of one, which an operator writes as 0.1%.
struct Percentage {
  double share = 0;
  ConfigPlace place;
};

// Where else the daemon listens, beside the mail server's socket. An empty text gives nothing: the daemon does not
// listen there.
struct OptionalAddress {
  std::optional<SocketAddress> socket;
};

// A store that confirms the hits of a whitelist, as the operator gave it.
struct StoreSource {
  std::string whitelist;  // the whitelist's name; empty: the only whitelist
  std::string path;
  ConfigPlace place;
};

// Another host whose learned entries are used, as the operator gave it.
struct LearnedFrom {
  std::string folder;
  TrustedKeys keys = {};
};

// The index of the value among the words that the option accepts.
std::size_t choose(const OptionSpec& spec, const GivenValue& given, std::span<const std::string_view> words);

template <typename Enum>
  requires std::is_enum_v<Enum>
void convert(const OptionSpec& spec, const GivenValue& given, Enum& out) {
  out = static_cast<Enum>(choose(spec, given, kWordsOf<Enum>));
}
void convert(const OptionSpec& spec, const GivenValue& given, bool& out);
void convert(const OptionSpec& spec, const GivenValue& given, SocketAddress& out);
void convert(const OptionSpec& spec, const GivenValue& given, OptionalAddress& out);
void convert(const OptionSpec& spec, const GivenValue& given, mode_t& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::size_t& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::string& out);
void convert(const OptionSpec& spec, const GivenValue& given, IpAddress& out);
void convert(const OptionSpec& spec, const GivenValue& given, ByteSize& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::chrono::milliseconds& out);  // given in seconds
void convert(const OptionSpec& spec, const GivenValue& given, std::chrono::days& out);
void convert(const OptionSpec& spec, const GivenValue& given, Percentage& out);

// The following functions add to the present value: a value may hold several words, and an option may be given several
// times.
void convert(const OptionSpec& spec, const GivenValue& given, std::vector<std::string>& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::vector<IpNetwork>& out);
void convert(const OptionSpec& spec, const GivenValue& given, TrustedKeys& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::vector<WhitelistSource>& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::vector<LearnedFrom>& out);
void convert(const OptionSpec& spec, const GivenValue& given, std::vector<StoreSource>& out);  // empty text: no store
void convert(const OptionSpec& spec, const GivenValue& given, std::vector<DeepCheckServer>& out);

}  // namespace bloomgate
