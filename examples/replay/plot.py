#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what pave-replay found, as SVGs: attainment.svg, reclaimed.svg, occupancy.svg and tpot.svg.

    pave-replay --sweep rate=0.3:1.0:0.1 --curves --json sweep.json
    plot.py sweep.json pictures

needs Python 3.9 and matplotlib 3.6 (python3-matplotlib on Debian and Ubuntu), or newer ones. The same file gives the
same pictures, byte for byte, as long as matplotlib stays the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Iterator, NoReturn, Optional

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ImportError as missing:
    needed = "matplotlib (python3-matplotlib on Debian and Ubuntu)"
    print(f"plot.py: {sys.executable} cannot load {needed}: {missing}", file=sys.stderr)
    sys.exit(2)


class Refused(Exception):
    """An input that cannot be drawn; its text is the sentence to print."""


# --- What pave-replay wrote -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One policy at one rate."""

    policy: str
    preemptions: float
    blocks_short: float
    blocks_freed: float
    tokens_recomputed: float
    attainment: dict[float, float]  # percent of the requests, by bound in ms; NaN if there was none
    times_min: list[float]
    occupancy: list[float]  # percent of the pool
    parked: list[float]
    tpot_ms: list[float]  # percentiles 0 to 100; empty if no request had any


@dataclass(frozen=True)
class Point:
    """All policies at one rate."""

    rate: float
    setting: dict[str, Any]  # what has to be the same at all points
    runs: list[Run]


NAMES = ("trace", "model", "gpu")
COUNTS = ("requests", "pool_blocks", "tokens_per_block", "reserve_blocks", "watermark_percent")


def number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("something else is where a number belongs")
    return value


def name(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("something else is where a name belongs")
    return "".join(letter if letter.isprintable() else "?" for letter in value)


def run_of(run: dict[str, Any], pool_blocks: float) -> Run:
    percentiles = [value for value in run["tpot_percentiles_ms"] if value is not None]
    if len(percentiles) not in (0, 101):
        raise ValueError("tpot_percentiles_ms has not 101 values")
    if not run["timeline"]:
        raise ValueError("an empty timeline")
    shares = {bound["tpot_ms"]: bound["attainment"] for bound in run["slo"]}
    return Run(
        policy=name(run["policy"]),
        preemptions=number(run["preemptions"]),
        blocks_short=number(run["blocks_short"]),
        blocks_freed=number(run["blocks_reclaimed"]),
        tokens_recomputed=number(run["tokens_recomputed"]),
        attainment={number(at): math.nan if share is None else 100 * number(share) for at, share in shares.items()},
        times_min=[number(moment["time_s"]) / 60 for moment in run["timeline"]],
        occupancy=[100 * number(moment["held_blocks"]) / pool_blocks for moment in run["timeline"]],
        parked=[number(moment["parked"]) for moment in run["timeline"]],
        tpot_ms=[number(value) for value in percentiles],
    )


def points_of(document: Any) -> list[Point]:
    points = document["points"] if "points" in document else [document]
    if not points or not all(point["runs"] for point in points):
        raise Refused("has no runs")
    if not all("timeline" in run for point in points for run in point["runs"]):
        raise Refused("has no curves: run pave-replay with --curves")
    return [
        Point(
            rate=number(point["rate"]),
            setting={**{key: name(point[key]) for key in NAMES}, **{key: number(point[key]) for key in COUNTS}},
            runs=[run_of(run, number(point["pool_blocks"])) for run in point["runs"]],
        )
        for point in points
    ]


def load(path: Path) -> list[Point]:
    """The points of a file of pave-replay, by rate."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path} is not JSON: {error}") from error
    try:
        points = points_of(document)
    except Refused as error:
        raise Refused(f"{path} {error}") from error
    except KeyError as error:
        raise Refused(f"{path} is not what pave-replay writes: it has no {error}") from error
    except ValueError as error:
        raise Refused(f"{path} is not what pave-replay writes: {error}") from error
    except (TypeError, AttributeError, ArithmeticError) as error:
        raise Refused(f"{path} is not what pave-replay writes") from error
    for key in (*NAMES, *COUNTS):
        if any(point.setting[key] != points[0].setting[key] for point in points):
            raise Refused(f"{path} has more than one {key}: one trace and one sweep, over rates, can be drawn")
    return sorted(points, key=lambda point: point.rate)


def point_at(points: list[Point], rate: Optional[float]) -> Point:
    """The point at a rate; without one, the lowest at which a policy stops a tenth as often as there are requests."""
    if rate is None:
        busy = (p for p in points if any(10 * run.preemptions >= p.setting["requests"] for run in p.runs))
        return next(busy, points[-1])
    for point in points:
        if math.isclose(point.rate, rate):
            return point
    raise Refused(f"no run is at rate {rate:g}: there are {', '.join(f'{point.rate:g}' for point in points)}")


# --- How it looks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """How a policy is drawn in every picture; the colours stay apart under colour blindness."""

    colour: str
    dashes: Any
    width: float


# Drawn in this order: where lines coincide, thin and broken ones lie on a wide one.
STYLES = {
    "unlimited": Style("#5A5A5A", (0, (1, 1.2)), 1.6),
    "partial": Style("#008C5A", "-", 3.6),
    "whole": Style("#C24E00", "-", 1.9),
    "whole+cache+back": Style("#C2569B", (0, (5, 1.5, 1, 1.5)), 1.6),
    "whole+cache": Style("#0B5FB0", (0, (4, 2)), 1.8),
    "partial+cache": Style("#002E22", (0, (1, 2.5)), 1.8),
}
OTHER = Style("#000000", "-", 1.2)
INK = "#303030"

LOOK: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#909090",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "grid.color": "#E8E8E8",
    "svg.fonttype": "path",  # looks the same everywhere; the strings stay in it as comments
    "svg.hashsalt": "pave",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


# What to say where the name of a policy holds a word: a line a row.
NOTES = (
    {
        "whole": "whole: a stopped request loses all its blocks",
        "partial": "partial: only as many as are short",
        "unlimited": "unlimited: no memory limit",
    },
    {
        "+cache": "cache: lost content is found again until its block is reused",
        "+back": "back: stopped requests queue at the back",
    },
)


def style_of(policy: str) -> Style:
    return STYLES.get(policy, OTHER)


def in_drawing_order(runs: list[Run]) -> list[Run]:
    order = list(STYLES)
    return sorted(runs, key=lambda run: order.index(run.policy) if run.policy in order else -1)


def pale(colour: str) -> tuple[float, ...]:
    return tuple(0.3 * part + 0.7 for part in matplotlib.colors.to_rgb(colour))


def new_figure(title: str, setting: dict[str, Any], runs: list[Run], besides: str, height: float) -> Figure:
    """A figure with a title, and below it what was replayed and what the policies do."""
    trace, model, gpu, requests, blocks, tokens, reserve, watermark = [setting[key] for key in (*NAMES, *COUNTS)]
    shown = PurePath(trace).name if len(PurePath(trace).name) <= 40 else PurePath(trace).name[:39] + "…"
    lines = [f"{shown}, {requests:,} requests · {model} on {gpu}, {blocks:,} blocks of {tokens} tokens"]
    lines[0] += f", {reserve:,} in reserve" if reserve else ""
    lines[0] += f", watermark {watermark:g} %" if watermark else ""
    lines[0] += besides
    for notes in NOTES:
        lines.append(" · ".join(note for word, note in notes.items() if any(word in run.policy for run in runs)))
    figure = Figure(figsize=(8.4, height), facecolor="white")
    figure.text(0.02, 1 - 0.13 / height, title, fontsize=13, fontweight="bold", va="top")
    for row, line in enumerate(lines):
        figure.text(0.02, 1 - (0.43 + 0.17 * row) / height, line, fontsize=8, va="top", color="#606060" if row else INK)
    return figure


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """The places nearest to the wanted ones, from low to high, with at least `gap` between neighbours."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    clusters: list[tuple[float, int]] = []  # mean and size; pool adjacent violators of the order
    for rank, index in enumerate(order):
        clusters.append((wanted[index] - rank * gap, 1))
        while len(clusters) > 1 and clusters[-2][0] >= clusters[-1][0]:
            (mean, size), (other, others) = clusters.pop(), clusters.pop()
            clusters.append(((mean * size + other * others) / (size + others), size + others))
    means = [max(low, min(mean, high - (len(wanted) - 1) * gap)) for mean, size in clusters for _ in range(size)]
    places = {index: means[rank] + rank * gap for rank, index in enumerate(order)}
    return [places[index] for index in range(len(wanted))]


def draw_line(axes: Any, run: Run, x: list[float], y: list[float], **more: Any) -> None:
    style = style_of(run.policy)
    axes.plot(x, y, color=style.colour, linestyle=style.dashes, linewidth=style.width, **more)


# --- The pictures -----------------------------------------------------------------------------------------------------


def attainment(points: list[Point], bound: float) -> Figure:
    """The share of requests within a bound on TPOT, by rate, with the names of the lines at their ends."""
    title = f"Requests within {bound:g} ms per output token, by load"
    figure = new_figure(title, points[0].setting, points[0].runs, "", 4.6)
    axes = figure.add_axes((0.085, 0.125, 0.69, 0.66))
    ends: dict[str, tuple[float, float]] = {}
    for policy in (run.policy for run in in_drawing_order(points[-1].runs)):
        runs = [(point.rate, run) for point in points for run in point.runs if run.policy == policy]
        known = [(rate, run.attainment[bound]) for rate, run in runs if not math.isnan(run.attainment[bound])]
        if known:
            draw_line(axes, runs[0][1], *map(list, zip(*known)), marker="o", markersize=style_of(policy).width + 0.8)
            ends[policy] = known[-1]
    ends = dict(reversed(ends.items()))  # of equal lines the first gets the upper label
    for (policy, (x, y)), place in zip(ends.items(), spread([y for _, y in ends.values()], 6, 0, 100)):
        axes.annotate(
            policy,
            (x, y),
            xytext=(1.045, place),
            textcoords=axes.get_yaxis_transform(),
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style_of(policy).colour, "linewidth": 0.8, "relpos": (0, 0.5)},
            color=style_of(policy).colour,
            va="center",
        )
    if len(points) == 1:
        axes.set_xticks([points[0].rate])
    axes.set_ylim(0, 103)
    axes.set_xlabel("rate of the arrivals, as a multiple of the trace's own")
    axes.set_ylabel(f"requests with TPOT ≤ {bound:g} ms, %")
    return figure


def reclaimed(point: Point) -> Figure:
    """What each policy freed for what was short, and what it computed again."""
    runs = point.runs
    title = "Blocks freed for those that were short, and what had to be computed again"
    figure = new_figure(title, point.setting, runs, f" · rate {point.rate:g}", 1.9 + 0.52 * len(runs))
    bottom, top = 0.6 / figure.get_figheight(), 1 - 1.28 / figure.get_figheight()
    blocks = figure.add_axes((0.208, bottom, 0.457, top - bottom))
    tokens = figure.add_axes((0.695, bottom, 0.285, top - bottom), sharey=blocks)
    for row, run in enumerate(runs):
        draw_reclaimed(blocks, row, run)
        draw_recomputed(tokens, row, run)
    blocks.set_yticks(range(len(runs)), [run.policy for run in runs])
    for label, run in zip(blocks.get_yticklabels(), runs):
        label.set(color=style_of(run.policy).colour, fontweight="bold")
    blocks.set_ylim(len(runs) - 0.4, -0.6)
    blocks.set_title("blocks freed: dark as many as were short, pale the rest", fontsize=9.5, loc="left")
    tokens.set_title("tokens computed again", fontsize=9.5, loc="left")
    scale_bars(blocks, 1.8 * max(run.blocks_freed for run in runs), "blocks")
    scale_bars(tokens, 1.45 * max(run.tokens_recomputed for run in runs), "tokens")
    tokens.tick_params(axis="y", labelleft=False)
    return figure


def scale_bars(axes: Any, end: float, unit: str) -> None:
    thousands = end >= 10_000
    axes.set_xlim(0, max(1, end))
    axes.set_xlabel(f"{unit}, thousands" if thousands else unit)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000 if thousands else value:,g}")
    axes.tick_params(axis="y", length=0)
    axes.grid(False)


def draw_reclaimed(axes: Any, row: int, run: Run) -> None:
    colour = style_of(run.policy).colour
    axes.barh(row, run.blocks_freed, height=0.56, color=pale(colour))
    axes.barh(row, run.blocks_short, height=0.56, color=colour)
    if run.blocks_short:
        ratio = run.blocks_freed / run.blocks_short
        text = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.3g}"
        text += f" freed per block short\n{run.blocks_freed:,.0f} for {run.blocks_short:,.0f}"
    else:
        text = "never short"
    axes.annotate(text, (run.blocks_freed, row), (5, 0), textcoords="offset points", fontsize=8.5, va="center")


def draw_recomputed(axes: Any, row: int, run: Run) -> None:
    axes.barh(row, run.tokens_recomputed, height=0.56, color=style_of(run.policy).colour)
    text = f"{run.tokens_recomputed:,.0f}"
    axes.annotate(text, (run.tokens_recomputed, row), (5, 0), textcoords="offset points", fontsize=8.5, va="center")


def occupancy(point: Point) -> Figure:
    """How full the pool was and how many waited, over time, side by side on the same axes."""
    usual = ("whole", "whole+cache", "partial")
    asked = [run for policy in usual for run in point.runs if run.policy == policy]
    runs = asked or point.runs[:3]
    title = "How full the pool is, and how many stopped requests wait for blocks"
    seen = f" · rate {point.rate:g}, at {max(len(run.times_min) for run in runs)} moments"
    figure = new_figure(title, point.setting, runs, seen, 5.1)
    grid = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
    figure.subplots_adjust(left=0.1, right=0.98, bottom=0.11, top=0.725, hspace=0.16, wspace=0.1)
    figure.align_ylabels(grid[:, 0])
    for (full, waiting), run in zip(zip(*grid), runs):
        colour = style_of(run.policy).colour
        area = [run.times_min[0], *run.times_min, run.times_min[-1]], [0, *run.occupancy, 0]
        full.fill(*area, facecolor=pale(colour), edgecolor=colour, linewidth=0.9)
        some = [(time, count) for time, count in zip(run.times_min, run.parked) if count]
        bars = [(time, height) for time, count in some for height in (0, count, math.nan)]
        width = max(1.0, 540 / len(runs) / len(run.times_min))
        waiting.plot(*zip(*bars or [(0, 0)]), color=colour, linewidth=width, solid_capstyle="butt")
        full.set_title(run.policy, color=colour, fontsize=11, fontweight="bold", loc="left", pad=18)
        full.annotate(f"done after {run.times_min[-1]:.1f} min", (0, 1.035), xycoords="axes fraction", fontsize=8.5)
        waiting.set_xlabel("minutes since the first arrival")
    grid[0][0].set_ylabel("blocks held,\n% of the pool")
    grid[1][0].set_ylabel("stopped requests\nthat wait")
    grid[0][0].set_ylim(0, 1.05 * max([100.0, *(share for run in runs for share in run.occupancy)]))
    grid[1][0].set_ylim(0, 1.1 * max([1.0, *(count for run in runs for count in run.parked)]))
    grid[1][0].set_xlim(0)
    grid[1][0].yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return figure


def tpot(point: Point, bound: float) -> Figure:
    """The distribution of TPOT, with its bounds, and names beside the lines."""
    title = "How long requests take for each output token"
    figure = new_figure(title, point.setting, point.runs, f" · rate {point.rate:g}", 4.8)
    axes = figure.add_axes((0.085, 0.12, 0.895, 0.64))
    runs = [run for run in in_drawing_order(point.runs) if run.tpot_ms]
    bounds = sorted({limit for run in point.runs for limit in run.attainment})
    end = max(2 * bounds[-1], 1.25 * min((run.tpot_ms[50] for run in runs), default=0))
    for limit, place in zip(bounds, spread(bounds, min(0.068, 1 / len(bounds)) * end, 0, end)):
        colour, weight = (INK, "bold") if limit == bound else ("#A0A0A0", "normal")
        axes.axvline(limit, color=colour, linewidth=1, linestyle=(0, (2, 2)))
        axes.text(place, 102.5, f"{limit:g} ms", fontsize=9, fontweight=weight, ha="center")
    for run in runs:
        draw_line(axes, run, run.tpot_ms, list(range(101)))
    for label in place_labels(runs, bound, end):
        draw_label(axes, label)
    axes.set_xlim(0, end)
    axes.set_ylim(0, 101)
    axes.set_xlabel("time per output token (TPOT), ms")
    axes.set_ylabel("requests at or below, %")
    return figure


# --- Labels of curves that rise close together: percent upwards, milliseconds to the right ----------------------------

LINE = 6  # height of a line of text, percent
LETTER = 0.0108  # mean width of a letter, as a share of the picture's


@dataclass(frozen=True)
class Label:
    """The names of curves that all but coincide, and a pointer to them."""

    lines: list[tuple[str, str]]  # policy and text
    side: int  # of the curve: -1 left, 1 right
    curve: tuple[float, int]  # where the pointer begins
    text: tuple[float, int]  # where it ends, and the text begins
    left: float
    right: float
    reach: int  # of the text, up and down

    def cost(self, curves: list[list[float]], placed: list[Label], end: float) -> float:
        """How bad the place is: cut off, over another label or a curve, behind other curves, far away."""
        (start, pointed), (text, level), reach = self.curve, self.text, self.reach
        over = sum(
            self.left < other.right and other.left < self.right and abs(level - other.text[1]) < reach + other.reach
            for other in placed
        )
        over += sum(self.left < curve[level + reach] and curve[level - reach] < self.right for curve in curves)
        crossed = sum((curve[pointed] - start) * (curve[level] - text) < 0 for curve in curves)
        far = abs(level - (50 if start < end else 10)) + 100 * abs(text - start) / end
        return 100 * (self.left < 0 or self.right > end) + 50 * over + crossed + far / 1000


def alike(runs: list[Run], end: float) -> list[list[Run]]:
    """The runs by their medians, in groups whose curves cannot be told apart."""
    groups: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: run.tpot_ms[50]):
        first = groups[-1][0].tpot_ms if groups else [math.inf] * 101
        if all(abs(run.tpot_ms[level] - first[level]) < 0.006 * end for level in range(5, 96)):
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def labels_of(group: list[Run], curves: list[list[float]], bound: float, end: float) -> Iterator[Label]:
    """At every level, just beside each of the curves that are there; one that is out of the picture has an arrow."""
    own = group[0].tpot_ms
    beyond = " →" if own[LINE] > end else ""
    lines = [(run.policy, f"{run.policy}: {run.attainment[bound]:.0f} % ≤ {bound:g} ms{beyond}") for run in group]
    width = LETTER * end * max(len(text) for _, text in lines)
    reach = len(lines) * LINE // 2
    for level, side, drop in itertools.product(range(reach, 101 - reach), (-1, 1), (0, 8)):
        pointed = level + side * drop
        if not 0 <= pointed <= 100 or (own[pointed] > end and not beyond):
            continue
        start = min(own[pointed], end)
        for curve in curves:
            text = side * (max(side * start, side * curve[level + side * reach]) + 0.02 * end)
            left, right = sorted((text, text + side * width))
            yield Label(lines, side, (start, pointed), (text, level), left, right, reach)


def place_labels(runs: list[Run], bound: float, end: float) -> list[Label]:
    groups = alike(runs, end)
    curves = [group[0].tpot_ms for group in groups]
    placed: list[Label] = []
    for group in groups:
        labels = labels_of(group, curves, bound, end)
        placed.append(min(labels, key=lambda label: label.cost(curves, placed, end)))
    return placed


def draw_label(axes: Any, label: Label) -> None:
    colours = [style_of(policy).colour for policy, _ in label.lines]
    axes.plot(*zip(label.curve, label.text), color=colours[0], linewidth=0.8)
    axes.plot(*label.curve, "o", color=colours[0], markersize=4, clip_on=False)
    plain = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    align = {"ha": "left" if label.side > 0 else "right", "va": "center"}
    x, level = label.text
    for row, ((_, text), colour) in enumerate(zip(label.lines, colours)):
        middle = level + ((len(colours) - 1) / 2 - row) * LINE
        axes.text(x, middle, text, fontsize=9.5, color=colour, bbox=plain, **align)


# --- The command line -------------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """One sentence for a wrong command line, too."""

    def error(self, message: str) -> NoReturn:
        raise Refused(message)


def parser() -> Parser:
    found = Parser(description="Draws what pave-replay --sweep rate=... --curves --json FILE found, as SVGs.")
    found.add_argument("json", type=Path, metavar="FILE", help="what pave-replay wrote")
    found.add_argument("folder", type=Path, metavar="FOLDER", help="where the pictures go; made if it is not there")
    found.add_argument("--bound", type=float, default=75, metavar="MS", help="bound on TPOT; default: 75")
    found.add_argument(
        "--rate",
        type=float,
        metavar="X",
        help="rate of the pictures of one; default: the lowest at which a policy stops requests a tenth as often as "
        "there are any, else the highest",
    )
    return found


def check_bound(points: list[Point], bound: float) -> None:
    bounds = [set(run.attainment) for point in points for run in point.runs]
    common = sorted(set.intersection(*bounds))
    if bound not in common:
        raise Refused(f"no share is for TPOT ≤ {bound:g} ms: there are {', '.join(f'{one:g}' for one in common)}")


def pictures_of(points: list[Point], point: Point, bound: float) -> dict[str, Figure]:
    defaults: Any = {key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"}
    matplotlib.rcParams.update({**defaults, **LOOK})  # whatever the user's matplotlibrc says
    return {
        "attainment": attainment(points, bound),
        "reclaimed": reclaimed(point),
        "occupancy": occupancy(point),
        "tpot": tpot(point, bound),
    }


def draw(arguments: argparse.Namespace) -> None:
    points = load(arguments.json)
    check_bound(points, arguments.bound)
    pictures = pictures_of(points, point_at(points, arguments.rate), arguments.bound)
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for picture, figure in pictures.items():
            # Neither date nor version, so that equal pictures are equal files.
            figure.savefig(arguments.folder / f"{picture}.svg", metadata={"Date": None, "Creator": None})
    except OSError as error:
        raise Refused(f"cannot write into {arguments.folder}: {error.strerror}") from error


def main(words: Optional[list[str]] = None) -> int:
    try:
        draw(parser().parse_args(words))
    except Refused as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
