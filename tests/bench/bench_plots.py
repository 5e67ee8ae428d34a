"""Figures of tests/bench/run as SVG, readable on a light and on a dark page. One file each, without outside parts."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 96, 24, 58, 64
STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
    .title { font-size: 16px; font-weight: 600; }
    .small { font-size: 12px; fill: #57606a; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    .paper { fill: #ffffff; stroke: #d0d7de; }
    .grid { stroke: #d8dee4; stroke-width: 1; }
    .line { fill: none; stroke-width: 2; }
    .page { stroke: #0969da; } .page-fill { fill: #0969da; }
    .ribbon { stroke: #1a7f37; } .ribbon-fill { fill: #1a7f37; }
    .peer { stroke: #8c959f; } .peer-fill { fill: #8c959f; }
    .burst { stroke: #bc4c00; }
    .floor-fill { fill: #d0d7de; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .small { fill: #9da7b3; }
      .paper { fill: #0d1117; stroke: #30363d; }
      .grid { stroke: #21262d; }
      .page { stroke: #58a6ff; } .page-fill { fill: #58a6ff; }
      .ribbon { stroke: #3fb950; } .ribbon-fill { fill: #3fb950; }
      .peer { stroke: #6e7681; } .peer-fill { fill: #6e7681; }
      .burst { stroke: #f0883e; }
      .floor-fill { fill: #30363d; }
    }
"""


class Drawing:
    def __init__(self, title, description, height=HEIGHT):
        self.height = height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            'aria-labelledby="title description">',
            f'  <title id="title">{escape(title)}</title>',
            f'  <desc id="description">{escape(description)}</desc>',
            f"  <style>{STYLE}  </style>",
            f'  <rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        ]
        self.text(LEFT / 4, 30, title, "title")

    def add(self, part):
        self.parts.append("  " + part)

    def text(self, x, y, text, kind=""):
        self.add(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>')

    def path(self, points, kind):
        places = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.add(f'<path class="{kind}" d="M{places}"/>')

    def write(self, path):
        path.write_text("\n".join([*self.parts, "</svg>", ""]), encoding="utf-8")


def percent(rate):
    return f"{100 * rate:.2g} %"


def false_positives(results):
    """How many addresses that are on no list are found, over memory: a curve for each layout, a point for each way."""
    strangers = results["strangers"]
    ways = strangers["ways"]
    asked = f"{ways[0]['others_asked']:,}"
    drawing = Drawing("How many addresses that are on no list are found",
                      "False positives fall with the bits of memory for each entry, for the layout ribbon faster than "
                      f"for page. With a store, none of {asked} such addresses was found.")  # fmt: skip
    curve = strangers["curve"]["rows"]
    rates = [row["measured"] for row in curve if row["measured"]]
    lowest = math.floor(math.log10(min(rates)))
    floor_y = HEIGHT - BOTTOM - 44  # below it: measured, and none found
    least, most = 4, 16

    def x_of(bits):
        return LEFT + (bits - least) / (most - least) * (WIDTH - LEFT - RIGHT)

    def y_of(rate):
        return TOP + math.log10(rate) / lowest * (floor_y - TOP)

    for exponent in range(lowest, 1):
        y = y_of(10**exponent)
        drawing.path([(LEFT, y), (WIDTH - RIGHT, y)], "grid")
        drawing.text(LEFT - 8, y + 4, f"{100 * 10**exponent:g} %", "small end")
    none_y = HEIGHT - BOTTOM - 12
    drawing.path([(LEFT, none_y), (WIDTH - RIGHT, none_y)], "grid")
    drawing.text(LEFT - 8, none_y + 4, "none", "small end")
    for bits in range(least, most + 1, 2):
        drawing.text(x_of(bits), HEIGHT - BOTTOM + 18, str(bits), "small middle")
    drawing.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 22, "memory: bits for each entry", "small middle")
    for layout in ("page", "ribbon"):
        points = [(x_of(row["bits"]), y_of(row["measured"])) for row in curve
                  if row["layout"] == layout and row["measured"] and least <= round(row["bits"]) <= most]  # fmt: skip
        drawing.path(points, f"line {layout}")
        x, y = points[-1]
        drawing.text(x, y - 16, layout, "end")
    labels = []
    for way in ways:
        layout = way["name"].split()[0]
        x = x_of(8 * way["memory"] / way["entries"])
        rate = way["others_found"] / way["others_asked"]
        y = y_of(rate) if rate else none_y
        drawing.add(f'<circle class="{layout}-fill" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        label = way["name"] + (f" ({percent(rate)})" if rate else "")
        if "--never-match" in way["name"]:
            label = "--never-match: " + ("none" if not way["known_found"] else percent(way["known_found"] / way["known_asked"]))
            label += " of the known ones"
        # Ways whose points lie together share one label.
        near = next((known for known in labels if abs(known[0] - x) < 30 and abs(known[1] - y) < 14), None)
        if near:
            near[2].append(label)
        else:
            labels.append((x, y, [label]))
    for x, y, texts in labels:
        above = not texts[0].startswith("ribbon (")  # whose curve lies below the other
        drawing.text(x + 9 if above else x - 6, y - 9 if above else y + 18, "; ".join(texts), "small" + " end" * (not above))
    return drawing


def build_rates(results):
    """Entries a second from a list to a filter: first what people would use otherwise, then Bloomgate, then the floor."""
    bars = [(f"reading and hashing alone, {cores} {'core' if cores == '1' else 'cores'}", row["rate"], "floor")
            for cores, row in results["floor"]["cores"].items()]  # fmt: skip
    bars += [(f"Bloomgate, {row['layout']}, {row['cores']} {'core' if row['cores'] == 1 else 'cores'}",
              row["entries"] / row["seconds"], "page") for row in results["builder"] if row["layout"] == "page"]  # fmt: skip
    bars += [(f"Bloomgate, {way['name']}", way["entries"] / way["seconds"], way["name"].split()[0])
             for way in results["strangers"]["ways"][1:]]  # fmt: skip
    peers = {}
    for row in results.get("peers", []):
        if "entries" in row and not row["name"].startswith("Bloomgate"):
            peers[row["name"].split(": ")[0]] = row["entries"] / row["build_seconds"]  # the larger list's comes last
    bars += [(f"{name}, 1 core", rate, "peer") for name, rate in peers.items()]
    groups = {"peer": 0, "floor": 2}
    bars.sort(key=lambda bar: (groups.get(bar[2], 1), -bar[1]))
    return bars


def draw_rates(bars):
    left, step = 290, 26
    drawing = Drawing("How fast a filter is built, in million entries a second",
                      "; ".join(f"{name}: {rate / 1e6:.1f}" for name, rate, _ in bars),
                      height=TOP + step * len(bars) + 12)  # fmt: skip
    most = max(rate for _, rate, _ in bars)
    for index, (name, rate, kind) in enumerate(bars):
        y = TOP + step * index
        width = max(1.0, rate / most * (WIDTH - left - RIGHT - 50))
        drawing.text(left - 8, y + 13, name, "small end")
        drawing.add(f'<rect class="{kind}-fill" x="{left}" y="{y}" width="{width:.1f}" height="17" rx="2"/>')
        drawing.text(left + width + 6, y + 13, f"{rate / 1e6:.1f}", "small")
    return drawing


def draw(results, folder):
    """Writes those figures for which the results have all that they show."""
    folder.mkdir(parents=True, exist_ok=True)
    if "strangers" in results:
        false_positives(results).write(folder / "false-positives.svg")
        if "floor" in results and "builder" in results:
            draw_rates(build_rates(results)).write(folder / "build-rate.svg")
