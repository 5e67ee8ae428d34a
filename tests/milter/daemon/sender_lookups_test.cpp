#include "milter/daemon/sender_lookups.hpp"

#include "milter/lookup/socketmap.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stream_sockets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(Parts, "a question at the socket for look-ups is answered from the lists in use") {
  set_exact_lists("eve@example.org\n");
  const TemporaryFolder folder;
  const std::string path = folder.file("lookup");
  DaemonOptions options = list_options({});
  options.lookup_socket = parse_socket_address("unix:" + path);
  options.socket_mode = 0600;
  const LearnedLookUps learned(options, log.logger());
  const SenderLookups lookups(options, judge, learned, served, log.logger());
  CHECK_THAT(log.text(), Contains("look-ups of senders at unix:" + path));

  const FileDescriptor client = connect_to(path);
  for (const auto& [sender, word] :
       {std::pair("joe@example.org", "OK listed"), std::pair("eve@example.org", "OK revoked"),
        std::pair("ann@example.org", "NOTFOUND ")}) {
    INFO(sender);
    const std::string want = netstring_of(word);
    send_text(client, netstring_of(std::string("senders ") + sender));
    CHECK(receive(client, want.size()) == want);
  }
}

}  // namespace
}  // namespace bloomgate::test
