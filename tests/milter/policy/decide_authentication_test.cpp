// Whether a sender is authenticated, by each rule of authentication.
#include "tests/milter/policy/decision_parts.hpp"

namespace bloomgate {
namespace {

using test::Row;
using test::World;

TEST_CASE("decide: with authentication required, a listed sender needs a pass from a trusted field") {
  const Row rows[] = {
      {"SPF of the envelope sender's very domain.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org", "deliver listed envelope spf @main"},
      {"SPF that names the whole address.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=joe@example.org", "deliver listed envelope spf @main"},
      {"SPF of the greeting's name is none.", "joe@example.org", "x@other.example", "spf=pass smtp.helo=example.org",
       "check not-authenticated envelope @main"},
      {"SPF of another domain is none.", "joe@example.org", "x@other.example", "spf=pass smtp.mailfrom=other.example",
       "check not-authenticated envelope @main"},
      {"SPF of a domain below does not name the envelope sender's.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=mail.example.org", "check not-authenticated envelope @main"},
      {"SPF of an envelope below the From mailbox's domain, which may be anybody's.", "b@bounce.example.org",
       "joe@example.org", "spf=pass smtp.mailfrom=bounce.example.org", "check not-authenticated header-from @main"},
      {"SPF that fails.", "joe@example.org", "x@other.example", "spf=fail smtp.mailfrom=example.org",
       "check not-authenticated envelope @main"},
      {"SPF that softly fails.", "joe@example.org", "x@other.example", "spf=softfail smtp.mailfrom=example.org",
       "check not-authenticated envelope @main"},
      {"SPF that says neutral.", "joe@example.org", "x@other.example", "spf=neutral smtp.mailfrom=example.org",
       "check not-authenticated envelope @main"},
      {"SPF that says none.", "joe@example.org", "x@other.example", "spf=none smtp.mailfrom=example.org",
       "check not-authenticated envelope @main"},
      {"SPF that met an error for now.", "joe@example.org", "x@other.example",
       "spf=temperror smtp.mailfrom=example.org", "check not-authenticated envelope @main"},
      {"SPF that met an error for good.", "joe@example.org", "x@other.example",
       "spf=permerror smtp.mailfrom=example.org", "check not-authenticated envelope @main"},
      {"A signature of the very domain.", "x@other.example", "joe@example.org", "dkim=pass header.d=example.org",
       "deliver listed header-from dkim @main"},
      {"A signature by its identity.", "x@other.example", "joe@example.org", "dkim=pass header.i=@example.org",
       "deliver listed header-from dkim @main"},
      {"A signature of a domain below, which may be anybody's.", "x@other.example", "joe@example.org",
       "dkim=pass header.d=mail.example.org", "check not-authenticated header-from @main"},
      {"A signature of the domain above, which is its owner's.", "x@other.example", "any@a.tree.example",
       "dkim=pass header.d=tree.example", "deliver listed-domain-tree header-from dkim @main by @.tree.example"},
      {"A signature of another domain.", "x@other.example", "joe@example.org", "dkim=pass header.d=other.example",
       "check not-authenticated header-from @main"},
      {"A signature of a domain with the same end.", "x@other.example", "joe@example.org",
       "dkim=pass header.d=evil-example.org", "check not-authenticated header-from @main"},
      {"A signature of the public suffix.", "x@other.example", "joe@example.org", "dkim=pass header.d=org",
       "check not-authenticated header-from @main"},
      {"A broken signature.", "x@other.example", "joe@example.org", "dkim=fail header.d=example.org",
       "check not-authenticated header-from @main"},
      {"One good signature is enough beside a broken one of the same domain.", "x@other.example", "joe@example.org",
       "dkim=fail header.d=example.org; dkim=pass header.d=example.org", "deliver listed header-from dkim @main"},
      {"One good signature is enough beside those of others.", "x@other.example", "joe@example.org",
       "dkim=pass header.d=service.example; dkim=pass header.d=example.org", "deliver listed header-from dkim @main"},
      {"DMARC of the From domain, with the signature by which it passed.", "x@other.example", "joe@example.org",
       "dmarc=pass header.from=example.org; dkim=pass header.d=example.org", "deliver listed header-from dmarc @main"},
      {"DMARC of the From domain, with the envelope sender by which it passed.", "x@example.org", "joe@example.org",
       "dmarc=pass header.from=example.org; spf=pass smtp.mailfrom=example.org",
       "deliver listed header-from dmarc @main"},
      {"DMARC that does not say by whom it passed, which may be anybody below.", "x@other.example", "joe@example.org",
       "dmarc=pass header.from=example.org", "check not-authenticated header-from @main"},
      {"DMARC of another domain.", "x@other.example", "joe@example.org", "dmarc=pass header.from=other.example",
       "check not-authenticated header-from @main"},
      {"DMARC that names no domain.", "x@other.example", "joe@example.org", "dmarc=pass",
       "check not-authenticated header-from @main"},
      {"DMARC of a domain without a policy.", "x@other.example", "joe@example.org",
       "dmarc=none header.from=example.org", "check not-authenticated header-from @main"},
      {"DMARC of a From domain does not vouch for another mailbox of the organisation.", "bounce@esp.example",
       "news@www.esp.example", "dmarc=pass header.from=www.esp.example; dkim=pass header.d=www.esp.example",
       "check not-authenticated envelope @main"},
      {"An unknown method.", "joe@example.org", "joe@example.org", "iprev=pass policy.iprev=192.0.2.1",
       "check not-authenticated envelope @main"},
      {"A login.", "joe@example.org", "joe@example.org", "auth=pass smtp.auth=joe@example.org",
       "check not-authenticated envelope @main"},
      {"No results.", "joe@example.org", "joe@example.org", "none", "check not-authenticated envelope @main"},
      {"A valid chain of ARC.", "x@other.example", "joe@example.org", "arc=pass",
       "check not-authenticated header-from @main"},
      {"A field of somebody else's.", "joe@example.org", "joe@example.org",
       "=elsewhere.example; spf=pass smtp.mailfrom=example.org; dkim=pass header.d=example.org",
       "check not-authenticated envelope @main"},
      {"A field whose id starts with ours.", "joe@example.org", "joe@example.org",
       "=mx.example.net.evil.example; dkim=pass header.d=example.org", "check not-authenticated envelope @main"},
      {"A field with our id in a comment.", "joe@example.org", "joe@example.org",
       "=(mx.example.net) elsewhere.example; dkim=pass header.d=example.org", "check not-authenticated envelope @main"},
      {"Our id in capitals is ours.", "joe@example.org", "x@other.example",
       "=MX.Example.NET; spf=pass smtp.mailfrom=example.org", "deliver listed envelope spf @main"},
      {"Our field that does not parse.", "joe@example.org", "joe@example.org", "dkim=pass header.d=example.org (no end",
       "check not-authenticated envelope @main"},
      {"Our field of another version.", "joe@example.org", "joe@example.org",
       "=mx.example.net 2; dkim=pass header.d=example.org", "check not-authenticated envelope @main"},
      {"Results in several fields.", "joe@example.org", "x@other.example",
       "dmarc=none header.from=other.example | dkim=none | spf=pass smtp.mailfrom=example.org",
       "deliver listed envelope spf @main"},
      {"Two fields that contradict each other about SPF.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org | spf=fail smtp.mailfrom=example.org",
       "check not-authenticated envelope @main"},
      {"Two fields that contradict each other about a signature.", "x@other.example", "joe@example.org",
       "dkim=pass header.d=example.org | dkim=fail header.d=example.org", "check not-authenticated header-from @main"},
      {"Two fields that contradict each other about one method leave another.", "joe@example.org", "joe@example.org",
       "spf=pass smtp.mailfrom=example.org; dkim=pass header.d=example.org | spf=fail smtp.mailfrom=example.org",
       "deliver listed envelope dkim @main"},
      {"Two fields that say the same.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org | spf=pass smtp.mailfrom=example.org", "deliver listed envelope spf @main"},
  };
  World().expect(rows);
}

TEST_CASE("decide: a DMARC fail for the From domain vetoes, also for listed and authenticated senders") {
  const Row rows[] = {
      {"The From mailbox is listed.", "x@other.example", "joe@example.org", "dmarc=fail header.from=example.org",
       "check dmarc-fail header-from"},
      {"The envelope sender is listed and authenticated.", "bounce@esp.example", "joe@example.org",
       "spf=pass smtp.mailfrom=esp.example; dmarc=fail header.from=example.org", "check dmarc-fail header-from"},
      {"The From domain itself signed.", "x@other.example", "joe@example.org",
       "dkim=pass header.d=example.org; dmarc=fail header.from=example.org", "check dmarc-fail header-from"},
      {"Nobody is listed.", "x@other.example", "y@nobody.example", "dmarc=fail header.from=nobody.example",
       "check dmarc-fail header-from"},
      {"The envelope sender is null.", "", "joe@example.org", "dmarc=fail header.from=example.org",
       "check dmarc-fail header-from"},
      {"The fail names no domain.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org; dmarc=fail", "check dmarc-fail header-from"},
      {"A valid chain of ARC does not help.", "x@other.example", "joe@example.org",
       "arc=pass; dmarc=fail header.from=example.org", "check dmarc-fail header-from"},
      {"A fail for another domain is none.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org; dmarc=fail header.from=third.example", "deliver listed envelope spf @main"},
      {"A fail in somebody else's field is none.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org | =elsewhere.example; dmarc=fail header.from=other.example",
       "deliver listed envelope spf @main"},
      {"A fail that another field contradicts stays one.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org; dmarc=fail header.from=other.example | "
       "dmarc=pass header.from=other.example",
       "check dmarc-fail header-from"},
  };
  World().expect(rows);
  World({.identity = IdentityRule::both}).expect({rows, 5});
  World({.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off}).expect({rows, 5});
  World({.authentication = AuthenticationRule::preferred, .trust_arc = true}).expect({rows, 7});
}

TEST_CASE("decide: a DMARC fail vetoes beside any other result, in every order of the statements and of the fields") {
  constexpr std::string_view kFail = "dmarc=fail header.from=example.org";
  for (const std::string_view other :
       {"dkim=pass header.d=example.org", "dkim=fail header.d=example.org", "dkim=none header.d=example.org",
        "dkim=fail header.d=mail.example.org", "spf=pass smtp.mailfrom=esp.example",
        "spf=fail smtp.mailfrom=esp.example", "spf=softfail smtp.mailfrom=example.org", "arc=pass", "arc=fail",
        "dmarc=none header.from=example.org", "dmarc=fail header.from=example.org",
        "dmarc=temperror header.from=example.org", "dmarc=pass header.from=esp.example",
        "dkim=pass header.d=esp.example", "iprev=pass policy.iprev=192.0.2.1"}) {
    for (const std::string_view between : {"; ", " | "}) {
      for (const bool fail_first : {true, false}) {
        std::string results(fail_first ? kFail : other);
        results.append(between).append(fail_first ? other : kFail);
        const Row rows[] = {
            {"The sender is listed.", "bounce@esp.example", "joe@example.org", results, "check dmarc-fail header-from"},
            {"The sender is null.", "", "joe@example.org", results, "check dmarc-fail header-from"}};
        for (const auto rule : {AuthenticationRule::required, AuthenticationRule::preferred, AuthenticationRule::off}) {
          World({.authentication = rule}).expect(rows);
        }
      }
    }
  }
  const Row contradicted[] = {
      {"A pass does not undo the fail.", "bounce@esp.example", "joe@example.org",
       "spf=pass smtp.mailfrom=esp.example; dmarc=fail header.from=example.org | dmarc=pass header.from=example.org",
       "check dmarc-fail header-from"},
      {"The pass comes first.", "bounce@esp.example", "joe@example.org",
       "dmarc=pass header.from=example.org | spf=pass smtp.mailfrom=esp.example; dmarc=fail header.from=example.org",
       "check dmarc-fail header-from"},
      {"The pass is in the same field.", "bounce@esp.example", "joe@example.org",
       "spf=pass smtp.mailfrom=esp.example; dmarc=fail header.from=example.org; dmarc=pass header.from=example.org",
       "check dmarc-fail header-from"},
      {"Neither authenticates.", "x@other.example", "joe@example.org",
       "dmarc=fail header.from=example.org; dmarc=pass header.from=example.org", "check dmarc-fail header-from"},
  };
  World().expect(contradicted);
}

TEST_CASE("decide: with more trusted fields than the limit, no message is delivered unless authentication is off") {
  const auto many = [](std::size_t fields, std::size_t in_each) {
    std::string text = "spf=pass smtp.mailfrom=example.org; dkim=pass header.d=example.org";
    for (std::size_t field = 0; field < fields; ++field) {
      for (std::size_t at = 0; at < in_each; ++at) {
        text +=
            (at == 0 ? " | " : "; ") + ("spf=fail smtp.mailfrom=d" + std::to_string(field * in_each + at)) + ".example";
      }
    }
    return text;
  };
  // One field and two statements come first.
  const std::string most_fields = many(Authentication::kMaxTrustedFields - 1, 1);
  const std::string too_many_fields = many(Authentication::kMaxTrustedFields, 1);
  const std::string most_statements = many(2, (Authentication::kMaxStatements - 2) / 2);
  const std::string too_many_statements = many(3, (Authentication::kMaxStatements - 2) / 3 + 1);
  const Row rows[] = {
      {"As many fields as are looked at.", "joe@example.org", "joe@example.org", most_fields,
       "deliver listed envelope dkim @main"},
      {"As many statements as are looked at.", "joe@example.org", "joe@example.org", most_statements,
       "deliver listed envelope dkim @main"},
      {"One field more.", "joe@example.org", "joe@example.org", too_many_fields,
       "check distrusted-results header-from"},
      {"One statement more.", "joe@example.org", "joe@example.org", too_many_statements,
       "check distrusted-results header-from"},
  };
  World().expect(rows);
  World({.authentication = AuthenticationRule::preferred}).expect(rows);
  const Row no_veto[] = {
      {"One field more.", "joe@example.org", "joe@example.org", too_many_fields,
       "check not-authenticated envelope @main"},
      {"One statement more.", "joe@example.org", "joe@example.org", too_many_statements,
       "check not-authenticated envelope @main"},
  };
  World({.dmarc_fail_vetoes = false}).expect(no_veto);
}

TEST_CASE("decide: without the veto a DMARC fail counts only against the From mailbox") {
  const Row rows[] = {
      {"The envelope sender is listed and authenticated.", "bounce@esp.example", "joe@example.org",
       "spf=pass smtp.mailfrom=esp.example; dmarc=fail header.from=example.org", "deliver listed envelope spf @main"},
      {"The From mailbox is listed.", "x@other.example", "joe@example.org", "dmarc=fail header.from=example.org",
       "check not-authenticated header-from @main"},
      {"The From domain signed, and its policy does not think that enough.", "x@other.example", "joe@example.org",
       "dkim=pass header.d=mail.example.org; dmarc=fail header.from=example.org",
       "check not-authenticated header-from @main"},
      {"A chain of ARC counts only where it is trusted.", "x@other.example", "joe@example.org",
       "arc=pass; dmarc=fail header.from=example.org", "check not-authenticated header-from @main"},
  };
  World({.dmarc_fail_vetoes = false}).expect(rows);
}

TEST_CASE("decide: a trusted ARC chain authenticates only the From mailbox") {
  const Row rows[] = {
      {"The From mailbox is listed.", "x@other.example", "joe@example.org", "arc=pass",
       "deliver listed header-from arc @main"},
      {"Its own signature goes before the chain.", "x@other.example", "joe@example.org",
       "arc=pass; dkim=pass header.d=example.org", "deliver listed header-from dkim @main"},
      {"The envelope sender is listed.", "joe@example.org", "x@other.example", "arc=pass",
       "check not-authenticated envelope @main"},
      {"The chain is broken.", "x@other.example", "joe@example.org", "arc=fail",
       "check not-authenticated header-from @main"},
      {"There is no chain.", "x@other.example", "joe@example.org", "arc=none",
       "check not-authenticated header-from @main"},
      {"Fields contradict each other.", "x@other.example", "joe@example.org", "arc=pass | arc=fail",
       "check not-authenticated header-from @main"},
      {"The From field hides its mailbox.", "x@other.example", "!malformed", "arc=pass",
       "check malformed-from header-from"},
  };
  World({.trust_arc = true}).expect(rows);
  const Row failed_dmarc[] = {
      {"Without the veto it makes up for a failed DMARC.", "x@other.example", "joe@example.org",
       "arc=pass; dmarc=fail header.from=example.org", "deliver listed header-from arc @main"},
  };
  World({.dmarc_fail_vetoes = false, .trust_arc = true}).expect(failed_dmarc);
}

TEST_CASE("decide: with strict alignment only the same domain counts") {
  const Row rows[] = {
      {"A signature of the very domain.", "x@other.example", "joe@example.org", "dkim=pass header.d=example.org",
       "deliver listed header-from dkim @main"},
      {"A signature of a domain below.", "x@other.example", "joe@example.org", "dkim=pass header.d=mail.example.org",
       "check not-authenticated header-from @main"},
      {"A signature of the domain above.", "x@other.example", "any@a.tree.example", "dkim=pass header.d=tree.example",
       "check not-authenticated header-from @main by @.tree.example"},
      {"SPF of the very domain.", "joe@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "deliver listed envelope spf @main"},
      {"SPF of an envelope below the From mailbox's domain.", "b@bounce.example.org", "joe@example.org",
       "spf=pass smtp.mailfrom=bounce.example.org", "check not-authenticated header-from @main"},
      {"DMARC of a From domain beside the envelope sender's.", "bounce@esp.example", "news@www.esp.example",
       "dmarc=pass header.from=www.esp.example", "check not-authenticated envelope @main"},
      {"DMARC of the From domain, with the signature by which it passed.", "x@other.example", "joe@example.org",
       "dmarc=pass header.from=example.org; dkim=pass header.d=example.org", "deliver listed header-from dmarc @main"},
      {"DMARC of the From domain, with the envelope sender by which it passed.", "x@example.org", "joe@example.org",
       "dmarc=pass header.from=example.org; spf=pass smtp.mailfrom=example.org",
       "deliver listed header-from dmarc @main"},
      {"DMARC that does not say by whom it passed, which may be anybody below.", "x@other.example", "joe@example.org",
       "dmarc=pass header.from=example.org", "check not-authenticated header-from @main"},
  };
  World({.alignment = Alignment::strict}).expect(rows);
}

TEST_CASE("decide: with authentication preferred, a listed sender is delivered unless a result speaks against it") {
  const Row rows[] = {
      {"Nothing is known.", "joe@example.org", "x@other.example", "", "deliver listed envelope @main"},
      {"A pass is told.", "joe@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "deliver listed envelope spf @main"},
      {"SPF says neutral.", "joe@example.org", "x@other.example", "spf=neutral smtp.mailfrom=example.org",
       "deliver listed envelope @main"},
      {"SPF met an error.", "joe@example.org", "x@other.example", "spf=temperror smtp.mailfrom=example.org",
       "deliver listed envelope @main"},
      {"SPF failed.", "joe@example.org", "x@other.example", "spf=fail smtp.mailfrom=example.org",
       "check authentication-failed envelope @main"},
      {"SPF softly failed.", "joe@example.org", "x@other.example", "spf=softfail smtp.mailfrom=example.org",
       "check authentication-failed envelope @main"},
      {"SPF failed for another domain.", "joe@example.org", "x@other.example", "spf=fail smtp.mailfrom=third.example",
       "deliver listed envelope @main"},
      {"The domain's signature is broken.", "x@other.example", "joe@example.org", "dkim=fail header.d=example.org",
       "check authentication-failed header-from @main"},
      {"The signature of a domain below is broken.", "x@other.example", "joe@example.org",
       "dkim=fail header.d=mail.example.org", "check authentication-failed header-from @main"},
      {"A signature's keys are refused by policy.", "x@other.example", "joe@example.org",
       "dkim=policy header.d=example.org", "check authentication-failed header-from @main"},
      {"Another's signature is broken.", "x@other.example", "joe@example.org", "dkim=fail header.d=service.example",
       "deliver listed header-from @main"},
      {"SPF failed after forwarding, and the signature is good.", "joe@example.org", "joe@example.org",
       "spf=fail smtp.mailfrom=example.org; dkim=pass header.d=example.org", "deliver listed envelope dkim @main"},
      {"What fails for the envelope sender does not for the From mailbox.", "bounce@esp.example", "joe@example.org",
       "spf=fail smtp.mailfrom=esp.example", "deliver listed header-from @main"},
      {"A fail in somebody else's field is none.", "joe@example.org", "x@other.example",
       "=elsewhere.example; spf=fail smtp.mailfrom=example.org", "deliver listed envelope @main"},
      {"A field of ours that does not parse may have said fail.", "joe@example.org", "x@other.example",
       "spf=fail smtp.mailfrom=example.org (no end", "check authentication-failed envelope @main"},
      {"A fail counts although another field says pass.", "joe@example.org", "x@other.example",
       "spf=pass smtp.mailfrom=example.org | spf=fail smtp.mailfrom=example.org",
       "check authentication-failed envelope @main"},
      {"A fail counts in the other order, too.", "joe@example.org", "x@other.example",
       "spf=fail smtp.mailfrom=example.org | spf=pass smtp.mailfrom=example.org",
       "check authentication-failed envelope @main"},
      {"DMARC's fail vetoes.", "joe@example.org", "x@other.example", "dmarc=fail header.from=other.example",
       "check dmarc-fail header-from"},
      {"Nobody is listed.", "x@other.example", "y@other.example", "", "check not-listed envelope"},
  };
  World({.authentication = AuthenticationRule::preferred}).expect(rows);
}

TEST_CASE("decide: with authentication off, a claimed sender is believed") {
  const Row rows[] = {
      {"Nothing is known.", "joe@example.org", "x@other.example", "", "deliver listed envelope @main"},
      {"SPF failed.", "joe@example.org", "x@other.example", "spf=fail smtp.mailfrom=example.org",
       "deliver listed envelope @main"},
      {"A broken signature.", "x@other.example", "joe@example.org", "dkim=fail header.d=example.org",
       "deliver listed header-from @main"},
      {"A pass is told all the same.", "joe@example.org", "x@other.example", "spf=pass smtp.mailfrom=example.org",
       "deliver listed envelope spf @main"},
      {"DMARC's fail vetoes all the same.", "joe@example.org", "x@other.example",
       "dmarc=fail header.from=other.example", "check dmarc-fail header-from"},
      {"Nobody is listed.", "x@other.example", "y@other.example", "", "check not-listed envelope"},
  };
  World({.authentication = AuthenticationRule::off}).expect(rows);
}

TEST_CASE(
    "decide: if a sender could have written the trusted fields, no message is delivered unless authentication is off") {
  const std::string_view values[] = {"mx.example.net; dkim=pass header.d=example.org; arc=pass"};
  const std::string trusted[] = {"mx.example.net"};
  const HeaderFrom from = test::header_from("joe@example.org");
  Grounds grounds;
  grounds.begin("x); dkim=pass header.d=example.org (", "<joe@example.org>");
  for (const auto rule : {AuthenticationRule::required, AuthenticationRule::preferred}) {
    for (const bool veto : {true, false}) {
      const World world({.authentication = rule, .dmarc_fail_vetoes = veto, .trust_arc = true});
      const Facts facts = {"<joe@example.org>", from, Authentication::summarize(values, trusted, grounds, from)};
      CHECK(world.decide(facts).verdict == Verdict::check);
    }
  }
}

// Without the grounds of the message, which stop such a field before.
TEST_CASE("decide: an SPF pass for a subdomain does not authenticate the envelope sender") {
  const std::string trusted[] = {"mx.example.net"};
  const struct {
    std::string_view path, field;
  } rows[] = {
      {"<joe@example.org>", "mx.example.net; spf=pass smtp.mailfrom=mail.example.org"},
      {"<SRS0=HHHH=TT=example.org=joe@forwarder.example>",
       "mx.example.net; spf=pass smtp.mailfrom=mail.forwarder.example"},
  };
  const World world({.trusted_forwarders = {"forwarder.example"}});
  for (const auto& [path, field] : rows) {
    INFO(path);
    const Facts facts = {path, test::header_from("x@other.example"), Authentication::summarize({&field, 1}, trusted)};
    CHECK(test::summary(world.decide(facts)) == "check not-authenticated envelope @main");
  }
}

}  // namespace
}  // namespace bloomgate
