#include "milter/deep_check/received_fields.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "milter/deep_check/safe_text.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxWordBytes = 255;
constexpr std::size_t kMaxQuotedSenderBytes = 1024;
// Characters with a meaning in the field: those of comments, of pairs such as "envelope-from=", and those that end a
// word.
constexpr std::string_view kForbidden = " ()<>;,=\"\\";

std::string word(std::string_view text, std::string_view if_empty) {
  return ascii_text(text.empty() ? if_empty : text, kMaxWordBytes, kForbidden);
}

}  // namespace

std::string received_fields(const Envelope& envelope, std::time_t now) {
  const std::string sender = utf8_text(envelope.sender, kMaxQuotedSenderBytes, " ()<>");
  std::string out = fmt::format("Return-Path: <{}>\r\n", sender);
  if (envelope.client_address.empty()) return out;
  const std::string date = fmt::format("{:%a, %d %b %Y %H:%M:%S} +0000", fmt::gmtime(now));
  out += fmt::format("Received: from {} ({} [{}])\r\n", word(envelope.helo, "unknown"),
                     word(known_host_name(envelope.client_name), "unknown"), word(envelope.client_address, ""));
  out += fmt::format("\tby {} (Bloomgate) with {} id {}\r\n", word(envelope.mta_name, "localhost"),
                     envelope.login.empty() ? "ESMTP" : "ESMTPA", word(envelope.queue_id, "none"));
  out += fmt::format("\t(envelope-from <{}>);\r\n\t{}\r\n", sender, date);
  return out;
}

}  // namespace bloomgate
