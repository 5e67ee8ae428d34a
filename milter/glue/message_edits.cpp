#include "milter/glue/message_edits.hpp"

#include <libmilter/mfapi.h>

#include <exception>
#include <string>
#include <string_view>

#include "milter/fields/field_name.hpp"
#include "milter/glue/libmilter_context.hpp"
#include "milter/policy/decide.hpp"

namespace bloomgate {
namespace {

// libmilter accepts less than an SMTP line with its codes (smfi_setreply).
constexpr std::size_t kMaxReplyBytes = 400;

// From the last to the first, since each removal renumbers the fields after it (the other order leads to
// CVE-2022-48521).
bool remove_all(SMFICTX* context, const char* name, int count) noexcept {
  for (int index = count; index >= 1; --index) {
    if (smfi_chgheader(context, unconst(name), index, nullptr) != MI_SUCCESS) return false;
  }
  return true;
}

bool put_on_top(SMFICTX* context, const char* name, const char* value, bool with_space) noexcept {
  if (!with_space) return smfi_insheader(context, 0, unconst(name), unconst(value)) == MI_SUCCESS;
  try {
    return smfi_insheader(context, 0, unconst(name), (" " + std::string(value)).data()) == MI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// libmilter treats a percent sign as the start of a format (smfi_setreply).
std::string with_doubled_percent_signs(std::string_view text) {
  std::string out;
  for (const char character : text.substr(0, kMaxReplyBytes)) out.append(character == '%' ? 2 : 1, character);
  return out;
}

}  // namespace

bool carry_out(SMFICTX* context, const Edits& edits) noexcept {
  if (!remove_all(context, kHeaderName.data(), edits.forged_marks)) return false;
  for (const ForgedFields::Name& field : edits.forged_results) {
    if (!remove_all(context, field.name.c_str(), field.count)) return false;
  }
  // Each field goes to the top, so the last one is added first.
  for (auto field = edits.results.rbegin(); field != edits.results.rend(); ++field) {
    if (!put_on_top(context, field->name.c_str(), field->value.c_str(), edits.needs_leading_space)) return false;
  }
  if (edits.mark != nullptr && !put_on_top(context, kHeaderName.data(), edits.mark, edits.needs_leading_space)) {
    return false;
  }
  return edits.quarantine_reason == nullptr || smfi_quarantine(context, unconst(edits.quarantine_reason)) == MI_SUCCESS;
}

int refuse(SMFICTX* context, const Refusal& refusal) noexcept {
  const auto& [for_good, reply] = refusal;
  try {
    // If this fails, the mail server uses its own words.
    if (!reply.empty()) {
      static_cast<void>(smfi_setreply(context, unconst(for_good ? "550" : "451"), unconst(for_good ? "5.7.1" : "4.7.1"),
                                      with_doubled_percent_signs(reply).data()));
    }
  } catch (const std::exception&) {
    // No memory for the text: the same.
  }
  return for_good ? SMFIS_REJECT : SMFIS_TEMPFAIL;
}

}  // namespace bloomgate
