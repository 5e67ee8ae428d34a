"""Sessions of a mail server that does not keep to the protocol, for a few seconds; with a sanitizer, for a minute. By hand,
with other seeds and for longer: tests/fuzz/milter_client.py."""

import sys

from conftest import skip_without_root
from private_mail.filter import REPOSITORY, built
from raw_connection import has_sanitizer

sys.path.insert(0, str(REPOSITORY / "tests/fuzz"))

import milter_client  # noqa: E402


def test_whatever_a_mail_server_sends_the_daemon_lives_and_delivers_only_what_it_should(tmp_path):
    skip_without_root()
    sessions, found = milter_client.run(seed=1, seconds=60 if has_sanitizer(built("milter/bloomgate-milter")) else 8,
                                        keep=tmp_path)
    assert found is None, found
    assert sessions >= 100
