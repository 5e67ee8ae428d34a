// A milter that does nothing, for comparison: `null_milter SOCKET [mark]`. It is told of the same steps as
// bloomgate-milter, and answers at the end of each message; with `mark` it puts a header field in before that. What
// libmilter and the kernel cost is what it costs.
#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>
#include <sysexits.h>

#include <iostream>
#include <string_view>

namespace {

bool marks = false;

sfsistat on_negotiate(SMFICTX* /*context*/, unsigned long /*actions*/, unsigned long steps, unsigned long /*unused*/,
                      unsigned long /*unused*/, unsigned long* asked_actions, unsigned long* asked_steps,
                      unsigned long* asked_unused_0, unsigned long* asked_unused_1) {
  constexpr unsigned long kUnwanted = SMFIP_NORCPT | SMFIP_NODATA | SMFIP_NOEOH | SMFIP_NOBODY | SMFIP_NOUNKNOWN;
  *asked_actions = marks ? SMFIF_ADDHDRS : 0;
  *asked_steps = (steps & kUnwanted) | SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_MAIL | SMFIP_NR_HDR;
  *asked_unused_0 = 0;
  *asked_unused_1 = 0;
  return SMFIS_CONTINUE;
}

sfsistat on_end_of_message(SMFICTX* context) {
  char name[] = "X-Bloomgate";
  char value[] = "deliver; reason=listed; identity=envelope; whitelist=whitelist; host=mx.example.net";
  if (marks) smfi_insheader(context, 0, name, value);
  return SMFIS_CONTINUE;
}

}  // namespace

int main(int argc, char** argv) {
  marks = argc == 3 && std::string_view(argv[2]) == "mark";
  if (argc != (marks ? 3 : 2)) {
    std::cerr << "usage: null_milter SOCKET [mark]\n";
    return EX_USAGE;
  }
  smfiDesc description = {};
  char name[] = "null-milter";
  description.xxfi_name = name;
  description.xxfi_version = SMFI_VERSION;
  description.xxfi_negotiate = on_negotiate;
  description.xxfi_connect = [](SMFICTX*, char*, sockaddr*) -> sfsistat { return SMFIS_NOREPLY; };
  description.xxfi_helo = [](SMFICTX*, char*) -> sfsistat { return SMFIS_NOREPLY; };
  description.xxfi_envfrom = [](SMFICTX*, char**) -> sfsistat { return SMFIS_NOREPLY; };
  description.xxfi_header = [](SMFICTX*, char*, char*) -> sfsistat { return SMFIS_NOREPLY; };
  description.xxfi_eom = on_end_of_message;
  if (smfi_register(description) != MI_SUCCESS || smfi_setconn(argv[1]) != MI_SUCCESS) return EX_SOFTWARE;
  return smfi_main() == MI_SUCCESS ? EX_OK : EX_SOFTWARE;
}
