#include "config/list_commands.hpp"

#include <algorithm>
#include <array>

namespace bloomgate {
namespace {

constexpr std::array kListCommands = {
    ListCommandSpec{"add", ListName::extra, ListChange::put_in,
                    "add entries to the list extra, so that they count as listed"},
    ListCommandSpec{"remove", ListName::extra, ListChange::take_out, "remove entries from the list extra"},
    ListCommandSpec{"revoke", ListName::revoked, ListChange::put_in,
                    "add entries to the list revoked: their mail is always checked"},
    ListCommandSpec{"unrevoke", ListName::revoked, ListChange::take_out, "remove entries from the list revoked"},
    ListCommandSpec{"opt-out", ListName::opt_out, ListChange::put_in,
                    "add recipients to the list opt-out: mail always checked"},
    ListCommandSpec{"opt-in", ListName::opt_out, ListChange::take_out, "remove recipients from the list opt-out"},
};

}  // namespace

std::span<const ListCommandSpec> list_command_table() noexcept {
  return kListCommands;
}

const ListCommandSpec* find_list_command(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kListCommands, name, &ListCommandSpec::name);
  return found == kListCommands.end() ? nullptr : found;
}

}  // namespace bloomgate
