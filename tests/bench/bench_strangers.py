"""The part `strangers` of tests/bench/run: every way to keep strangers out, with the same list in one run."""
from dataclasses import dataclass

import json

MOST_ASKED = 10**7  # addresses of each kind: listed, excluded senders, other strangers
LEAST_ASKED = 10**5  # fewer would say little about a rate of two in a hundred
MOST_OF_CURVE = 10**7  # entries of the filters whose rates make a curve
CURVE_BITS = (4, 5, 6, 7, 8, 10, 12, 16)


@dataclass(frozen=True)
class Way:
    name: str
    layout: str
    options: tuple = ()
    has_store: bool = False
    knows_strangers: bool = False


WAYS = (
    Way("page", "page"),
    Way("ribbon", "ribbon"),
    Way("page + --never-match", "page", knows_strangers=True),
    Way("page + store", "page", has_store=True),
    Way("ribbon + store", "ribbon", has_store=True),
    Way("page of 5 bits + store", "page", ("--bits-per-entry", "5", "--hashes", "3"), has_store=True),
)


class StrangersPart:
    """Measures with the tools of `bench`; takes the list's own addresses, and two lists of others."""

    def __init__(self, bench):
        self.bench = bench
        self.entries = bench.arguments.entries
        self.asked = min(MOST_ASKED, max(LEAST_ASKED, self.entries // 10))
        self.filter, self.store = bench.scratch_filter("way"), bench.scratch_filter("way").with_suffix(".store")

    def results(self):
        listed = self.make_list("listed", min(self.asked, self.entries), 0)
        known = self.make_list("known", self.asked, self.entries)
        others = self.make_list("others", self.asked, self.entries + self.asked)
        try:
            return {"asked": self.asked, "ways": [self.measure(way, listed, known, others) for way in WAYS],
                    "curve": self.curve()}  # fmt: skip
        finally:
            for path in (self.filter, self.store):
                path.unlink(missing_ok=True)

    def make_list(self, name, count, first):
        """Addresses from that index on; the benchmark's list has all indices below its number of entries."""
        path = self.bench.scratch / f"{name}.txt"
        with open(path, "wb") as file:
            self.bench.run_program("make_addresses", count, 1, first, stdout=file)
        return path

    def measure(self, way, listed, known, others):
        self.bench.say(f"strangers: {way.name}")
        options = list(way.options)
        if way.has_store:
            options += ["--store", self.store]
        if way.knows_strangers:
            options += ["--never-match", known]
        built = self.bench.build(way.layout, len(self.bench.cores), self.filter, options=options)
        report = json.loads(built.out)
        confirm = ["--confirm", self.store] if way.has_store else []
        found, missed, listed_rate = self.ask(listed, confirm)
        if missed:
            raise SystemExit(f"{missed} entries are missing: {way.name}")
        rates = {}
        for kind, path in (("known", known), ("others", others)):
            false_positives, misses, rates[kind] = self.ask(path, confirm)
            rates[kind + "_found"], rates[kind + "_asked"] = false_positives, false_positives + misses
        return {"name": way.name, "entries": report["entries"], "seconds": built.seconds,
                "memory": self.filter.stat().st_size, "peak_bytes": built.peak_bytes,
                "disk": self.store.stat().st_size if way.has_store else 0, "listed_asked": found,
                "listed_rate": listed_rate, "stranger_rate": rates["others"],
                **{name: rates[name] for name in rates if "_" in name}}  # fmt: skip

    def ask(self, path, confirm):
        """How many of a list are found and how many are not, and look-ups a second; the second of two runs."""
        command = [self.bench.bloomgate, "query", self.filter, *confirm, "--quiet", "--count", "--list", path]
        for _ in range(2):
            run = self.bench.run(command, allowed=(0, 1))
        counts = {name: int(count) for name, count in (line.split("\t") for line in run.out.splitlines())}
        found, missed = counts["listed"], counts["not-listed"]
        return found, missed, (found + missed) / run.seconds

    def curve(self):
        """False positives over bits for each entry, of smaller filters."""
        entries = min(self.entries, MOST_OF_CURVE)
        rows = []
        for layout in ("page", "ribbon"):
            for bits in CURVE_BITS:
                options = ["--bits-per-entry", bits]
                if layout == "page":
                    options += ["--hashes", max(1, round(bits * 0.69))]
                self.bench.build(layout, len(self.bench.cores), self.filter, 1, entries, options)
                row = self.bench.measure("bench_rates", "filter", self.filter, self.bench.arguments.probes // 10,
                                         len(self.bench.cores))  # fmt: skip
                rows.append({"layout": layout, "bits": row["bits_per_entry"], "measured": row["measured"],
                             "theory": row["theory"]})  # fmt: skip
        return {"entries": entries, "rows": rows}
