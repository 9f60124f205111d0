#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says how many times as long as block_pool each of the others takes.

    pave-bench --benchmark_repetitions=9 --benchmark_format=json >pool.json
    ratios.py pool.json

Of several repetitions the fastest counts, since whatever else the machine does only adds time. Needs Python 3.9.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from typing import Any

REFERENCE = "block_pool"


def split(name: str) -> tuple[str, str]:
    """BM_pool_churn/<contender>/blocks:65536/batch:64 -> (the case, the contender)."""
    benchmark, contender, *rest = name.split("/")
    arguments = dict(part.split(":", maxsplit=1) for part in rest if ":" in part)
    return ", ".join([benchmark, *(f"{value} {key}" for key, value in arguments.items())]), contender


def fastest(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Nanoseconds an iteration, by case and contender."""
    cases: dict[str, dict[str, float]] = defaultdict(dict)
    for run in runs:
        if run.get("run_type") == "aggregate":
            continue
        if run.get("error_occurred"):
            sys.exit(f"ratios.py: {run['name']}: {run['error_message']}")
        case, contender = split(run["run_name"])
        # Of several threads the time that passes, and not the sum of theirs.
        kind = "real_time" if run.get("threads", 1) > 1 or run["name"].endswith("real_time/threads:1") else "cpu_time"
        time = run[kind] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[run["time_unit"]]
        cases[case][contender] = min(time, cases[case].get(contender, time))
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints each contender's time as a multiple of block_pool's.")
    parser.add_argument("json", nargs="?", default="-", help="what pave-bench wrote (default: standard input)")
    path = parser.parse_args().json
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
        cases = fastest(json.load(file)["benchmarks"])
    width = max(len(contender) for contenders in cases.values() for contender in contenders)
    for case, contenders in cases.items():
        print(f"{case}\n  {'':<{width}} {'ns a pair':>10} {'× ' + REFERENCE:>13}")
        for contender, time in contenders.items():
            ratio = f"{time / contenders[REFERENCE]:13.2f}" if REFERENCE in contenders else ""
            print(f"  {contender:<{width}} {time:10.1f} {ratio}".rstrip())


if __name__ == "__main__":
    main()
