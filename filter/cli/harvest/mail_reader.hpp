// Files of sent messages: an mbox, or one message. For one thread.
#pragma once

#include "filter/cli/harvest/harvest_rules.hpp"
#include "filter/cli/harvest/message_header.hpp"
#include "filter/cli/harvest/source_reader.hpp"

namespace bloomgate::cli {

class MailReader : public SourceReader {
 public:
  // The rules, the counts and the sink are the caller's, who keeps them.
  MailReader(const HarvestRules& rules, HarvestCounts& counts, ContactSink& sink, bool is_mbox)
      : rules_(rules), counts_(counts), sink_(sink), is_mbox_(is_mbox) {}

  void read(std::string_view lines) override;
  void finish() override;
  // The body of the only message is of no interest.
  bool wants_more() const noexcept override { return is_mbox_ || in_header_; }

 private:
  const HarvestRules& rules_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  bool is_mbox_;
  bool in_header_ = true;
  bool after_blank_ = true;  // whether the line before was empty: only there a message of an mbox begins
  MessageHeader header_;
};

}  // namespace bloomgate::cli
