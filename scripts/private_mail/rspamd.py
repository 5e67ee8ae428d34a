"""One rspamd on loopback, with Debian's configuration and the shipped files of config/mta/rspamd over it."""

import json
import shutil
import subprocess
import urllib.request

from .checker import Checker
from .processes import PATIENCE_SECONDS, accepts_connections, free_port
from .shipped import adapted

CONFIGURATION = "/etc/rspamd/rspamd.conf"
OWN_DOMAIN = "example.net"

# The files of the recipes: a milter at the door, and a milter after the queue.
FOR_BOTH = ("rspamd/local.d/milter_headers.conf", "rspamd/clamav/antivirus.conf")
AT_THE_DOOR = (*FOR_BOTH, "rspamd/local.d/settings.conf", "rspamd/local.d/worker-proxy.inc")
AFTER_THE_QUEUE = (*FOR_BOTH, "postfix-rspamd-after-queue/local.d/worker-proxy.inc",
                   "postfix-rspamd-after-queue/local.d/external_relay.conf",
                   "postfix-rspamd-after-queue/options.inc", "postfix-rspamd-after-queue/regexp.conf")

# Network queries find nobody: the name server is a port where nothing listens. The long list of public
# suffixes alone takes ten seconds to compile.
OVERRIDES = {
    "options.inc": """\
dns {{ nameserver = ["127.0.0.1:{dead_port}"]; timeout = 0.05s; retransmits = 1; }}
url_tld = "{folder}/suffixes";
disable_hyperscan = {no_hyperscan};
""",
    "logging.inc": 'type = "console"; level = "info"; color = false;\n',
    "worker-normal.inc": 'enabled = false; bind_socket = "127.0.0.1:{normal_port}"; count = 1;\n',
    "worker-controller.inc": 'bind_socket = "127.0.0.1:{controller_port}"; count = 1;\n',
    "fuzzy_check.conf": "enabled = false;\n",
    "dkim_signing.conf": 'domain {{ "{own_domain}" {{ path = "{folder}/dkim.key"; selector = "test"; }} }}\n',
}


class Rspamd(Checker):
    """clamd: the virus check that it asks. It signs mail of OWN_DOMAIN, with a new key."""

    name = "rspamd"

    def __init__(self, folder, clamd, shipped=AT_THE_DOOR, whole=False):
        """clamd: None where no shipped file asks for one. shipped: its files of config/mta. whole: with all
        that makes it fast, and slow to start, as for a measurement."""
        super().__init__(folder)
        self.clamd = clamd
        self.shipped = shipped
        self.whole = whole
        self.port = free_port()
        self.mta_socket = f"inet:127.0.0.1:{self.port}"
        self.address = ("127.0.0.1", self.port)
        self.controller = ("127.0.0.1", free_port())
        self.normal = ("127.0.0.1", free_port())  # of PlainRspamd only

    def prepare(self):
        for name in ("local.d", "override.d", "data"):
            (self.folder / name).mkdir()
        changes = {"worker-proxy.inc": {"127.0.0.1:11332": f"127.0.0.1:{self.port}"},
                   "antivirus.conf": {"/run/clamav/clamd.ctl": str(self.clamd and self.clamd.address)}}
        for path in self.shipped:
            name = path.rpartition("/")[2]
            (self.folder / "local.d" / name).write_text(adapted(path, changes.get(name, {})))
        values = dict(folder=self.folder, dead_port=free_port(), normal_port=self.normal[1],
                      controller_port=self.controller[1], own_domain=OWN_DOMAIN,
                      no_hyperscan="false" if self.whole else "true")
        for name, text in OVERRIDES.items():
            (self.folder / "override.d" / name).write_text(text.format(**values))
        self._write_suffixes()
        self._make_key()

    def _write_suffixes(self):
        suffixes = self.folder / "suffixes"
        if self.whole:
            shutil.copy("/usr/share/publicsuffix/effective_tld_names.dat", suffixes)
        else:
            suffixes.write_text("com\nexample\nnet\norg\n")

    def _make_key(self):
        subprocess.run(["openssl", "genrsa", "-out", str(self.folder / "dkim.key"), "1024"], check=True,
                       capture_output=True)

    def command(self):
        data = self.folder / "data"
        folders = {"LOCAL_CONFDIR": self.folder, "DBDIR": data, "RUNDIR": data, "LOGDIR": data}
        return ["/usr/bin/rspamd", "--no-fork", "--config", CONFIGURATION,
                *(f"--var={name}={folder}" for name, folder in folders.items())]

    def ready(self):
        return accepts_connections(self.address) and accepts_connections(self.controller)

    def history(self):
        """The last messages that it saw, as on its web page: a list of objects."""
        with urllib.request.urlopen("http://{}:{}/history".format(*self.controller), timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)


class PlainRspamd(Rspamd):
    """As Debian installs it, and asked by HTTP: its normal worker listens on `address`. It knows the test
    patterns for each of its actions, puts off what asks for it in a field X-Put-Off, and tells how many bytes
    of a message it was given: MESSAGE_BYTES(0.00)[1234]."""

    LUA = """\
rspamd_config.PUT_OFF = { callback = function(task)
  local wish = task:get_header('X-Put-Off')
  if wish then task:set_pre_result('soft reject', wish, 'test') end
end }
rspamd_config.MESSAGE_BYTES = { score = 0.0, callback = function(task)
  return true, 1.0, tostring(task:get_size())
end }
"""

    def __init__(self, folder, whole=False):
        super().__init__(folder, None, (), whole)
        self.address = self.normal

    def prepare(self):
        super().prepare()
        changes = {"worker-normal.inc": f'bind_socket = "127.0.0.1:{self.normal[1]}"; count = 1;\n',
                   "worker-proxy.inc": "enabled = false;\n"}
        if not self.whole:
            # To hfilter, a client that no name server knows is suspect.
            changes |= {name: "enabled = false;\n" for name in ("hfilter.conf", "rbl.conf")}
        for name, text in changes.items():
            (self.folder / "override.d" / name).write_text(text)
        options = self.folder / "override.d/options.inc"
        options.write_text(options.read_text() + "enable_test_patterns = true;\n")
        (self.folder / "rspamd.local.lua").write_text(self.LUA)
