# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/ratios.py: ratios_test.py RATIOS, the script to try."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from typing import Any

RATIOS = sys.argv[1]


def run(name: str, time: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "run_name": name, "cpu_time": time, "real_time": time, "time_unit": "ns", **more}


def ended(text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, RATIOS]
    streams: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, input=text, encoding="utf-8", check=False, **streams)


def printed(*runs: dict[str, Any]) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in ended(json.dumps({"benchmarks": runs})).stdout.splitlines()]


class RatiosTest(unittest.TestCase):
    def test_each_contender_is_a_multiple_of_block_pool_and_the_fastest_repetition_counts(self) -> None:
        pool, stack = "BM_pool_churn/block_pool/blocks:8/batch:1", "BM_pool_churn/stack/blocks:8/batch:1"
        lines = printed(run(pool, 10), run(pool, 8), run(stack, 12))
        self.assertEqual(lines[0], ["BM_pool_churn,", "8", "blocks,", "1", "batch"])
        self.assertEqual(lines[1][-2:], ["×", "block_pool"])
        self.assertEqual(lines[2:], [["block_pool", "8.0", "1.00"], ["stack", "12.0", "1.50"]])

    def test_two_threads_are_a_multiple_of_one(self) -> None:
        name = "BM_pool_churn_threads/{}/blocks:8/batch:1/real_time/threads:{}"
        lines = printed(
            run(name.format("per_thread", 1), 20, threads=1),
            run(name.format("per_thread", 2), 16, threads=2),
            run(name.format("mutex", 2), 90, threads=2),
        )
        self.assertEqual(lines[1:3], [["ns", "a", "pair"], ["per_thread", "20.0"]])
        self.assertEqual(lines[4][-5:], ["×", "done", "by", "1", "thread"])
        self.assertEqual(lines[5:], [["per_thread", "16.0", "1.25"], ["mutex", "90.0"]])

    def test_an_unfinished_file_is_refused_in_one_sentence(self) -> None:
        for text in ("", '{"benchmarks": [', "[]", "{}", '{"benchmarks": []}', '{"benchmarks": [{}]}'):
            refused = ended(text)
            self.assertEqual(refused.returncode, 2, text)
            self.assertEqual(len(refused.stderr.splitlines()), 1, text)
            self.assertTrue(refused.stderr.startswith("ratios.py: "), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
