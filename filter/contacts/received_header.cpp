#include "filter/contacts/received_header.hpp"

#include <algorithm>

#include "filter/address/entry_forms.hpp"
#include "filter/address/list_id.hpp"
#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "filter/contacts/message_header.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kScheme = "mailto:";

bool is_of_url(char byte) noexcept {
  return byte > ' ' && byte != '<' && byte != '>' && byte != '\x7f';
}

}  // namespace

Entry posting_address(std::string_view value) {
  const std::optional<std::string> line = unfold(value);
  if (!line) return {};
  StructuredReader reader(*line);
  std::string_view address;
  do {
    reader.skip_cfws();
    if (!reader.take('<')) return {};
    std::string_view url = reader.take_while(is_of_url);
    if (!reader.take('>')) return {};
    reader.skip_cfws();
    if (!ascii::equal_ignoring_case(url.substr(0, kScheme.size()), kScheme)) continue;
    url.remove_prefix(kScheme.size());
    if (!address.empty()) return {};
    address = url.substr(0, url.find('?'));
    // Several addresses, or an escaped one (RFC 6068).
    if (address.empty() || address.find_first_of(",%") != std::string_view::npos) return {};
  } while (reader.take(','));
  if (reader.failed() || !reader.at_end()) return {};
  return canonicalize_path(address);
}

void ReceivedHeader::clear() {
  *this = ReceivedHeader();
}

void ReceivedHeader::add_line(std::string_view line) {
  has_lines_ = true;
  const HeaderLine part = split_header_line(line);
  if (!part.goes_on) {
    const auto is = [&part](std::string_view wanted) { return ascii::equal_ignoring_case(part.name, wanted); };
    last_ = nullptr;
    if (is("List-Id")) {
      ++list_ids_;
      last_ = &list_id_;
    } else if (is("List-Post")) {
      ++list_posts_;
      last_ = &list_post_;
    } else if (is("Message-ID") || is("In-Reply-To") || is("References")) {
      last_ = &ids_;
    }
  }
  if (last_ == nullptr) return;
  kept_bytes_ += part.value.size() + 1;
  if (kept_bytes_ <= kMostBytes) last_->append(1, ' ').append(part.value);
}

void ReceivedHeader::harvest(HarvestCounts& counts, ListPosts& posts) const {
  if (list_ids_ != 1 || list_posts_ != 1 || kept_bytes_ > kMostBytes) return;
  const std::optional<std::string> id = read_list_id(list_id_);
  const std::optional<std::string> list = list_named_after(posting_address(list_post_));
  if (!id || !list || canonicalize_list_line(std::string(kMailingListPrefix) + *id).key() != *list) return;
  ++counts.list_messages;
  std::vector<std::string_view> ids = message_ids(ids_);
  ids.resize(std::min(ids.size(), kMostIds));
  for (const std::string_view message_id : ids) posts.add_copy(message_id, *list);
}

}  // namespace bloomgate
