"""What a recipe of config/mta means for a given configuration of Postfix.

The pieces are put into a copy of main.cf and master.cf, and postconf reads the copy, before and after: so what is
found, and what comes of it, is what Postfix itself would find.
"""

import os
import re
import tempfile
from pathlib import Path

from . import machine, postfix_text
from .changes import Configuration, Refused, folder_of
from .daemon_socket import DaemonSocket
from .edits import Block, Chroot, Command, Item, Marks, NewFile, Service, ServiceMilters, Setting, marked
from .milters import AUTHENTICATORS, SPAM_CHECKERS, Chain, program_of, same_kind, to_start
from .other_programs import OtherPrograms, asks_itself, unchecked
from .postfix_reading import INCOMING, Reading, address_of, asks_no_milters, run
from .postfix_recipe import FOLDERS, RECIPES_FOLDER, SHARED_TABLES, TABLES, Recipe, fill_in, is_logging

# By default these two are the same as header_checks; our tables are not meant for them.
PARTS_OF_MESSAGES = ("mime_header_checks", "nested_header_checks")
LAST = 10**6  # a position behind all items of a list
TABLE_COMMENT = "# Put here by setup-postfix, and taken out again with --undo: config/mta/postfix/{}.\n"


class PostfixSetup:
    """configuration: what there is. wanted: what there is to be, consisting of pieces (of edits). obstacles: why it
    must not be applied. notes: what a person ought to know. checks: where the checks listen that mail is to go through.
    unchecked: that nothing checks mail, if so. left_to_do: what this script does not do."""

    def __init__(self, options):
        fill_in(options)
        self.options = options
        self.folder = folder_of(options)
        self.main_cf, self.master_cf = (str(self.folder / name) for name in ("main.cf", "master.cf"))
        for name in (self.main_cf, self.master_cf):
            if not Path(name).is_file():
                raise Refused(f"there is no {name}: is Postfix installed? If so, say where its configuration is (--config-dir)")
        self.others = OtherPrograms(options)
        tables = sorted(self.folder / path.name for path in SHARED_TABLES.glob("*_header_checks"))
        self.configuration = Configuration(self.folder, [self.main_cf, self.master_cf, *tables, *self.others.paths])
        self.wanted = dict(self.configuration.original)
        self.pieces, self.obstacles, self.notes, self.checks = [], [], [], []
        self.unchecked = ""
        self.left_to_do = [] if options.undo or options.list else ["bloomgate-milter doctor"]
        if not options.undo and not options.list:
            self.socket = DaemonSocket(options, self.others.daemon_conf, self.wanted[self.others.daemon_conf])
            self._plan()

    def check(self):
        """Postfix's own check of its configuration."""
        run(["postconf", "-c", self.folder, "-n"])
        run(["postconf", "-c", self.folder, "-M"])
        run(["postfix", "-c", self.folder, "check"])

    def _plan(self):
        with tempfile.TemporaryDirectory() as scratch:
            self.scratch = Path(scratch)
            self.reading = Reading(self.scratch, self.folder)
            self.texts = {name: postfix_text.ended(self.wanted[name].decode("utf-8", "surrogateescape"))
                          for name in (self.main_cf, self.master_cf)}
            self.appended = {self.main_cf: "", self.master_cf: ""}
            self._write_scratch()
            self.socket.move_below(Path(self.reading.value("queue_directory", "-x")))
            self.recipe = Recipe(self.folder, self.reading.value("myhostname", "-x"), self.socket.name, self.options)
            for step in (self._plan_socket, self._plan_tables, self._plan_milters, self._plan_settings, self._plan_services,
                         self._plan_incoming_services, self._plan_groups, self._look_at_the_checks):
                self.attempt(step)
            self._append()
            self.attempt(self._compare)
        self.attempt(self.others.plan, self)
        self.pieces.append(Command(("postfix", "-c", str(self.folder), "reload")))

    def attempt(self, step, *arguments):
        """So that all that stands in the way is known at once."""
        try:
            step(*arguments)
        except Refused as reason:
            self.obstacles.append(reason)

    def _plan_socket(self):
        for piece in self.socket.pieces:
            if piece.kind == "block":
                self.others.put_block(self, piece)
            else:
                self.pieces.append(piece)

    # --- main.cf

    def _plan_tables(self):
        for name, text in self.recipe.tables.items():
            path = str(self.folder / name)
            present = self.wanted[path]
            if present is not None:
                there = present.decode("utf-8", "surrogateescape")
                if not set(rules(text)) <= set(rules(there)):
                    # Ours first: the first rule that fits a field counts.
                    block = Block(path, text, f"the lines of config/mta/postfix/{name}, first")
                    self.pieces.append(block)
                    self.wanted[path] = (block.marked() + there).encode("utf-8", "surrogateescape")
                continue
            self.put(NewFile(path, TABLE_COMMENT.format(name) + text, f"the lines of config/mta/postfix/{name}"))

    def _plan_milters(self):
        chain = self.reading.items("smtpd_milters")
        for milter in chain:
            if "$" in milter:
                raise Refused(f"smtpd_milters refers to another parameter ({milter}): write the milters themselves "
                              "there, then try again")
        place = f"smtpd_milters of {self.main_cf}"
        position = Chain(tuple(chain), place).position(self.options.after_milter)
        self._look_at_other_checks(chain, position, place)
        self._put_items("smtpd_milters", [self.recipe.bloomgate], position)
        self._put_items("smtpd_milters", self._missing(chain), len(chain) + 1)

    def _missing(self, chain):
        return [milter for milter in self.recipe.behind if not any(same_kind(milter, present) for present in chain)]

    def _look_at_other_checks(self, chain, position, place):
        spam_checkers = [milter for milter in chain if SPAM_CHECKERS.search(milter)]
        if not spam_checkers or any(SPAM_CHECKERS.search(milter) for milter in self.recipe.behind):
            return
        if self.options.recipe != "none":
            raise Refused(f"{place} has a spam check ({spam_checkers[0]}): with the recipe {self.options.recipe} "
                          "Postfix would still ask it about every message. Recipes: " + ", ".join(FOLDERS))
        for milter in spam_checkers:
            program = program_of(milter)
            spares = {"rspamd": "rspamd", "SpamAssassin": "spamassassin"}.get(program)
            self.notes.append(f"{program} stays in {place} as it is, and checks all mail as before. Bloomgate is asked "
                              + ("before it" if position <= chain.index(milter) else "after it")
                              + (f". With --recipe {spares} it spares listed mail" if spares else ""))

    def _plan_settings(self):
        own_tables = self.reading.value("header_checks")
        for name, value in self.recipe.settings.items():
            if name in TABLES:
                self.attempt(self._put_tables, name, value)
            elif name in PARTS_OF_MESSAGES:
                self.attempt(self._put_tables_of_parts, name, value, own_tables)
            elif name == "non_smtpd_milters":
                present = self.reading.items(name)
                if not any(same_kind(value, milter) or "$" in milter for milter in present):
                    self._put_items(name, [value], len(present))
            elif name != "content_filter" or not self.options.keep_content_filter:
                self.attempt(self._put_new_setting, name, value)

    def _put_tables(self, name, value):
        present = self.reading.items(name)
        if any("$" in table for table in present):
            raise Refused(f"{name} refers to another parameter ({' '.join(present)}): write the tables themselves "
                          "there, then try again")
        missing = [table for table in postfix_text.ITEM.findall(value) if table not in present]
        # Those that remove fields first: they look for nothing but their own fields.
        self._put_items(name, [table for table in missing if not is_logging(table)], 0)
        self._put_items(name, [table for table in missing if is_logging(table)], LAST)

    def _put_tables_of_parts(self, name, value, own_tables):
        if self.reading.is_set(name):
            self._put_tables(name, value)
        elif value:
            self._put_items(name, postfix_text.ITEM.findall(own_tables) + postfix_text.ITEM.findall(value), LAST)
        else:
            self._put_setting(name, own_tables)

    def _put_new_setting(self, name, value):
        present = self.reading.value(name)
        if self.reading.is_set(name) and present not in ("", value):
            advice = ("If that is the spam check, keep it with --keep-content-filter."
                      if name == "content_filter" else "Take it out first, or set Bloomgate up by hand.")
            raise Refused(f"{name} of {self.main_cf} is already set to something else: {present}\n"
                          f"The recipe needs {value}. {advice}")
        if present != value:
            self._put_setting(name, value)

    def _put_items(self, name, items, position):
        made = not self.reading.is_set(name)
        for item in reversed(items) if not made else items:
            identity = address_of(item)
            self.pieces.append(Item(self.main_cf, name, item, identity, made))
            if not made:
                self.texts[self.main_cf] = postfix_text.with_item(self.texts[self.main_cf], name, item, position)
            elif postfix_text.parameter(self.appended[self.main_cf], name):
                self.appended[self.main_cf] = postfix_text.with_item(self.appended[self.main_cf], name, item, LAST)
            else:
                self.appended[self.main_cf] += f"{name} =\n    {item}\n"

    def _put_setting(self, name, value):
        marks = ("deep-check:",) if name == "content_filter" else ()
        text = self.texts[self.main_cf]
        if postfix_text.value_of(text, name) == "":
            text = postfix_text.with_item(text, name, value, 0)
            self.texts[self.main_cf] = text
            self.pieces.append(Item(self.main_cf, name, value, value))
            return
        self.pieces.append(Setting(self.main_cf, name, value, marks))
        self.appended[self.main_cf] += f"{name} = {value}".rstrip() + "\n"

    # --- master.cf

    def _plan_services(self):
        for key, lines in self.recipe.services.items():
            self.attempt(self._plan_service, key, lines)

    def _plan_service(self, key, lines):
        present = postfix_text.service(self.texts[self.master_cf], key)
        if present is None:
            self.pieces.append(Service(self.master_cf, key, lines))
            self.appended[self.master_cf] += lines
        elif key.endswith("/inet") and self._hands_mail_back(key):
            self.notes.append(f"{key} is in master.cf already and asks neither filters nor milters: it stays as it is")
        elif present.text.split() != lines.split():
            raise Refused(f"the service {key} in {self.master_cf} is not the recipe's:\n  "
                          f"{' '.join(present.text.split())}\n"
                          "Give one of the two another name or port (--reinjection), then try again")

    def _plan_incoming_services(self):
        for key in self.reading.smtpd_services():
            if not self._hands_mail_back(key):
                self.attempt(self._plan_incoming, key)
        if any(piece.kind == "chroot" for piece in self.pieces):
            self.notes.append(f"a service that you enable in {self.master_cf} later, submission for instance, may be in a "
                              "chroot, too: then its mail has no mark, and nothing is learned of it. Run this script "
                              "again after each such change; bloomgate-milter doctor finds such a service")

    def _plan_incoming(self, key):
        own = self.reading.overrides(key)
        self._look_at_own_filter(key, own)
        if "smtpd_milters" in own:
            if not INCOMING.search(key):
                self.notes.append(f"{key} has milters of its own, and keeps them: Bloomgate is not asked about mail "
                                  "that comes in there. That is right for users who log in")
                return
            self._plan_own_milters(key)
        asked = [self.socket.name, *map(address_of, self.recipe.behind)]
        unseen = next((address for address in asked if address.startswith("unix:/")), None)
        if unseen is not None and self.reading.is_chrooted(key):
            self._leave_chroot(key, unseen.removeprefix("unix:"))

    def _look_at_own_filter(self, key, own):
        if own.get("content_filter") and "content_filter" in self.recipe.settings:
            if not INCOMING.search(key):
                self.notes.append(f"{key} has a content_filter of its own, and keeps it")
            elif not self.options.keep_content_filter:
                raise Refused(f"the service {key} in {self.master_cf} has a content_filter of its own "
                              f"({own['content_filter']}). If that is the spam check, keep it with "
                              "--keep-content-filter")

    def _plan_own_milters(self, key):
        argument = postfix_text.option(self.texts[self.master_cf], key, "smtpd_milters")
        chain = postfix_text.own_milters(argument.text)
        if not chain or any("$" in milter for milter in chain):
            raise Refused(f"the service {key} in {self.master_cf} sets {argument.text}, so Bloomgate would not be "
                          "asked about incoming mail: take that out, or write the milters themselves there")
        place = f"{key} of {self.master_cf}"
        position = Chain(tuple(chain), place).position(self.options.after_milter)
        self._look_at_other_checks(chain, position, place)
        missing = self._missing(chain)
        chain.insert(position, self.recipe.bloomgate)
        after = postfix_text.milters_option(chain + missing)
        text = self.texts[self.master_cf]
        self.pieces.append(ServiceMilters(self.master_cf, key, argument.text, after,
                                          tuple(map(address_of, [self.recipe.bloomgate, *missing]))))
        self.texts[self.master_cf] = text[:argument.start] + after + text[argument.end:]

    def _leave_chroot(self, key, unseen):
        inside = Path(self.reading.value("queue_directory", "-x"))
        for path in re.findall(r"unix:(/[^\s,;{}]+)", self.reading.run("-n") + self.reading.run("-P", f"{key}/*")):
            if not os.path.exists(path) and (inside / path.lstrip("/")).exists():
                raise Refused(f"{key} has to leave its chroot, and then no longer finds the socket unix:{path}. Write "
                              f"unix:{path.lstrip('/')}, which it finds in the chroot and outside of it")
        before = self.reading.run("-F", f"{key}/chroot").rpartition("= ")[2].strip()
        self.pieces.append(Chroot(self.master_cf, key, before,
                                  f"in it smtpd does not see {unseen}"))
        self.texts[self.master_cf] = postfix_text.with_field(self.texts[self.master_cf], key, 4, "n")

    def _hands_mail_back(self, key):
        """Mail that comes in there has been checked: the service asks neither a content filter nor a milter."""
        own = self.reading.overrides(key)
        no_milters = own.get("smtpd_milters") == "" or asks_no_milters(own)
        return own.get("content_filter") == "" and no_milters

    # --- the machine

    def _plan_groups(self):
        user = self.reading.value("mail_owner")
        for milter in (self.recipe.bloomgate, *self.recipe.behind):
            address = self.socket.place if milter == self.recipe.bloomgate else self._place_of(milter)
            if not address.startswith("unix:/"):
                continue
            path = address.removeprefix("unix:")
            group = machine.group_to_join(user, path, machine.DAEMON_GROUP if milter == self.recipe.bloomgate else None)
            self.pieces += self.earlier_groups(user, path) or ([group] if group else [])

    def _place_of(self, milter):
        """Postfix's current folder is its queue."""
        address = address_of(milter)
        if not address.startswith("unix:") or address.startswith("unix:/"):
            return address
        return f"unix:{Path(self.reading.value('queue_directory', '-x')) / address.removeprefix('unix:')}"

    def earlier_groups(self, user, path):
        """What an earlier --apply did, which is not needed again, and is still to be undone."""
        return [piece for piece in self.configuration.applied
                if piece.kind == "group" and piece.user == user and piece.why.endswith(f" {path}")]

    def _look_at_the_checks(self):
        is_made_by_apply = self.socket.pieces and not self.options.apply
        if not is_made_by_apply and not any(map(machine.listens, (self.socket.place, self.socket.before))):
            self.notes.append(f"nothing listens on {self.socket.place}: until bloomgate-milter does, mail passes "
                              "without a mark")
        if self._nothing_checks():
            self.unchecked = unchecked("no content_filter, no milter after Bloomgate",
                                       "rspamd, spamassassin, deep-check or content-filter")
            self.notes.append(self.unchecked)
        elif self.options.recipe == "none" and not asks_itself(self.options):
            self.notes.append("your spam checker still checks all mail. Recipes with which listed mail skips it: "
                              + ", ".join(name for name in FOLDERS if name != "none"))
        for milter in self.recipe.behind:
            address = self._place_of(milter)
            self.checks.append(address)
            if not machine.listens(address):
                self.attempt(self.missing_check, f"nothing listens on {address}", milter)
        if self.options.recipe == "content-filter" and not self.options.keep_content_filter:
            if not machine.listens(self.options.deep_check) and not self.options.parts_come_later:
                raise Refused(f"nothing listens on {self.options.deep_check}, where mail would go for the deep check, "
                              "so it would wait in the queue. Start the spam checker first, or say where it is: "
                              "--deep-check; or say --parts-come-later")

    def _nothing_checks(self):
        if asks_itself(self.options) or self.reading.value("content_filter") or self.recipe.settings.get("content_filter"):
            return False
        chain = self.reading.items("smtpd_milters")
        return all(AUTHENTICATORS.search(milter) for milter in chain) and not self.recipe.behind

    def missing_check(self, what, milter):
        remedy = to_start(milter, RECIPES_FOLDER / FOLDERS[self.options.recipe])
        if self.options.when_down == "tempfail" and not self.options.parts_come_later:
            raise Refused(f"{what}, so the senders of all mail would be asked to try again later (--when-down "
                          f"tempfail). {remedy}. Or say --parts-come-later")
        self.notes.append(f"{what}: until something does, mail passes without this check. {remedy}")

    # --- all of it

    def put(self, piece):
        """A new file."""
        self.pieces.append(piece)
        self.wanted[piece.file] = piece.text.encode("utf-8", "surrogateescape")

    def _append(self):
        for name, lines in self.appended.items():
            text = self.texts[name]
            if lines:
                self.pieces.append(Marks(name))
                text = postfix_text.ended(text) + marked(lines)
            elif text == postfix_text.ended(self.wanted[name].decode("utf-8", "surrogateescape")):
                continue
            self.texts[name] = text
            self.wanted[name] = text.encode("utf-8", "surrogateescape")

    def _compare(self):
        """postconf must find what was meant: it knows rules of these files that this script may not."""
        self._write_scratch()
        pieces = [piece for piece in self.pieces if piece.kind in ("item", "setting")]
        for piece in pieces:
            found = " ".join(self.reading.value(piece.parameter).split())
            wanted = piece.item if piece.kind == "item" else piece.value
            if " ".join(wanted.split()) not in found:
                raise Refused(f"this script cannot change {piece.parameter} of {self.main_cf}: Postfix would read "
                              f"'{found}'. Write the parameter plainly, or set Bloomgate up by hand")

    def _write_scratch(self):
        for name, text in self.texts.items():
            path = self.scratch / Path(name).name
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
            os.utime(path, (0, 0))  # Postfix's programs wait until a file is some seconds old
        self.reading.has_changed()


def rules(table):
    return [line for line in table.splitlines() if line.strip() and not line.startswith("#")]
