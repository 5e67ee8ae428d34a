// Lists that are Postfix tables: `key whitespace value`, as access(5) and transport(5) describe them. A key becomes an
// entry only if its value says that its mail is good. A key with any other value is skipped or rejected, so that a list
// of bad senders can never become a whitelist.
#pragma once

#include "filter/ingest/format.hpp"

namespace bloomgate {

class PostfixMapFormat : public Format {
 public:
  ListLine read(const Block& block, std::string_view line, AddressProfile profile) const override;
};

}  // namespace bloomgate
