"""A log of syslog's for programs that a test starts, without a syslog daemon: own to each test."""

import re
import socket
import threading


class SystemLog:
    """The socket that programs log to. What comes is put into a file, as syslog's daemons do."""

    def __init__(self, folder):
        self.file = folder / "mail.log"
        self.file.touch()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(folder / "log.socket"))
        (folder / "log.socket").chmod(0o666)
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self):
        with open(self.file, "a") as file:
            while True:
                # <22>Nov 20 10:00:00 sm-mta[1]: text
                date, text = re.fullmatch(r"<\d+>(.{15}) (.*)", self._socket.recv(65536).decode().rstrip("\0\n")).groups()
                file.write(f"{date} mx {text}\n")
                file.flush()


# A folder of devices with our own log among them, in the place of /dev.
OWN_LOG = """\
set -e
folder=$1
shift
mkdir "$folder/dev"
for device in null zero random urandom; do
  touch "$folder/dev/$device"
  mount --bind "/dev/$device" "$folder/dev/$device"
done
ln -s "$folder/log.socket" "$folder/dev/log"
mount --rbind "$folder/dev" /dev
exec "$@"
"""
