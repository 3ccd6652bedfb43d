#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the table "Rays beside their peers" of docs/performance.md into docs/images/rays_beside_peers.svg.

plot_rays.py [--check]: with --check, draws nothing; exits with 1 if the image was drawn from another table. Needs matplotlib
to draw.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
image = root / "docs" / "images" / "rays_beside_peers.svg"


def table():
    """The peers' names, and a dictionary: row -> rates, of the rows of incoherent rays and of rows of pixels in one level."""
    page = (root / "docs" / "performance.md").read_text()
    section = page[page.index("### Rays beside their peers"):]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    rows = {cells[0]: [float(cell) if cell else 0.0 for cell in cells[1:]] for cells in lines[2:]
            if re.match(r"(incoherent|rows):", cells[0])}
    return lines[0][1:], rows


names, rows = table()
assert len(rows) == 6, rows
facts = "; ".join(f"{row} {rates}" for row, rates in rows.items())
if "--check" in sys.argv:
    if facts not in image.read_text():
        sys.exit(f"{image}: not drawn from the table in docs/performance.md; run bench/plot_rays.py")
    sys.exit()

import matplotlib  # noqa: E402

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "raylift", "font.size": 9})
import matplotlib.pyplot as plot  # noqa: E402

colors = {"raylift": "#2a6fb0", "cuBQL": "#e09f3e", "cuBQL, tuned": "#f2cc8f", "OptiX 9.0": "#8a8a8a"}
figure, panels = plot.subplots(1, 2, figsize=(9, 2.6), layout="constrained")
for panel, kind, title in zip(panels, ("incoherent", "rows"), ("incoherent rays", "camera rays, row by row")):
    shown = {row.split(": ")[1]: rates for row, rates in rows.items() if row.startswith(kind)}
    present = [n for n in range(len(names)) if any(rates[n] for rates in shown.values())]
    for slot, n in enumerate(present):
        places = [k + (slot - 1) * 0.27 for k in range(len(shown))]
        rates = [rates[n] / 1000 for rates in shown.values()]
        bars = panel.bar(places, rates, 0.25, label=names[n], color=colors[names[n]])
        panel.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
    panel.set_title(f"{title}, billions a second", fontsize=9)
    panel.set_xticks(range(len(shown)), shown)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=8)
figure.savefig(image, metadata={"Date": None, "Creator": None, "Description": facts}, facecolor="white")
