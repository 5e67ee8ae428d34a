// Files of messages, sent or received: an mbox, or one message. For one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "filter/contacts/harvest_rules.hpp"
#include "filter/contacts/message_header.hpp"
#include "filter/contacts/source_reader.hpp"

namespace bloomgate {

// Finds the headers. `Header` collects one, with the start of its body if it needs that, and harvest() then uses it.
template <typename Header>
class HeadersReader : public SourceReader {
 public:
  explicit HeadersReader(bool is_mbox) : is_mbox_(is_mbox) {}

  void read(std::string_view lines) override;
  void finish() override;
  // After the only message's header the rest of its file is not needed.
  bool wants_more() const noexcept override { return is_mbox_ || place_ != Place::behind; }

 private:
  enum class Place : std::uint8_t { header, body, behind };

  virtual void harvest(Header& header) = 0;

  bool is_mbox_;
  Place place_ = Place::header;
  std::uint64_t body_bytes_ = 0;  // of the body that are still to come, by Content-Length
  bool after_blank_ = true;       // whether the line before was empty: a message of an mbox begins only there
  Header header_;
};

// For sent mail.
class MailReader : public HeadersReader<MessageHeader> {
 public:
  // `users` are those whose mail it is. All references must outlive the reader, and so must `posts`, which may be null.
  MailReader(const HarvestRules& rules, Users users, HarvestCounts& counts, ContactSink& sink, bool is_mbox,
             ListPosts* posts = nullptr)
      : HeadersReader(is_mbox), rules_(rules), users_(users), counts_(counts), sink_(sink), posts_(posts) {}

 private:
  void harvest(MessageHeader& header) override { header.harvest(rules_, users_, counts_, sink_, posts_); }

  const HarvestRules& rules_;
  Users users_;
  HarvestCounts& counts_;
  ContactSink& sink_;
  ListPosts* posts_;
};

class ReceivedReader : public HeadersReader<ReceivedHeader> {
 public:
  // The counts and the posts must outlive the reader.
  ReceivedReader(HarvestCounts& counts, ListPosts& posts, bool is_mbox)
      : HeadersReader(is_mbox), counts_(counts), posts_(posts) {}

 private:
  void harvest(ReceivedHeader& header) override { header.harvest(counts_, posts_); }

  HarvestCounts& counts_;
  ListPosts& posts_;
};

}  // namespace bloomgate
