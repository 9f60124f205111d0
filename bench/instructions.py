#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of block_pool's hot calls under valgrind, and compares them with instructions.txt.

    instructions.py build/gcc-17/bench/pave-instructions
    instructions.py build/gcc-17/bench/pave-instructions --update

A count that is more than 5 % off, up or down, is an error: with --update the file takes the new ones. The counts
depend on the compiler and the processor; where the file has none for these (to the compiler's major version), they
are printed, and nothing is compared. Needs Python 3.9 and valgrind.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

FIGURES = Path(__file__).with_name("instructions.txt")
TOLERANCE = 0.05
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Instructions a call, as bench/instructions.py counts them; its option --update writes this file.
"""


def fail(message: str) -> NoReturn:
    print(f"instructions.py: {message}", file=sys.stderr)
    sys.exit(1)


def output(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def count(program: str, name: str, function: str, calls: int) -> float:
    """Instructions of one call of the function, with all that it calls, in the case `name`."""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder, "counts")
        output("valgrind", "--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={counts}",
               program, name)
        total = re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.MULTILINE)
    if not total or int(total[1]) == 0:
        fail(f"valgrind counted nothing in {function}")
    return int(total[1]) / calls


def read_figures() -> dict[tuple[str, str], float]:
    """By platform and name, in the order of the file."""
    figures = {}
    for line in FIGURES.read_text().splitlines() if FIGURES.exists() else []:
        if match := re.fullmatch(r"([^#:]+): (\w+) +([\d.]+)", line):
            figures[match[1], match[2]] = float(match[3])
    return figures


def write_figures(platform: str, counts: dict[str, float]) -> None:
    kept = {key: value for key, value in read_figures().items() if family(key[0]) != family(platform)}
    new = {(platform, name): value for name, value in counts.items()}
    width = max(len(name) for _, name in kept | new)
    lines = [f"{of}: {name:<{width}} {value:.1f}\n" for (of, name), value in (kept | new).items()]
    FIGURES.write_text(HEAD + "".join(lines))


def family(platform: str) -> tuple[str, str, str]:
    """Compiler, its major version, processor."""
    compiler, version, processor = platform.split()
    return compiler, version.split(".", maxsplit=1)[0], processor


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts the instructions of block_pool's hot calls.")
    parser.add_argument("program", help="the built pave-instructions")
    parser.add_argument("--update", action="store_true", help=f"write {FIGURES.name} instead of comparing with it")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return

    platform, calls, *cases = output(arguments.program).splitlines()
    counts = {}
    for name, function in map(str.split, cases):
        counts[name] = count(arguments.program, name, function, int(calls))
    expected = {name: value for (of, name), value in read_figures().items() if family(of) == family(platform)}
    width = max(map(len, counts))
    print(f"instructions a call, {platform}")
    wrong = []
    for name, value in counts.items():
        line = f"  {name:<{width}} {value:9.1f}"
        if name in expected:
            change = value / expected[name] - 1
            line += f"  {change:+7.1%} of {expected[name]:.1f}"
            if abs(change) > TOLERANCE:
                wrong.append(name)
        print(line)

    if arguments.update:
        write_figures(platform, counts)
        return
    if not expected:
        print(f"skipped: no figures of {platform} in {FIGURES.name} to compare with")
        return
    wrong += sorted(counts.keys() ^ expected.keys())
    if wrong:
        fail(f"off by more than {TOLERANCE:.0%}, or not in both lists: {', '.join(wrong)}\n"
             f"If that is meant to be, take the new figures: instructions.py {arguments.program} --update")


if __name__ == "__main__":
    main()
