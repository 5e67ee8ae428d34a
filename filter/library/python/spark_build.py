"""Builds a filter with Spark: an example to copy from.

    spark-submit spark_build.py TABLE COLUMN FOLDER whitelist.bloom

Each partition of the table becomes a part, and the filter is made of all parts. FOLDER is where all executors and the driver see
it. The module `bloomgate` and what it needs is on all of them. If an executor is lost, or Spark runs a task twice, the same part
is written again.
"""
import os
import secrets
import sys

import bloomgate


def part_writer(folder, parts, seed, run):
    """What `mapPartitionsWithIndex` calls with the number of a partition, and its texts."""
    def write(index, texts):
        part = bloomgate.write_part(texts, os.path.join(folder, f"{index}.store"), index=index, parts=parts, store_seed=seed, run=run)
        return [part.path]
    return write


def build(frame, column, folder, output, **options):
    """Of the entries in that column of a DataFrame. A part has the entries of one partition, be there any or not."""
    os.makedirs(folder, exist_ok=True)
    texts = frame.select(column).rdd.map(lambda row: row[0]).filter(lambda text: text is not None)
    write = part_writer(folder, texts.getNumPartitions(), secrets.randbits(63), secrets.token_hex(8))
    return bloomgate.build(texts.mapPartitionsWithIndex(write).collect(), output, **options)


def main():
    from pyspark.sql import SparkSession

    table, column, folder, output = sys.argv[1:]
    spark = SparkSession.builder.appName("bloomgate").getOrCreate()
    report = build(spark.table(table), column, folder, output)
    print(f"built {output}: {report['addresses']:,} addresses, {report['domain_entries']:,} domain entries")


if __name__ == "__main__":
    main()
