"""Reads JUnit reports (of ctest, of pytest) and prints what scripts/test adds up.

The first line is `PASSED FAILED SKIPPED`; then come lines `failed: NAME`, `unsteady: NAME` and
`skipped: REASON (N tests)`. A report NAME.again.xml has the tests of NAME.xml that failed and were run once more: one
that passes there is unsteady, and counts as passed.
With --failures: the end of what each failed test printed.
"""

import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter

LINES_SHOWN = 40
AGAIN = ".again.xml"


def cases(reports):
    for report in reports:
        yield from ET.parse(report).iter("testcase")


def name_of(case):
    """pytest-xdist puts "@" and the group behind the name of a test; run alone, it has none."""
    return case.get("classname"), re.sub(r"@[^@\]]*$", "", case.get("name"))


def problem_of(case):
    """The element that says that the test failed, or None."""
    failure = case.find("failure")
    return failure if failure is not None else case.find("error")


def passed_again(reports):
    """Of those that were run once more, the tests that passed. A test may have several cases: itself, and its clean-up."""
    again = list(cases(report for report in reports if report.endswith(AGAIN)))
    failed = {name_of(case) for case in again if problem_of(case) is not None}
    return {name_of(case) for case in again if not skip_reason(case)} - failed


def skip_reason(case):
    """Empty for a test that was run. ctest gives no reason: there it is the last line printed."""
    skipped = case.find("skipped")
    if skipped is None and case.get("status") not in ("notrun", "disabled"):
        return ""
    message = skipped.get("message", "") if skipped is not None else ""
    printed = case.findtext("system-out", "").strip().splitlines()
    if message.startswith("SKIP_") and printed:
        return printed[-1].removeprefix("skipped: ")
    return message or "not run"


def skipped_parts(case):
    """Why parts of a test that ctest takes for one were left out: the lines `skipped: REASON` that it printed."""
    return re.findall(r"(?m)^\s*skipped: (.+)$", case.findtext("system-out", ""))


def cases_of(case):
    """How many passed: a program of Catch says how many cases of a file it has run, others are one."""
    said = re.search(r"(?m)^All tests passed \(.* in (\d+) test cases?\)", case.findtext("system-out", ""))
    return int(said[1]) if said else 1


def count(reports):
    passed, failed, unsteady, skipped = 0, [], [], Counter()
    again = passed_again(reports)
    for case in cases(report for report in reports if not report.endswith(AGAIN)):
        if problem_of(case) is not None and name_of(case) in again:
            passed += 1
            unsteady.append(case.get("name"))
        elif problem_of(case) is not None:
            failed.append(case.get("name"))
        elif reason := skip_reason(case):
            skipped[reason] += 1
        else:
            passed += cases_of(case)
            skipped.update(skipped_parts(case))
    print(passed, len(failed), skipped.total())
    for name in failed:
        print(f"failed: {name}")
    for name in unsteady:
        print(f"unsteady: {name} failed beside others and passed alone; both logs: {', '.join(reports)}")
    for reason, tests in skipped.items():
        print(f"skipped: {reason} ({tests} tests)")


def show_failures(reports):
    again = passed_again(reports)
    for case in cases(reports):
        problem = problem_of(case)
        if problem is not None and name_of(case) not in again:
            printed = (problem.text or "") + case.findtext("system-out", "")
            print(f"--- {case.get('name')}")
            print("\n".join(printed.strip().splitlines()[-LINES_SHOWN:]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--failures"]:
        show_failures(sys.argv[2:])
    else:
        count(sys.argv[1:])
