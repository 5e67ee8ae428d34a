"""Messages decided by `bloomgate-milter explain`, two at a time."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

from private_mail.filter import built


def explained(raw, envelope, whitelist, names, **settings):
    """What the program says of the message. settings: those of the daemon, with `_` for `-`."""
    options = [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", value)]
    done = subprocess.run([built("milter/bloomgate-milter"), "--config", "/dev/null", "--whitelist", whitelist,
                           "--explain", "--json", "--from", f"<{envelope}>", "--dns-servers", names.option, *options],
                          input=raw, capture_output=True)
    assert done.returncode == 0 and done.stdout, done.stderr.decode()
    return json.loads(done.stdout)


def is_delivered(said):
    assert said["decision"] in ("deliver", "check"), said
    return said["decision"] == "deliver"


def all_explained(messages, whitelist, names, **settings):
    """The same of many: (raw, envelope) each."""
    with ThreadPoolExecutor(2) as workers:
        return list(workers.map(lambda message: explained(*message, whitelist, names, **settings), messages))
