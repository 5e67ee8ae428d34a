"""Cases that are many, and of which each shows nearly what its neighbour shows: scripts/test takes some, --all takes all."""
import os

TAKES_ALL = "BLOOMGATE_ALL" in os.environ


def some_of(cases):
    """Every eighth one, the first and the last among them."""
    cases = list(cases)
    return [case for number, case in enumerate(cases) if TAKES_ALL or number % 8 == 0 or number == len(cases) - 1]
