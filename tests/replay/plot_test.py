# SPDX-License-Identifier: Apache-2.0
"""Tests of examples/replay/plot.py: plot_test.py PLOT REPLAY, the script and the pave-replay to try it with.

Where no Python has matplotlib, it prints so, beginning with "skipped", and tests nothing.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import io
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Iterator
from xml.etree import ElementTree

PLOT, REPLAY = Path(sys.argv[1]), sys.argv[2]
PICTURES = {"attainment.svg", "reclaimed.svg", "occupancy.svg", "tpot.svg"}
POLICIES = {"whole", "whole+cache", "whole+cache+back", "partial", "partial+cache", "unlimited"}
plot: Any  # the script as a module, once there is a Python that can load it


def use_a_python_with_matplotlib() -> None:
    """Goes on in the distribution's Python if this one has no matplotlib: packages are installed for that."""
    if importlib.util.find_spec("matplotlib"):
        return
    system = "/usr/bin/python3"
    asked = [system, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('matplotlib'))"]
    if os.path.exists(system) and subprocess.run(asked, check=False).returncode == 0:
        os.execv(system, [system, *sys.argv])
    print("skipped: no Python with matplotlib (python3-matplotlib on Debian and Ubuntu)")
    sys.exit(0)


def plot_module() -> Any:
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("plot", PLOT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["plot"] = module
    spec.loader.exec_module(module)
    return module


def replayed(*options: str) -> Any:
    """What pave-replay writes of a workload that is short of blocks."""
    command = [REPLAY, "--requests", "60", "--blocks", "300", "--curves", "--json", "-", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values within a JSON value are, of lists the first."""
    keys: Any = value if isinstance(value, dict) else range(min(1, len(value))) if isinstance(value, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


class PlotTest(unittest.TestCase):
    sweep: Any  # what pave-replay wrote

    @classmethod
    def setUpClass(cls) -> None:
        cls.sweep = replayed("--sweep", "rate=0.5,1")

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def saved(self, document: Any) -> Path:
        path = self.folder / "results.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def run_plot(self, *words: Any) -> tuple[int, str]:
        """Status and standard error."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            status = plot.main([str(word) for word in words])
        return status, said.getvalue()

    def drawn(self, document: Any, *options: str) -> dict[str, str]:
        """The pictures by name."""
        folder = self.folder / "drawn"
        self.assertEqual(self.run_plot(self.saved(document), folder, *options), (0, ""))
        return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}

    def check_refused(self, outcome: tuple[int, str], reason: str) -> None:
        status, said = outcome
        self.assertEqual(status, 2, said)
        self.assertRegex(said, r"\Aplot\.py: [^\n]+\n\Z")
        self.assertIn(reason, said)
        self.assertFalse(list(self.folder.glob("**/*.svg")))

    def test_a_sweep_gives_four_pictures_that_name_their_policies_and_again_the_same_bytes(self) -> None:
        pictures = self.drawn(self.sweep)
        self.assertEqual(set(pictures), PICTURES)
        for picture, text in pictures.items():
            self.assertEqual(ElementTree.fromstring(text).tag, "{http://www.w3.org/2000/svg}svg")
            self.assertLess(len(text), 150_000)
            self.assertNotIn("date>", text)
            for policy in {"whole", "whole+cache", "partial"} if picture == "occupancy.svg" else POLICIES:
                self.assertIn(f"<!-- {policy}", text)  # matplotlib's comment on a text that it draws as paths
                self.assertIn(plot.STYLES[policy].colour.lower(), text, policy)
        folder = self.folder / "again"
        subprocess.run([sys.executable, str(PLOT), str(self.saved(self.sweep)), str(folder)], check=True)
        self.assertEqual({path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}, pictures)

    def test_a_single_point_will_do_and_names_are_drawn_as_they_are(self) -> None:
        single = {**self.sweep["points"][1], "trace": "folder/a $\\x$ <&>\x01 -- " + "long" * 20}
        pictures = self.drawn(single, "--bound", "50")
        self.assertEqual(set(pictures), PICTURES)
        for text in pictures.values():
            ElementTree.fromstring(text)

    def test_a_policy_that_is_never_short_and_requests_without_tpot_leave_gaps(self) -> None:
        run = next(run for run in self.sweep["points"][0]["runs"] if run["policy"] == "unlimited")
        slo = [{**bound, "attainment": None} for bound in run["slo"]]
        single = {**self.sweep["points"][0], "runs": [{**run, "tpot_percentiles_ms": [None] * 101, "slo": slo}]}
        self.assertIn("never short", self.drawn(single)["reclaimed.svg"])

    def test_no_two_texts_overlap_and_none_is_cut_off(self) -> None:
        points = plot.load(self.saved(self.sweep))
        for picture, figure in plot.pictures_of(points, points[1], 75).items():
            boxes = list(text_boxes(figure))
            for (text, box), (other, other_box) in itertools.combinations(boxes, 2):
                self.assertFalse(box.padded(-1).overlaps(other_box.padded(-1)), (picture, text, other))
            for text, box in boxes:
                self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, (picture, text))
                self.assertTrue(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, (picture, text))

    def test_spread_keeps_order_distance_and_limits(self) -> None:
        chance = random.Random(1)
        for _ in range(500):
            wanted = [chance.uniform(0, 10) for _ in range(chance.randint(1, 10))]
            found = plot.spread(wanted, 1, 0, 10)
            inner = [place for _, place in sorted(zip(wanted, found))]
            self.assertTrue(all(above - below > 0.999 for below, above in zip(inner, inner[1:])), wanted)
            self.assertTrue(-0.001 < min(inner) and max(inner) < 10.001, wanted)
        self.assertEqual(plot.spread([1, 5, 3], 1, 0, 10), [1, 5, 3])

    def test_a_bad_command_line_is_refused(self) -> None:
        path, folder = self.saved(self.sweep), self.folder / "pictures"
        self.check_refused(self.run_plot(path), "FOLDER")
        self.check_refused(self.run_plot(path, folder, "--rate", "0.7"), "no run is at rate 0.7: there are 0.5, 1")
        self.check_refused(self.run_plot(path, folder, "--bound", "80"), "there are 50, 60, 75, 100")
        self.check_refused(self.run_plot(path, folder, "--bound", "x"), "--bound")
        self.check_refused(self.run_plot(self.folder / "none", folder), "cannot read")
        self.check_refused(self.run_plot(path, path), "cannot write into")
        command = [sys.executable, str(PLOT), str(self.folder / "none"), str(folder)]
        ended = subprocess.run(command, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.check_refused((ended.returncode, ended.stderr), "cannot read")

    def test_a_python_without_matplotlib_is_named(self) -> None:
        code = "import runpy, sys; sys.modules['matplotlib'] = None; runpy.run_path(sys.argv[1])"
        command = [sys.executable, "-c", code, str(PLOT)]
        ended = subprocess.run(command, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(ended.returncode, 2)
        self.assertIn(f"plot.py: {sys.executable} cannot load matplotlib", ended.stderr)

    def test_a_wrong_file_is_refused(self) -> None:
        path, folder = self.folder / "wrong.json", self.folder / "pictures"
        for content, reason in (
            (b"", "is not JSON"),
            (b"\xff{}", "is not JSON"),
            (b"[" * 100_000, "is not JSON"),
            (b"{}", "has no 'runs'"),
            (b"null", "is not what pave-replay writes"),
            (b"[1, 2]", "is not what pave-replay writes"),
            (b'{"points": []}', "has no runs"),
            (b'{"runs": []}', "has no runs"),
            (b'{"runs": [{"policy": "whole"}]}', "has no curves: run pave-replay with --curves"),
        ):
            path.write_bytes(content)
            self.check_refused(self.run_plot(path, folder), reason)

    def test_points_that_differ_in_more_than_the_rate_are_refused(self) -> None:
        for key, value in (("trace", "another.csv"), ("pool_blocks", 301), ("watermark_percent", 5)):
            first, second = self.sweep["points"]
            path = self.saved({"points": [first, {**second, key: value}]})
            self.check_refused(self.run_plot(path, self.folder / "pictures"), f"has more than one {key}")

    def test_whatever_is_missing_or_of_another_kind_is_refused_or_of_no_matter(self) -> None:
        run = {**self.sweep["points"][0]["runs"][0]}
        run["timeline"] = run["timeline"][:2]
        single = {**self.sweep["points"][0], "runs": [run]}
        refused = 0
        for path, wrong in itertools.product(places(single), ("missing", None, "x", -1, True, [], {}, float("nan"))):
            changed = copy.deepcopy(single)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if wrong == "missing":
                del holder[path[-1]]
            else:
                holder[path[-1]] = wrong
            try:
                plot.load(self.saved(changed))
            except plot.Refused:
                refused += 1
        self.assertGreater(refused, 100)


def text_boxes(figure: Any) -> Iterator[tuple[str, Any]]:
    """Each text that shows, and where it is."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                hidden |= {tick.label1, tick.label2}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            yield text.get_text(), Text.get_window_extent(text, canvas.get_renderer())


if __name__ == "__main__":
    use_a_python_with_matplotlib()
    plot = plot_module()
    unittest.main(argv=sys.argv[:1])
