#!/usr/bin/python3
"""Writes the completions of bash, zsh and fish for one program, from the list of its options.

usage: scripts/make_completions.py PROGRAM_FILE OUTPUT_FOLDER [EMULATOR...]

PROGRAM_FILE --list-options prints what the program itself goes by, one line each, its words between tabs:
`command`, name, purpose; `option`, long name, letter or nothing, the value's name or nothing, purpose; `word`, a word
that may stand beside the options, purpose; `after`, a word, the words that may follow it, between spaces. What is below
a command is that command's; what is before all commands is the program's own. Of a command that is a program of its own,
PROGRAM_FILE-COMMAND, nothing is below it, and that program is asked.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

# The names of values that are files or folders; `a|b:X|c` is a choice of words, of which those with a colon are not
# complete yet, and for all others nothing is known.
FILES = re.compile(r"FILE|INPUT|PATH")
FOLDERS = re.compile(r"FOLDER")
WORD = r"[a-z][a-z0-9-]*(:[A-Z]+)?"
WORDS = re.compile(rf"{WORD}(\|{WORD})+")


@dataclass
class Option:
    name: str
    letter: str
    value: str
    purpose: str

    def words(self):
        return re.sub("[A-Z]", "", self.value).split("|") if WORDS.fullmatch(self.value) else []

    def forms(self):
        return [f"--{self.name}", *([f"-{self.letter}"] if self.letter else [])]


@dataclass
class Command:
    name: str  # empty: the program without a command
    purpose: str
    options: list = field(default_factory=list)
    words: list = field(default_factory=list)  # (word, purpose)
    after: dict = field(default_factory=dict)  # of a word, the words that may follow it


def read(lines):
    commands = [Command("", "")]
    for line in lines:
        kind, *words = line.split("\t")
        if kind == "command":
            commands.append(Command(*words))
        elif kind == "option":
            commands[-1].options.append(Option(*words))
        elif kind == "word":
            commands[-1].words.append(tuple(words))
        elif kind == "after":
            commands[-1].after[words[0]] = words[1]
        else:
            raise ValueError(f"expected a command, an option, a word or what follows it, got {line!r}")
    return commands


def ask(program_file, emulator):
    listed = subprocess.run([*emulator, program_file, "--list-options"], check=True, capture_output=True, text=True)
    commands = read(listed.stdout.splitlines())
    for command in commands[1:]:
        beside = program_file.with_name(f"{program_file.name}-{command.name}")
        if not command.options and beside.exists():
            own = ask(beside, emulator)[0]
            command.options, command.words, command.after = own.options, own.words, own.after
    return commands


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(program, commands):
    function = "_" + re.sub(r"\W", "_", program)
    lines = [f"# Completion of {program} for bash.", f"{function}() {{",
             "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command='' words=''",
             "  # readline cuts --option=value at the equals sign.",
             "  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then"
             " previous=${COMP_WORDS[COMP_CWORD-2]}; fi",
             "  COMPREPLY=()"]
    names = [command.name for command in commands if command.name]
    if names:
        lines += ["  if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi"]
    lines += ["  case $command:$previous in"]
    for command in commands:
        for option in command.options:
            patterns = " | ".join(f"{command.name}:{form}" for form in option.forms())
            if option.words():
                lines.append(f"    {patterns}) words={quoted(' '.join(option.words()))} ;;")
            elif FILES.search(option.value):
                lines.append(f"    {patterns}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\");"
                             " return ;;")
            elif FOLDERS.search(option.value):
                lines.append(f"    {patterns}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\");"
                             " return ;;")
            elif option.value:
                lines.append(f"    {patterns}) return ;;")
        lines += [f"    {command.name}:{word}) words={quoted(following)} ;;" for word, following in command.after.items()]
        if command.name and command.words:
            lines.append(f"    {command.name}:{command.name}) words={quoted(' '.join(word for word, _ in command.words))} ;;")
    lines += ["  esac", "  if [[ -z $words || $current == -* ]]; then", "    case $command in"]
    for command in commands:
        own = [form for option in command.options for form in option.forms()] + [word for word, _ in command.words]
        if not command.name:
            own += names + (["--help", "--version"] if names else [])
        lines.append(f"      {command.name or quoted('')}) words={quoted(' '.join(own))} ;;")
    lines += ["    esac",
              "    # What is no option is a file.",
              "    if [[ -n $command && $current != -* ]]; then",
              "      compopt -o filenames",
              "      mapfile -t COMPREPLY < <(compgen -f -- \"$current\")",
              "      return",
              "    fi",
              "  fi",
              "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")",
              "}", f"complete -F {function} {program}"]
    return lines


def zsh_option(option):
    purpose = re.sub(r"([\[\]:\\])", r"\\\1", option.purpose)
    value = ""
    if option.words():
        value = f":{option.name}:({' '.join(option.words())})"
    elif FILES.search(option.value):
        value = f":{option.name}:_files"
    elif FOLDERS.search(option.value):
        value = f":{option.name}:_files -/"
    elif option.value:
        value = f":{option.name}:"
    return [quoted(f"*{form}{'=' if option.value and form.startswith('--') else ''}[{purpose}]{value}")
            for form in option.forms()]


def zsh(program, commands):
    lines = [f"#compdef {program}", f"# Completion of {program} for zsh."]
    after = [each for command in commands for each in command.after.items()]
    if after:
        lines += ["_following_words() {", "  case $words[CURRENT-1] in",
                  *(f"    {word}) compadd {following} ;;" for word, following in after), "  esac", "}"]
    named = [command for command in commands if command.name]
    if not named:
        words = " ".join(word for word, _ in commands[0].words)
        return [*lines, "_arguments -S \\",
                *(f"  {form} \\" for option in commands[0].options for form in zsh_option(option)),
                f"  '1:command:({words})' '*: :_following_words'"]
    lines += ["local -a commands", "commands=("]
    lines += [f"  {quoted(command.name + ':' + command.purpose.replace(':', chr(92) + ':'))}" for command in named]
    lines += [")", "if ((CURRENT == 2)); then", "  _describe command commands",
              "  compadd -- --help --version", "  return", "fi",
              "local command=$words[2]", "shift words", "((CURRENT--))", "case $command in"]
    for command in named:
        lines += [f"  {command.name})", "    _arguments -S \\",
                  *(f"      {form} \\" for option in command.options for form in zsh_option(option)),
                  *([f"      '1:action:({' '.join(word for word, _ in command.words)})' \\"] if command.words else []),
                  "      '*:file:_files' ;;"]
    return [*lines, "esac"]


def fish(program, commands):
    names = " ".join(command.name for command in commands if command.name)
    lines = [f"# Completion of {program} for fish."]
    if names:
        lines += [f"complete -c {program} -n __fish_use_subcommand -f",
                  f"complete -c {program} -n __fish_use_subcommand -l help -d 'show the help'",
                  f"complete -c {program} -n __fish_use_subcommand -l version -d 'show the version'"]
    else:
        lines += [f"complete -c {program} -f"]
    for command in commands:
        condition = f" -n '__fish_seen_subcommand_from {command.name}'" if command.name else ""
        if command.name:
            lines.append(f"complete -c {program} -n __fish_use_subcommand -a {command.name} -d {quoted(command.purpose)}")
        lines += [f"complete -c {program}{condition} -a {word} -d {quoted(purpose)}" for word, purpose in command.words]
        lines += [f"complete -c {program} -n '__fish_seen_subcommand_from {word}' -a {quoted(following)}"
                  for word, following in command.after.items()]
        for option in command.options:
            letter = f" -s {option.letter}" if option.letter else ""
            value = ""
            if option.words():
                value = f" -x -a {quoted(' '.join(option.words()))}"
            elif FILES.search(option.value):
                value = " -r -F"
            elif FOLDERS.search(option.value):
                value = " -x -a '(__fish_complete_directories)'"
            elif option.value:
                value = " -x"
            lines.append(f"complete -c {program}{condition} -l {option.name}{letter}{value} -d {quoted(option.purpose)}")
    return lines


def main():
    program_file, folder = Path(sys.argv[1]), Path(sys.argv[2])
    program = program_file.name
    # A program for another kind of processor runs in an emulator.
    commands = ask(program_file.resolve(), sys.argv[3:])
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in ((f"{program}.bash", bash(program, commands)), (f"_{program}", zsh(program, commands)),
                        (f"{program}.fish", fish(program, commands))):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
