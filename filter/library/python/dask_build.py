"""Builds a filter with Dask: an example to copy from.

    python3 dask_build.py LIST... --output whitelist.bloom

Each task reads its part of the lists and writes it as a store; then the filter is made of all parts. The lists, and the folder of
the parts, are where all workers see them. With a cluster of your own, name its scheduler with --scheduler. If a worker is lost,
Dask gives its task to another one, which writes the same part.
"""
import argparse
import os
import secrets
from pathlib import Path

import bloomgate
from distributed import Client, LocalCluster


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lists", nargs="+", type=Path)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes on this machine")
    parser.add_argument("--scheduler", help="of another cluster: its address")
    parser.add_argument("--folder", type=Path, default=Path("parts"))
    parser.add_argument("--layout", default="page")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    lists = [str(path.resolve()) for path in options.lists]
    seed, run = secrets.randbits(64), secrets.token_hex(8)
    cluster = options.scheduler or LocalCluster(n_workers=options.workers, threads_per_worker=1, processes=True,
                                                host="127.0.0.1", dashboard_address=None)
    with Client(cluster) as client:
        parts = client.gather([
            client.submit(bloomgate.write_part_of_lists, lists, str(options.folder.resolve() / f"{index}.store"), index=index,
                          parts=options.parts, store_seed=seed, run=run, pure=False)
            for index in range(options.parts)])
    report = bloomgate.build([part.path for part in parts], options.output, layout=options.layout)
    print(f"built {options.output} of {len(parts)} parts: {report['addresses']:,} addresses, {report['domain_entries']:,} domain entries")


if __name__ == "__main__":
    main()
