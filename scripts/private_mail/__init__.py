"""A private mail world on loopback, for scripts/quickstart and tests/e2e.

Each part is a context manager with a dataclass of settings. It is ready when entered, and gone when left:

    processes  start a program that dies with this one, wait for a condition, take a free port
    filter     a filter file built by the program `bloomgate`
    daemon     one bloomgate-milter
    sink       an SMTP server that keeps what it receives: a destination
    postfix    a Postfix of our own beside any other on the machine
    client     an SMTP client that sends bytes as they are, forgeries included
    sendmail   a Sendmail of our own; with Bloomgate: sendmail_gateway; set up by a recipe: sendmail_recipe
    checker    the common part of the deeper checks: clamav, rspamd, spamassassin
    opendkim, opendmarc, spf: milters that authenticate senders before Bloomgate; milter: what they share
    signing    keys, and what a sender signs with them
    network    a network of its own for programs that ask a name server; name_server: one that answers;
               faulty_name_server: one with every fault, that tells what it was asked
    recipe     a Postfix set up by one of the recipes, with its checkers: postfix_recipes
    gateway    all of them together, connected by the shipped files of config/mta/postfix

Postfix needs root. Start the parts from the main thread: the kernel ends a program when the thread that
started it ends.
"""
