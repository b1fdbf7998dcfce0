#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw.py BUILD: the pictures of the README, of a kernel with one mistake. make pictures runs it."""

import html
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS, MOST_LINES = 100, 26
COLORS = {"31": "#ff7b72", "32": "#56d364", "33": "#e3b341"}


def terminal(text, path):
    """Lines with escape sequences as an SVG."""
    lines = text.splitlines()[:MOST_LINES]
    height = 18 * len(lines) + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" '
           f'viewBox="0 0 900 {height}" role="img"><title>attest on a terminal</title>',
           f'<rect width="900" height="{height}" rx="6" fill="#0d1117"/>',
           '<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" '
           'fill="#e6edf3">']
    for number, line in enumerate(lines):
        parts, color = [], None
        for piece in re.split(r"(\033\[\d+m)", line):
            code = re.fullmatch(r"\033\[(\d+)m", piece)
            if code:
                color = COLORS.get(code.group(1))
            elif piece:
                fill = f' fill="{color}"' if color else ""
                kept = html.escape(piece).replace(" ", "&#160;")
                parts.append(f"<tspan{fill}>{kept}</tspan>")
        out.append(f'<text x="16" y="{28 + 18 * number}">{"".join(parts)}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</g>", "</svg>", ""]))


def main(build):
    attest = os.path.join(build, "attest")
    kernel = os.path.join(build, "mutants", "tiled-causal-end-of-first-row.so")
    with tempfile.TemporaryDirectory() as folder:
        shown = os.path.join(folder, "libmykernel.so")
        os.symlink(os.path.abspath(kernel), shown)
        page, report = os.path.join(folder, "page.html"), os.path.join(folder, "report.json")
        subprocess.run([attest, "certify", shown, "--level", "smoke", "--quiet", "--json", report],
                       stdout=subprocess.DEVNULL, check=False)
        with open(report, encoding="utf-8") as file:
            text = file.read().replace(shown, "./libmykernel.so")
        with open(report, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([attest, "report", report, "--html", page], stdout=subprocess.DEVNULL,
                       check=False)
        said = subprocess.run(
            ["script", "-qec", f"{attest} report {report}", "/dev/null"], capture_output=True,
            text=True, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "COLUMNS": str(COLUMNS), "NO_COLOR": ""}).stdout
        prompt = "$ attest certify ./libmykernel.so\n"
        terminal(prompt + said.replace("\r", "").lstrip("\n"), os.path.join(HERE, "terminal.svg"))
        subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                        "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                        "--window-size=1000,1250",
                        "--screenshot=" + os.path.join(HERE, "report.png"), "file://" + page],
                       stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
