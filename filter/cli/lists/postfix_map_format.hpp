// Lists that are tables of Postfix: `key whitespace value`, as access(5) and transport(5) describe them. Only a key
// whose value says that its mail is good becomes an entry; every other value is passed over or rejected, so that a list
// of the bad can never become a whitelist.
#pragma once

#include "filter/cli/lists/format.hpp"

namespace bloomgate::cli {

class PostfixMapFormat : public Format {
 public:
  ListLine read(const Block& block, std::string_view line, AddressProfile profile) const override;
};

}  // namespace bloomgate::cli
