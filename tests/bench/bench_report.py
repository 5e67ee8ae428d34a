"""The figures of tests/bench/run as tables in Markdown."""
import textwrap

PARTS = ["floor", "builder", "cold", "query", "verify", "fpr", "strangers", "domains", "tables", "peers"]
LECTURE = {1: "62", 2: "38", 3: "24", 4: "15", 5: "9", 8: "2.1", 16: "0.05"}  # % at bits per entry
CLASSROOM = {555888: "1.04", 362329: "5.04", 278494: "10.14"}  # % at bits
LN2 = 0.6931471805599453


def millions(rate):
    return f"{rate / 1e6:.1f} M/s"


def mib(size):
    return f"{size / 2**20:,.1f} MiB"


def percent(rate):
    return "0" if rate == 0 else f"{100 * rate:.3g} %"


def seconds(value):
    return f"{value:.2f} s"


def over(measured, theory):
    return f"{measured / theory:.4f}" if theory else "-"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def section(heading, text, *tables):
    return "\n".join([f"## {heading}\n", textwrap.fill(" ".join(text.split()), 120) + "\n", *tables])


def machine(results):
    rows = [[name, text] for name, text in results["machine"].items()]
    rows.append(["list", f"{results['entries']:,} lines, made by make_addresses"])
    times = sorted(results["times"].values())
    rows.append(["measured", times[0] if times[0] == times[-1] else f"{times[0]} to {times[-1]} UTC"])
    return "## Machine\n\n" + table(["", ""], rows)


def of_floor(results, rate, cores):
    if "floor" not in results:
        return "-"
    return f"{rate / results['floor']['cores'][str(cores)]['rate']:.2f}"


def floor(results):
    rows = [[cores, millions(row["rate"])] for cores, row in results["floor"]["cores"].items()]
    text = "Finding the lines and hashing each one, from the page cache, and nothing else."
    return section("The floor", text, table(["cores", "lines"], rows))


def builder(results):
    cells = []
    for row in results["builder"]:
        rate = row["entries"] / row["seconds"]
        beside = mib(row["peak_bytes"] - row["file_bytes"])
        cells.append([row["layout"], row["cores"], seconds(row["seconds"]), millions(rate),
                      of_floor(results, rate, row["cores"]), mib(row["file_bytes"]), beside,
                      percent(row["fpr"])])  # fmt: skip
    text = """The whole command `bloomgate build` with 8 bits per entry and k = 6, from text in the page cache
        to a durable, checked file."""
    header = ["layout", "cores", "time", "entries", "of the floor", "file", "memory beside it", "FPR"]
    return section("The builder", text, table(header, cells))


def cold(results):
    cold = results["cold"]
    names = {"reading": "reading the list, nothing else", "warm": "building (page) from the page cache",
             "building": "building (page) from a cold cache"}  # fmt: skip
    rows = [[text, seconds(cold[name]), f"{cold['bytes'] / cold[name] / 2**30:.2f} GiB/s"]
            for name, text in names.items()]  # fmt: skip
    times = cold["building"] / max(cold["reading"], cold["warm"])
    text = f"A build from a cold cache takes {times:.2f} times the slower of the other two."
    if cold["warm_entries"] != results["entries"]:
        text += "\nThe time from the page cache is calculated from a build of"
        text += f" {cold['warm_entries']:,} entries in the same run."
    return section("From a cold cache", text, table(["what", "time", "text"], rows))


def look_ups(results, part):
    cells = []
    for row in results[part]:
        rate = row["entries"] / row["seconds"]
        cells.append([row["layout"], row["cores"], seconds(row["seconds"]), millions(rate),
                      of_floor(results, rate, row["cores"])])  # fmt: skip
    return table(["layout", "cores", "time", "entries", "of the floor"], cells)


def query(results):
    text = """`bloomgate query --count --list` with the list itself: every address is listed, so all of its
        bits are tested."""
    return section("Look-ups", text, look_ups(results, "query"))


def verify(results):
    found = sorted({f"{row['entries']:,} found, {row['missing']:,} missing" for row in results["verify"]})
    text = "The whole command: checksums, every entry, and a million strangers. " + "; ".join(found) + "."
    return section("verify --against", text, look_ups(results, "verify"))


def fpr(results):
    cells = []
    for row in results["fpr"]:
        cells.append([row["layout"], f"{row['entries']:,}", f"{row['bits_per_entry']:.3f}", row["hashes"],
                      f"{row['probes']:,}", f"{100 * row['theory']:.4f} %", f"{100 * row['measured']:.4f} %",
                      over(row["measured"], row["theory"])])  # fmt: skip
    header = ["layout", "entries", "bits per entry", "k", "probes", "theory", "measured", "over theory"]
    text = "Addresses that are in no list, looked up in the filters above."
    return section("False positives", text, table(header, cells))


def found_of(found, asked):
    return f"{percent(found / asked)} of {asked:,}" if found else f"none of {asked:,}"


def strangers(results):
    cells = []
    for way in results["strangers"]["ways"]:
        cells.append([way["name"], mib(way["memory"]), mib(way["disk"]) if way["disk"] else "-", seconds(way["seconds"]),
                      millions(way["listed_rate"]), millions(way["stranger_rate"]),
                      found_of(way["others_found"], way["others_asked"]),
                      found_of(way["known_found"], way["known_asked"])])  # fmt: skip
    entries = results["strangers"]["ways"][0]["entries"]
    text = f"""{entries:,} entries on all cores; 8 bits per entry unless it says otherwise. Excluded senders are those
        that `--never-match` was given, or would have been. Look-ups are those of `query --count --list`, with `--confirm`
        where there is a store, the text included; every entry that was asked for was found."""
    header = ["what", "memory", "disk", "build", "listed", "strangers", "strangers found", "excluded senders found"]
    curve = results["strangers"]["curve"]
    rows = {}
    for row in curve["rows"]:
        rows.setdefault(f"{row['bits']:.0f}", {})[row["layout"]] = row
    curve_cells = [[bits, *(percent(row[layout]["measured"]) for layout in ("page", "ribbon"))]
                   for bits, row in rows.items()]  # fmt: skip
    curve_text = f"The same by bits per entry, without a store, with {curve['entries']:,} lines:\n"
    return section("What keeps strangers out", text, table(header, cells), curve_text,
                   table(["bits per entry", "page", "ribbon"], curve_cells))  # fmt: skip


def domains(results):
    times, lookups = [], []
    for case in results["domains"]["cases"]:
        for row in case["builds"]:
            pair = [[row[f"{what}_{which}"] for which in ("without", "with")] for what in
                    ("seconds", "processor_seconds", "peak_bytes")]  # fmt: skip
            times.append([case["name"], row["cores"], *map(seconds, pair[0]), f"{pair[0][1] / pair[0][0]:.2f}",
                          *map(seconds, pair[1]), f"{pair[1][1] / pair[1][0]:.2f}", *map(mib, pair[2])])  # fmt: skip
        row = case["builds"][0]
        asked = results["domains"]["asked"]
        lookups.append([case["name"], f"{row['domains']:,}", f"{row['section_bytes'] / row['domains']:.2f}",
                        found_of(case["found_without"], asked), found_of(case["found"], asked), case["missed"],
                        millions(case["rate_without"]), millions(case["rate_with"])])  # fmt: skip
    entries = results["domains"]["cases"][0]["builds"][0]["entries"]
    text = f"""{entries:,} entries, whose domains are equally frequent, or skewed (each as frequent as one by its rank, the law
        of Zipf), or each entry has one of its own. A build in the layout page without the domains of the senders
        (`--no-sender-domains`) and with them, alternating."""
    header = ["domains", "cores", "without", "with", "ratio", "processor time without", "with", "ratio",
              "memory without", "with"]  # fmt: skip
    lookup_text = "Strangers at other domains, by `query --count --list`, and all entries:\n"
    lookup_header = ["domains", "number", "bytes of one", "found without", "found with", "entries missed",
                     "look-ups without", "with"]  # fmt: skip
    return section("The domains of the senders", text, table(header, times), lookup_text,
                   table(lookup_header, lookups))  # fmt: skip


def lecture(lecture):
    cells = []
    for row in lecture["rows"]:
        bits = row["bits_per_entry"]
        cells.append([bits, f"{LECTURE[bits]} %", percent(0.5 ** (bits * LN2))])
        for layout in ("classic", "page"):
            rate = row[layout]
            cells[-1] += [rate["hashes"], percent(rate["theory"]), percent(rate["measured"]),
                          over(rate["measured"], rate["theory"])]  # fmt: skip
    text = f"""Bits per entry with the best whole k: {lecture['entries']:,} entries, {lecture['probes']:,}
        probes. The lecture has the ideal, 2 to the power of -bits × ln 2, for which k need not be whole."""
    header = ["bits per entry", "lecture", "ideal"]
    for layout in ("classic", "page"):
        header += [f"{layout}: k", "theory", "measured", "over theory"]
    return section("The lecture's table", text, table(header, cells))


def classroom(classroom):
    cells = []
    for row in classroom["rows"]:
        said = f"{CLASSROOM[row['bits']]} %"
        cells.append([f"{row['bits']:,}", row["hashes"], said, f"{100 * row['theory']:.3f} %",
                      f"{100 * row['measured']:.3f} %", over(row["measured"], row["theory"])])  # fmt: skip
    text = f"""{classroom['words']:,} words in arrays of exactly that many bits: the mean of
        {classroom['seeds']} seeds, {classroom['probes']:,} probes in all. For that many words 362,329
        and 278,494 bits are the textbook's sizes for 5 and 10 %, and 555,888 is a little less than its
        556,990 for 1 %. The project's own figures are near the theory, as far as some ten thousand
        probes can tell."""
    header = ["bits", "k", "project", "theory", "measured", "over theory"]
    return section("The classroom's table", text, table(header, cells))


def tables(results):
    return lecture(results["tables"]["lecture"]) + "\n" + classroom(results["tables"]["classroom"])


def peers(results):
    cells = []
    for row in results["peers"]:
        if "entries" not in row:
            cells.append([row["name"], "-", "not installed", *["-"] * 4])
            continue
        size = mib(row["bytes"])
        if "filter_bytes" in row:
            size += f", {mib(row['filter_bytes'])} of it the filter"
        query = millions(row["queries"] / row["query_seconds"])
        if "stranger_seconds" in row:
            query += f"; strangers {millions(row['queries'] / row['stranger_seconds'])}"
        build, rate = seconds(row["build_seconds"]), millions(row["entries"] / row["build_seconds"])
        entries = f"{row['entries']:,}"
        cells.append([row["name"], entries, build, rate, size, query, percent(row["fpr"])])
    text = """8 bits per entry, one core. Building starts with the list and ends when look-ups are possible.
        For RocksDB and LMDB that includes canonicalising and sorting the list. RocksDB has no filter
        without its table. Look-ups are for entries that are there, in the list's order; for Bloomgate and
        the plain loop they include reading the list. A small filter fits into the processor's caches,
        which flatters the plain loop."""
    header = ["what", "entries", "build", "rate", "size", "look-ups", "FPR"]
    return section("Peers", text, table(header, cells))


def text_of(results):
    head = "# Results\n\nWritten by `tests/bench/run`; `README.md` says what is measured, and how.\n"
    sections = [machine(results)] + [globals()[part](results) for part in PARTS if part in results]
    return "\n".join([head, *sections])
