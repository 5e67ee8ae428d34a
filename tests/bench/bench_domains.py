"""The part `domains` of tests/bench/run: what the domains of the senders cost, and what they bring."""
import json

MOST_ASKED = 10**7  # strangers at other domains
CASES = (("10^5", 10**5), ("5·10^6, skewed", "skewed:5e6"), ("5·10^6", 5 * 10**6), ("one each", "own"))


class DomainsPart:
    """Measures with the tools of `bench`. Makes a list of each case, one at a time, and removes it."""

    def __init__(self, bench):
        self.bench = bench
        self.entries = bench.arguments.entries
        self.asked = min(MOST_ASKED, self.entries)
        self.filters = {False: bench.scratch_filter("without-domains"), True: bench.scratch_filter("with-domains")}

    def results(self):
        # Their domains are numbered from there on, those of the lists below it.
        others = self.make_list("others", self.asked, max(self.entries, 5 * 10**6), "own")
        try:
            return {"asked": self.asked, "cases": [self.measure(name, count, others) for name, count in CASES]}
        finally:
            for path in self.filters.values():
                path.unlink(missing_ok=True)

    def make_list(self, name, count, first, domains):
        path = self.bench.scratch / f"domains-{name}.txt"
        with open(path, "wb") as file:
            self.bench.run_program("make_addresses", count, 1, first, 0, domains, stdout=file)
        return path

    def measure(self, name, domains, others):
        self.bench.say(f"domains: {name}, making a list")
        path = self.make_list("listed", self.entries, 0, domains)
        try:
            self.bench.warm(path)
            row = {"name": name, "builds": self.builds(path)}
            row["found"], _, row["rate_with"] = self.ask(True, others)
            row["found_without"], _, row["rate_without"] = self.ask(False, others)
            _, row["missed"], _ = self.ask(True, path, runs=1)
            return row
        finally:
            path.unlink()

    def builds(self, path):
        """Builds with the domains and without, alternating: the best of each."""
        rows = []
        for cores in self.bench.core_counts:
            runs = {False: [], True: []}
            for _ in range(self.bench.arguments.repeat):
                for has_domains, made in runs.items():
                    self.bench.say(f"building: {cores} cores, {'with' if has_domains else 'without'} domains")
                    made.append(self.build(path, cores, has_domains))
            report = json.loads(runs[True][0].out)
            row = {"cores": cores, "entries": report["entries"], "domains": report["sender_domains"],
                   "section_bytes": report["sender_domains_bytes"]}  # fmt: skip
            for has_domains, made in runs.items():
                suffix = "with" if has_domains else "without"
                row["seconds_" + suffix] = min(run.seconds for run in made)
                row["processor_seconds_" + suffix] = min(run.processor_seconds for run in made)
                row["peak_bytes_" + suffix] = max(run.peak_bytes for run in made)
            rows.append(row)
        return rows

    def build(self, path, cores, has_domains):
        options = ["--seed", "1", "--threads", cores, "--quiet", "--json"]
        if not has_domains:
            options.append("--no-sender-domains")
        return self.bench.run([self.bench.bloomgate, "build", "--output", self.filters[has_domains], *options, path],
                              cores)  # fmt: skip

    def ask(self, has_domains, path, runs=2):
        """How many of a list are found and how many are not, and look-ups a second; of the last run."""
        command = [self.bench.bloomgate, "query", self.filters[has_domains], "--quiet", "--count", "--list", path]
        for _ in range(runs):
            run = self.bench.run(command, allowed=(0, 1))
        counts = {name: int(count) for name, count in (line.split("\t") for line in run.out.splitlines())}
        found, missed = counts["listed"], counts["not-listed"]
        return found, missed, (found + missed) / run.seconds
