"""A name server with records of our own, inside a private network. Other names do not exist for it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NameServerConfig:
    texts: dict  # name -> the text of its TXT record, of any length


class NameServer:
    """dnsmasq, which needs no zone files."""

    def __init__(self, folder, network, config):
        self.folder = folder
        self.network = network
        self.config = config

    def __enter__(self):
        self.folder.mkdir()
        configuration = self.folder / "dnsmasq.conf"
        configuration.write_text(self._text())
        log = self.folder / "log"
        self.program = self.network.start(["dnsmasq", "--conf-file=" + str(configuration)], log)
        self.program.wait_until_ready(lambda: "started" in self.program.log(), "dnsmasq")
        return self

    def __exit__(self, *_):
        self.program.kill()

    def _text(self):
        lines = ["keep-in-foreground", "log-facility=-", "user=root", "no-resolv", "no-hosts", "pid-file=",
                 "local=/#/"]
        for name, text in self.config.texts.items():
            strings = ",".join(f'"{text[start:start + 255]}"' for start in range(0, len(text), 255))
            lines.append(f"txt-record={name},{strings}")
        return "\n".join(lines) + "\n"
