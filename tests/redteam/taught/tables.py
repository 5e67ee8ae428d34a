"""Tables of addresses and address books that an operator names: only what is a column of addresses counts."""

from .case import FOR_ALL, PAIRS, Case

ANN = (*PAIRS, "--user", "ann@ours.example")
NOTES = """\
Notes:
"When exporting your connection data, you may notice that some of the email addresses are missing. You will only see those."

First Name,Last Name,URL,Email Address,Company
Joe,Doe,https://www.example.org/in/joe,joe@example.org,Evil
"""


def table(what, text, listed=(), options=FOR_ALL, **more):
    return Case(what, {"table.txt": text}, listed, options, **more)


def card(what, *lines, listed=(), version="3.0", options=FOR_ALL, **more):
    text = "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", "FN:evil@evil.example", *lines, "END:VCARD", ""])
    return Case(what, {"book.vcf": text}, listed, options, **more)


def no_source(what, text, **more):
    return Case(what, {"list.txt": text}, options=FOR_ALL, status=65, said="list.txt", **more)


TABLES = [
    Case("a table of pairs that an operator names", {"pairs.csv": "user,contact\nann@ours.example,joe@example.org\n"},
         ["joe > ann"]),
    Case("a table of pairs names a user who is not ours",
         {"pairs.csv": "user,contact\nevil@evil.example,joe@example.org\nann@ours.example,zoe@example.org\n"}, ["zoe > ann"]),
    *[table(f"the column '{name}' holds what a correspondent has chosen",
            f"Name,E-mail,{name}\nJoe,joe@example.org,evil@evil.example\n", ["joe"])
      for name in ("Weergavenaam e-mail", "Nom affich\u00e9 e-mail", "E-mailtype", "Email notes", "Reply email",
                   "Invited by email", "E-mail 1 - Label", "Mail subject")],
    *[table(f"the column '{name}' holds addresses", f"Name,{name}\nJoe,joe@example.org\n", ["joe"])
      for name in ("E-mailadres", "E-mail 1 - Value", "Prim\u00e4re E-Mail-Adresse", "Secondary Email", "E-mail 2 Address",
                   "Personal e-mail address")],
    table("semicolons between the fields", "Vorname;Nachname;E-Mail-Adresse\nJoe;Doe, Jr.;joe@example.org\n", ["joe"]),
    table("tabs between the fields", "Name\tE-mail\nDoe; Joe\tjoe@example.org\n", ["joe > ann"], ANN),
    table("a byte order mark before the names", "\ufeffName,E-mail Address\r\nJoe,joe@example.org\r\n", ["joe"]),
    table("LinkedIn's notes above the names", NOTES, ["joe"]),
    table("a correspondent's display name is an address",
          "E-mail Display Name,E-mail Address,E-mail Type\nevil@evil.example,joe@example.org,evil@evil.example\n", ["joe"]),
    table("a name and a note are addresses", "Name,Notes,Mailing Address,Email\nevil@evil.example,evil@evil.example,"
          "evil@evil.example,joe@example.org\n", ["joe"]),
    table("several addresses in one field, and a line end in another",
          'Name,E-mail 1 - Value\n"Doe,\nJoe",joe@example.org ::: zoe@example.org\n', ["joe", "zoe"]),
    table("a field with a display name that is an address", 'Name,E-mail\nx,"""evil@evil.example"" <joe@example.org>"\n'),
    table("a quote that does not end", 'Name,E-mail\nx,joe@example.org\ny,"zoe@example.org\n', ["joe"]),
    table("a table without a user", "Name,E-mail\nJoe,joe@example.org\n", options=PAIRS, status=64, said="--user"),
    table("columns of names only", "Name,Mailing address,E-mail Display Name\nJoe,evil@evil.example,evil@evil.example\n",
          status=65, said="table.txt"),
    no_source("a list with a first line that has a word of tables", "mail.example.org: our partners\nevil@evil.example\n"),
    no_source("a list of addresses", "joe@example.org\nevil@evil.example\n"),
    no_source("a list whose lines look like fields", "Partners: these\nevil@evil.example\n"),
    no_source("a text that speaks of mail", "Send your e-mail to us, we are\nevil@evil.example\n"),
    no_source("an address with the word behind a comma", "joe@example.org,mail\nevil@evil.example,email\n"),
    no_source("an empty list", "\n"),
]

CARDS = [
    card("an address book of version 3", "EMAIL;TYPE=INTERNET:joe@example.org", listed=["joe > ann"], options=ANN),
    card("an address book of version 4, with a scheme", 'item1.EMAIL;TYPE="home:x":mailto:joe@example.org', version="4.0",
         listed=["joe"]),
    card("a folded address", "EMAIL:jo", " e@example.org", listed=["joe"]),
    card("addresses in names, notes and pictures", "N:evil@evil.example;;;;", "NOTE:EMAIL:evil@evil.example",
         "X-EMAIL:evil@evil.example", "NICKNAME:\\nEMAIL:evil@evil.example", "EMAIL:joe@example.org", listed=["joe"]),
    card("a note whose next line looks like an address", "NOTE:see", " EMAIL:evil@evil.example", "EMAIL:joe@example.org",
         listed=["joe"]),
    card("an address book of version 2.1 with coded letters and soft line ends",
         "N;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=C3=BC=", "EMAIL:evil@evil.example", "EMAIL;INTERNET:joe@example.org",
         version="2.1", listed=["joe"]),
    card("an address of version 2.1 that is coded", "EMAIL;INTERNET;ENCODING=QUOTED-PRINTABLE:joe=40=", "example.org",
         version="2.1", listed=["joe"]),
]

CASES = TABLES + CARDS
