"""Reads JUnit reports (of ctest, of pytest) and prints what scripts/test adds up.

The first line is `PASSED FAILED SKIPPED`; then come lines `failed: NAME` and `skipped: REASON (N tests)`.
"""

import sys
import xml.etree.ElementTree as ET
from collections import Counter


def main(reports):
    passed, failed, skipped = 0, [], Counter()
    for report in reports:
        for case in ET.parse(report).iter("testcase"):
            name = case.get("name")
            reason = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif reason is not None or case.get("status") in ("notrun", "disabled"):
                skipped[reason.get("message") if reason is not None else f"{name} was not run"] += 1
            else:
                passed += 1
    print(passed, len(failed), skipped.total())
    for name in failed:
        print(f"failed: {name}")
    for reason, count in skipped.items():
        print(f"skipped: {reason} ({count} tests)")


if __name__ == "__main__":
    main(sys.argv[1:])
