# SPDX-License-Identifier: Apache-2.0
"""bench.json as a picture: speed by shape, and growth with S and D."""


def draw(report, path):
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        print("# no matplotlib: no picture")
        return
    counts = sorted({row["threads"] for row in report["rows"]})
    figure, axes = pyplot.subplots(len(counts) + 1, 1, figsize=(12, 4.5 * (len(counts) + 1)))
    for axis, threads in zip(axes, counts):
        rows = [row for row in report["rows"] if row["threads"] == threads]
        labels = list(dict.fromkeys((tuple(r["shape"]), r["kind"]) for r in rows))
        names = list(dict.fromkeys(r["kernel"] for r in rows))
        for n, name in enumerate(names):
            found = {(tuple(r["shape"]), r["kind"]): r["gflops"] for r in rows if r["kernel"] == name}
            axis.bar([x + 0.8 * n / len(names) for x in range(len(labels))],
                     [found.get(label, 0) for label in labels], 0.8 / len(names), label=name)
        axis.set_xticks([x + 0.4 for x in range(len(labels))])
        axis.set_xticklabels(["%s\n%s" % (",".join(map(str, s)), k) for s, k in labels], fontsize=6)
        for limit in report["limits"]:
            if limit["what"] == "fma" and limit["threads"] == threads:
                axis.axhline(limit["value"], color="black", linewidth=0.7)
        axis.set_ylabel(f"GFLOP/s, {threads} threads")
        axis.legend(fontsize=6)
    for name, curve in report["growth"].items():
        axes[-1].loglog([p["size"] for p in curve["points"]], [p["seconds"] for p in curve["points"]],
                        marker="o", label=f"time against {name}, slope {curve['slope']:.2f}")
    axes[-1].set_ylabel("seconds, one head, one thread")
    axes[-1].legend()
    figure.tight_layout()
    figure.savefig(path)
