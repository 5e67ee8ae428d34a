"""Builds a filter with Dask: an example to copy from.

    python3 dask_build.py LIST --entries N --seed S --output whitelist.bloom

Each task takes a piece of the list, and sends its hashes to the parts: no task holds the list, or the filter. The files of the
parts go to a folder that all workers see. With a cluster of your own, name its scheduler with --scheduler.
"""
import argparse
import os
from pathlib import Path

import bloomgate
import numpy as np
from distributed import Client, LocalCluster


def hashes_by_part(shape, path, begin, end, parts):
    """Of the lines that begin in these bytes of the file: the hashes for each part."""
    with open(path, "rb") as file:
        file.seek(max(0, begin - 1))
        if begin > 0:
            file.readline()  # of the piece before, or its line end
        lines = file.read(max(0, end - file.tell())) if file.tell() < end else b""
        if lines and not lines.endswith(b"\n"):
            lines += file.readline()
    if not lines:
        return [np.zeros(0, np.uint64)] * parts, os.getpid()
    data = np.frombuffer(lines if lines.endswith(b"\n") else lines + b"\n", np.uint8)
    offsets = np.concatenate([[0], np.flatnonzero(data == ord("\n")) + 1]).astype(np.int64)
    numbers, hashes = shape.partition((data, offsets), parts)
    return [hashes[begin:end] for begin, end in zip(np.searchsorted(numbers, range(parts)),
                                                    np.searchsorted(numbers, range(parts), "right"))], os.getpid()


def write_part(shape, part, parts, pieces, folder):
    return shape.write_part(part, parts, [hashes[part] for hashes, _ in pieces], Path(folder) / f"{part:05}.part")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("list", type=Path)
    parser.add_argument("--entries", type=int, required=True, help="addresses that the filter is sized for")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes on this machine")
    parser.add_argument("--scheduler", help="of another cluster: its address")
    parser.add_argument("--folder", type=Path, default=Path("parts"))
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    cluster = options.scheduler or LocalCluster(n_workers=options.workers, threads_per_worker=1, processes=True,
                                                host="127.0.0.1", dashboard_address=None)
    shape = bloomgate.Shape(options.entries, options.seed)
    size = options.list.stat().st_size
    bounds = np.linspace(0, size, 4 * options.workers + 1).astype(int).tolist()
    with Client(cluster) as client:
        pieces = [client.submit(hashes_by_part, shape, str(options.list.resolve()), begin, end, options.parts)
                  for begin, end in zip(bounds, bounds[1:])]
        written = [client.submit(write_part, shape, part, options.parts, pieces, str(options.folder.resolve()))
                   for part in range(options.parts)]
        paths = client.gather(written)
        processes = {process for process in client.gather([client.submit(lambda piece: piece[1], piece) for piece in pieces])}
    bloomgate.join(paths, options.output)
    print(f"built {options.output} of {len(paths)} parts, by the tasks of {len(processes)} processes")


if __name__ == "__main__":
    main()
