"""Tables of addresses and address books that an operator names: only what is a column of addresses counts."""

from .case import FOR_ALL, PAIRS, Case, Utf16

ANN = (*PAIRS, "--user", "ann@ours.example")
NOTES = """\
Notes:
"When exporting your connection data, you may notice that some of the email addresses are missing. You will only see those."

First Name,Last Name,URL,Email Address,Company
Joe,Doe,https://www.example.org/in/joe,joe@example.org,Evil
"""

# Names of columns as programs write them: a name, an address, a display name, a note, another address.
HEADERS = (
    "First Name,E-mail Address,E-mail Type,E-mail Display Name,E-mail 2 Address",
    "Vorname;E-Mail-Adresse;E-Mail-Typ;E-Mail: Angezeigter Name;E-Mail 2: Adresse",
    "Pr\u00e9nom;Adresse de messagerie;Type de messagerie;Nom complet de l'adresse de messagerie;Adresse de messagerie 2",
    "Pr\u00e9nom,Adresse e-mail,Type d'e-mail,Nom d'affichage de l'adresse e-mail,Adresse e-mail 2",
    "Nombre,Direcci\u00f3n de correo electr\u00f3nico,Tipo de correo electr\u00f3nico,Nombre de pantalla de correo electr\u00f3nico,"
    "Direcci\u00f3n del correo electr\u00f3nico 2",
    "Nome,Indirizzo posta elettronica,Tipo posta elettronica,Nome visualizzato posta elettronica,Indirizzo posta elettronica 2",
    "Voornaam,E-mailadres,Type e-mail,Weergavenaam voor e-mail,E-mailadres 2",
    "Nome,Endere\u00e7o de correio eletr\u00f3nico,Tipo de correio eletr\u00f3nico,Nome a apresentar,Endere\u00e7o de email 2",
    "First Name,Primary Email,Nickname,Display Name,Secondary Email",
    "Vorname,Prim\u00e4re E-Mail-Adresse,Spitzname,Anzeigename,Sekund\u00e4re E-Mail-Adresse",
    "Pr\u00e9nom,Premi\u00e8re adresse \u00e9lectronique,Surnom,Nom \u00e0 afficher,Adresse \u00e9lectronique secondaire",
    "Nombre,Correo primario,Apodo,Nombre mostrado,Correo secundario",
    "Nome,Email primaria,Soprannome,Nome visualizzato,Email secondaria",
    "Voornaam,Primair e-mailadres,Bijnaam,Weergavenaam,Tweede e-mailadres",
    "Name,E-mail 1 - Value,E-mail 1 - Type,E-mail 1 - Label,E-mail 2 - Value",
    "First,Email,Nickname,Name,Alternate Email 1",
    "Vorname;E-Mail Privat;Name;Spitzname;E-Mail Gesch\u00e4ftlich",
    "DisplayName,PrimarySmtpAddress,Name,Alias,EmailAddress",
)
ROW = ("evil1@evil.example", "joe@example.org", "evil2@evil.example", "evil3@evil.example", "zoe@example.org")
CONTACTS = "Name,E-mail Address\r\nJ\u00f6 \U0001f600,joe@example.org\r\n"


def rows(names, encoding):
    separator = ";" if ";" in names else ","
    return f"{names}\n{separator.join(ROW)}\n".encode(encoding)


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
    *[table(f"the columns {names}, in {encoding}", rows(names, encoding), ["joe", "zoe"])
      for names in HEADERS for encoding in ("utf-8", "latin-1")],
    *[table(f"UTF-16, {order}, with '{separator}'", Utf16(CONTACTS.replace(",", separator), order), ["joe"])
      for order in ("le", "be") for separator in ",\t"],
    table("LinkedIn's notes above the names", NOTES, ["joe"]),
    *[table(f"the note '{note}' above the names", f"Notes:\n{note}\n{NOTES[NOTES.index('First'):]}".replace("First", "\nFirst"),
            ["joe"])
      for note in ("When exporting your connection data, you may notice that some of the email addresses are missing.",
                   "Email, address: only those who allow it", "email", "email, mail", "Email address", "It is 6\" of e-mail",
                   '"When exporting, email')],
    table("Excel's line for the separator", "sep=;\r\nName;E-mail\r\nJoe, E-mail;joe@example.org\r\n", ["joe"]),
    table("a correspondent's name looks like names of columns",
          "Name,E-mail\na\tMail\t,\nx\tevil@evil.example\tx,joe@example.org\n\"b\n\nMail\tb\tc\",zoe@example.org\n", ["joe", "zoe"]),
    table("a correspondent's name, in a table whose columns nobody knows", "Naam\tE-poste\nMail,a,b\t\nevil@evil.example,x,y\tjoe@example.org\n",
          status=65, said="table.txt"),
    table("a correspondent's name has the separator in it, without quotes",
          "Name;E-mail\nJoe;evil@evil.example;joe@example.org\nZoe;zoe@example.org;\n", ["zoe"]),
    table("an address book without an address", "Name,E-mail\nJoe,\n", status=65, said="no mail address"),
    table("the same, where that is allowed", "Name,E-mail\nJoe,\n", options=(*FOR_ALL, "--allow-empty"), said="no mail address"),
    table("a table of pairs without a pair", "user,contact\n", options=PAIRS),
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
    *[card(f"a soft line end: {what}", *lines, "EMAIL:evil@evil.example", "EMAIL:joe@example.org", listed=["joe"], version="2.1")
      for what, lines in {"blanks behind it": ("NOTE;ENCODING=QUOTED-PRINTABLE:a= \t",),
                          "folded": ("NOTE;", "  ENCODING=QUOTED-PRINTABLE:a=",),
                          "long": ("NOTE;QUOTED-PRINTABLE:" + "x" * 5000 + "=",),
                          "many": ("NOTE;QUOTED-PRINTABLE:" + "x" * 4000 + "=", "y" * 4000 + "="),
                          "behind long parameters": (f"NOTE;X={'x' * 5000};QUOTED-PRINTABLE:a=",)}.items()],
    card("the card of a contact's agent", "AGENT:", "BEGIN:VCARD", "EMAIL:evil@evil.example", "END:VCARD", "EMAIL:joe@example.org",
         listed=["joe"], version="2.1"),
    card("the same in one line", "AGENT:BEGIN:VCARD\\nEMAIL:evil@evil.example\\nEND:VCARD", "EMAIL:joe@example.org", listed=["joe"]),
    card("a card that does not end", "BEGIN:VCARD", "EMAIL:joe@example.org", listed=["joe"]),
    card("several addresses, in groups and with parameters", "item1.EMAIL;type=INTERNET:joe@example.org", "item1.X-ABLabel:e@evil.example",
         "EMAIL;TYPE=work:zoe@example.org", 'EMAIL;TYPE="a:b":mailto:max@example.org', listed=["joe", "zoe", "max"]),
    card("what is more than an address", "EMAIL:joe@example.org,evil@evil.example", "EMAIL:mailto:joe@example.org?cc=evil@evil.example",
         'EMAIL:"evil@evil.example" <joe@example.org>', "EMAIL:zoe@example.org", listed=["zoe"]),
    *[Case(f"cards in UTF-16, {order}", {"book.vcf": Utf16("BEGIN:VCARD\r\nFN:evil@evil.example\r\nEMAIL:joe@example.org\r\nEND:VCARD\r\n", order)},
           ["joe"], FOR_ALL) for order in ("le", "be")],
    card("cards without an address", "TEL:1", status=65, said="no mail address"),
    card("an address of version 2.1 that is coded", "EMAIL;INTERNET;ENCODING=QUOTED-PRINTABLE:joe=40=", "example.org",
         version="2.1", listed=["joe"]),
]

CASES = TABLES + CARDS
