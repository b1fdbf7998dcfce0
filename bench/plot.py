# SPDX-License-Identifier: Apache-2.0
"""bench.json as a picture: each kernel's part of the machine's limit, and growth with S and D."""

OWN, PEERS = ("#0b4f9c", "#5b9bd5", "#b9d4ee"), ("#e07b39", "#7aa95c", "#c44e52", "#937db8",
                                                 "#a5826b", "#d8a0c4", "#999999", "#c7b446")


def name_case(shape, kind):
    b, hq, hkv, sq, sk, d = shape
    heads = str(hq) if hq == hkv else f"{hq}/{hkv}"
    return f"B {b}, H {heads}\nS {sk if sq == sk else f'{sq}/{sk}'}\nD {d}\n{kind}"


def draw_speed(axis, rows, threads):
    """Bars of one thread count: own kernels first, the speed of the first written on it."""
    cases = list(dict.fromkeys((tuple(r["shape"]), r["kind"]) for r in rows))
    own = list(dict.fromkeys(r["kernel"] for r in rows if r["own"]))
    names = own + list(dict.fromkeys(r["kernel"] for r in rows if not r["own"]))
    colours = dict(zip(own, OWN)) | dict(zip(names[len(own):], PEERS))
    for x, case in enumerate(cases):
        here = {r["kernel"]: r for r in rows if (tuple(r["shape"]), r["kind"]) == case}
        shown = [name for name in names if name in here]
        width = 0.84 / len(shown)
        for n, name in enumerate(shown):
            part = here[name]["fraction_of_limit"]
            axis.bar(x + (n + 0.5) * width - 0.42, part, width, color=colours[name])
            if n == 0:
                axis.text(x + 0.5 * width - 0.42, part + 0.01, f"{here[name]['gflops']:.0f}",
                          ha="center", fontsize=7)
    axis.set_xticks(range(len(cases)), [name_case(*case) for case in cases], fontsize=7.5)
    axis.set_xlim(-0.6, len(cases) - 0.4)
    axis.set_ylim(0, 1)
    axis.grid(axis="y", linewidth=0.4)
    axis.set_axisbelow(True)
    axis.set_ylabel("part of the limit")
    axis.set_title(f"{threads} thread{'s' if threads > 1 else ''}: part of the FMA peak, where one "
                   "query decodes of the read bandwidth; GFLOP/s on the first bar",
                   fontsize=9, loc="left")
    return [(name, colours[name]) for name in names]


def draw(report, path):
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        print("# no matplotlib: no picture (ci/deps bench installs it)")
        return
    if tuple(map(int, matplotlib.__version__.split(".")[:2])) < (3, 7):  # legends outside the axes
        print("# matplotlib is older than 3.7: no picture (ci/deps bench installs a newer one)")
        return
    counts = sorted({row["threads"] for row in report["rows"]})
    figure = pyplot.figure(figsize=(13, 3.6 * len(counts) + 3.4), layout="constrained")
    grid = figure.add_gridspec(len(counts) + 1, 2)
    for n, threads in enumerate(counts):
        rows = [row for row in report["rows"] if row["threads"] == threads]
        key = draw_speed(figure.add_subplot(grid[n, :]), rows, threads)
    figure.legend([pyplot.Rectangle((0, 0), 1, 1, color=colour) for _, colour in key],
                  [name for name, _ in key], loc="outside upper center", ncols=5, fontsize=8)
    for n, (name, curve) in enumerate(report["growth"].items()):
        axis = figure.add_subplot(grid[len(counts), n])
        sizes = [p["size"] for p in curve["points"]]
        axis.loglog(sizes, [p["seconds"] for p in curve["points"]], marker="o", color=OWN[0])
        axis.set_xticks(sizes, sizes, fontsize=7.5)
        axis.minorticks_off()
        axis.grid(linewidth=0.4)
        axis.set_xlabel(name)
        axis.set_ylabel("seconds")
        axis.set_title(f"flash, one head, one thread: time grows as {name}^{curve['slope']:.2f}",
                       fontsize=9, loc="left")
    figure.savefig(path)
