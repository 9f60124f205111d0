#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says how many times as long as block_pool each of the others takes, and how much more several threads get done.

    pave-bench --benchmark_repetitions=9 --benchmark_format=json >pool.json
    ratios.py pool.json

Of several repetitions the fastest counts, since whatever else the machine does only adds time. Several threads are
compared with one, of the same pool in the same run. Needs Python 3.9.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import defaultdict
from typing import Any, NoReturn

REFERENCE = "block_pool"


def refuse(why: str) -> NoReturn:
    """One sentence for an input that says nothing."""
    print(f"ratios.py: {why}", file=sys.stderr)
    sys.exit(2)


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
            refuse(f"{run['name']}: {run['error_message']}")
        case, contender = split(run["run_name"])
        # Of several threads the time that passes, and not the sum of theirs.
        kind = "real_time" if run.get("threads", 1) > 1 or run["name"].endswith("real_time/threads:1") else "cpu_time"
        time = run[kind] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[run["time_unit"]]
        cases[case][contender] = min(time, cases[case].get(contender, time))
    return cases


def load(path: str) -> dict[str, dict[str, float]]:
    try:
        with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
            return fastest(json.load(file)["benchmarks"])
    except OSError as error:
        refuse(f"cannot read {path}: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = "standard input" if path == "-" else path
        refuse(f"{what} is not what pave-bench writes, or not yet all of it: {error}")


def ratio_of(case: str, contender: str, cases: dict[str, dict[str, float]]) -> tuple[str, float]:
    """Heading and value of the last column; NaN where there is nothing to compare with."""
    alone = re.sub(r", [0-9]+ threads$", ", 1 threads", case)
    time = cases[case][contender]
    if alone == case:
        return f"× {REFERENCE}", time / cases[case].get(REFERENCE, math.nan)
    return "× done by 1 thread", cases.get(alone, {}).get(contender, math.nan) / time


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Prints each contender's time as a multiple of block_pool's, and what several threads get done as a "
        "multiple of what one does."
    )
    parser.add_argument("json", nargs="?", default="-", help="what pave-bench wrote (default: standard input)")
    cases = load(parser.parse_args().json)
    if not cases:
        refuse("there are no benchmarks")
    width = max(len(contender) for contenders in cases.values() for contender in contenders)
    for case, contenders in cases.items():
        ratios = {contender: ratio_of(case, contender, cases) for contender in contenders}
        heading = next(iter(ratios.values()))[0]
        if all(math.isnan(ratio) for _, ratio in ratios.values()):
            heading = ""
        print(f"{case}\n  {'':<{width}} {'ns a pair':>10} {heading:>20}".rstrip())
        for contender, time in contenders.items():
            ratio = ratios[contender][1]
            print(f"  {contender:<{width}} {time:10.1f} {'' if math.isnan(ratio) else f'{ratio:20.2f}'}".rstrip())


if __name__ == "__main__":
    main()
