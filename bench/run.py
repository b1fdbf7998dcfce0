# SPDX-License-Identifier: Apache-2.0
"""Times the bundled kernels beside their peers: one run, interleaved, best of N.

usage: bench/run.py --build DIR --out DIR [--quick] [--repeat N] [--threads LIST]

Writes bench.json and bench.svg into --out and prints the table. FLOPs are 4 * D for each visible
pair. The limit of a prefill shape is the FMA peak, of a decode shape the read bandwidth: each round
takes a sample of everybody and one of the limit, as long as the first kernel's, and the best of one
is set against the best of the other. On several threads, calls that are not timed come before each
sample of a prefill shape, and some work before each of the limit (SETTLE). Ratios between kernels
are medians over interleaved pairs, with an interval that holds the median with 95 %. A peer that is
more than twice as slow as the fastest after three rounds is timed no further.
"""

import argparse
import ctypes as c
import json
import math
import os
import statistics
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy loads it: peers bring their own threads
with open("/proc/cpuinfo", encoding="ascii") as cpu:  # an OpenBLAS older than the processor takes
    flags = cpu.read()                                # it for one without vectors
if "avx512bw" in flags:
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
elif "avx2" in flags:
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")

import numpy as np  # noqa: E402

import abi  # noqa: E402
from attest_attention.abi import (  # noqa: E402
    ATTEST_CAUSAL, ATTEST_KEY_LENGTHS, ATTEST_MASK_BOOL, ATTEST_WINDOW, attest_problem)
import peers  # noqa: E402
import plot  # noqa: E402

PREFILL = [(1, 8, 8, 512, 512, 64), (1, 8, 8, 2048, 2048, 64), (1, 32, 8, 1024, 1024, 128),
           (1, 8, 8, 4096, 4096, 64), (1, 12, 12, 128, 128, 64), (1, 4, 4, 333, 333, 80)]
DECODE = [(1, 32, 8, 1, 4096, 128), (8, 32, 8, 1, 2048, 128)]
VARIANTS = [("window 256", (1, 8, 8, 4096, 4096, 64)), ("key padding", (1, 8, 8, 2048, 2048, 64)),
            ("random mask", (1, 8, 8, 2048, 2048, 64)), ("f16 K/V", DECODE[1])]
SLOW_ROUNDS = 3
SAMPLE, PAUSE = 0.01, 0.01  # seconds of calls in a sample, and of rest before it
# Seconds of calls between them: some kernels of Linux wake a thread on the processor of the one
# that woke it, and part them milliseconds later.
SETTLE = 0.006
CASE_SECONDS = 4  # a case has as many rounds as fit, if they are more than asked for
GROWTH_S, GROWTH_D = [256, 512, 1024, 2048, 4096, 8192, 16384], [32, 64, 128, 256]


class Case:
    """One problem: data, what is visible, and how much work that is."""

    def __init__(self, shape, kind="causal"):
        b, hq, hkv, sq, sk, d = self.shape = shape
        self.kind = kind
        rng = np.random.default_rng(7)
        storage = np.float16 if kind == "f16 K/V" else np.float32
        self.q = abi.settle(rng.standard_normal((b, hq, sq, d), np.float32))
        self.k, self.v = (abi.settle(rng.standard_normal((b, hkv, sk, d), np.float32).astype(storage))
                          for _ in range(2))
        self.lengths = np.full(b, sk * 3 // 4, np.int64)
        self.mask = rng.random((sq, sk)) < 0.5 if kind == "random mask" else None
        self.pairs = b * hq * int(self.full_mask_rows())
        self.is_decode = sq == 1
        # what the variant is compared with: the same without the window, or in binary32
        self.plain = Case(shape) if kind in ("window 256", "f16 K/V") else None

    def full_mask(self):
        _, _, _, sq, sk, _ = self.shape
        i, j = np.arange(sq)[:, None] + sk - sq, np.arange(sk)[None, :]
        if self.kind == "random mask":
            return self.mask
        seen = j <= i
        if self.kind == "window 256":
            seen &= j >= i - 255
        if self.kind == "key padding":
            seen = np.broadcast_to(j < self.lengths[0], seen.shape).copy()
        return seen

    def full_mask_rows(self):
        _, _, _, sq, sk, _ = self.shape
        if self.kind in ("causal", "f16 K/V"):
            return sq * (sk - sq) + sq * (sq + 1) // 2
        return self.full_mask().sum()

    def plain_causal(self):
        if self.kind != "causal":
            raise ValueError("this peer is timed on plain causal cases")

    def empty_output(self):
        return abi.settle(np.full(self.q.shape, np.nan, np.float32))

    @property
    def flops(self):
        return 4.0 * self.pairs * self.shape[5]

    @property
    def read_bytes(self):
        return self.k.nbytes + self.v.nbytes

    def problem(self, threads):
        o = self.empty_output()
        p = attest_problem(struct_bytes=c.sizeof(attest_problem), features=ATTEST_CAUSAL, threads=threads)
        p.q, p.k, p.v, p.o = (abi.tensor(x) for x in (self.q, self.k, self.v, o))
        if self.kind == "window 256":
            p.features |= ATTEST_WINDOW
            p.window_left, p.window_right = 255, -1
        elif self.kind == "key padding":
            p.features = ATTEST_KEY_LENGTHS
            p.key_lengths = abi.tensor(self.lengths)
        elif self.kind == "random mask":
            p.features = ATTEST_MASK_BOOL
            p.mask = abi.tensor(self.mask)
        return p, o


class Library:
    def __init__(self, build):
        self.lib = c.CDLL(os.path.join(build, "bench", "libbench.so"))
        self.lib.bench_fma_peak.restype = self.lib.bench_read_bandwidth.restype = c.c_double
        self.lib.bench_read_bandwidth.argtypes = [c.c_int, c.c_size_t]
        self.lib.bench_error.restype = c.c_double
        self.lib.bench_error.argtypes = [c.POINTER(attest_problem), c.c_char_p, c.c_double, c.c_int64]
        self.lib.bench_vector_name.restype = c.c_char_p

    def limit(self, case, threads, seconds):
        """GB/s for as much memory as a decode case reads, else GFLOP/s for about `seconds`."""
        if case.is_decode:
            self.empty_caches(threads)
        time.sleep(PAUSE)
        if case.is_decode:
            return self.lib.bench_read_bandwidth(threads, case.read_bytes)
        return self.lib.bench_fma_peak(threads, max(1, round(seconds / 1.2e-3)))

    def empty_caches(self, threads):
        self.lib.bench_empty_caches(threads)

    def error(self, problem, o, model, ulps, rows=24):
        problem.o = abi.tensor(o)
        return self.lib.bench_error(c.byref(problem), model.encode(), ulps, rows)


def timed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def sample(run, calls, settle=0.0):
    """Seconds a call. Threads of whoever ran before may still be spinning: they get time to park."""
    time.sleep(PAUSE)
    start = time.perf_counter()
    while time.perf_counter() < start + settle:
        run()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def contenders(case, threads, kernels, available):
    """name -> (own, callable, output getter, model)"""
    found = {}
    for kernel in kernels:
        if kernel.name != "flash" and case.flops > 5e7:
            continue  # the readable ones are here for scale, on the smallest shape
        problem, o = case.problem(threads)
        found[kernel.name] = (True, kernel.bind(problem), lambda o=o: o, kernel.model,
                              kernel.descriptor.exp_ulps, kernel)
    for name, make in available.items():
        try:
            run = make(case, threads)
            _, result = timed(run)
            getter = getattr(run, "result", None) or (lambda r=result: np.asarray(r))
            found[name] = (False, run, getter, "f32-fastexp", 0.0, None)
        except Exception as why:  # pylint: disable=broad-except
            if case.kind == "causal":
                print(f"# {name} left out of {case.shape}: {why}", file=sys.stderr)
    return found


def interval(ratios):
    """Median, and the order statistics that hold it with at least 95 %."""
    ordered, n = sorted(ratios), len(ratios)
    k, mass = 0, 0.0
    while k < n and mass + math.comb(n, k) / 2.0 ** n <= 0.025:
        mass += math.comb(n, k) / 2.0 ** n
        k += 1
    k = max(k, 1)
    return statistics.median(ordered), ordered[k - 1], ordered[n - k]


class Race:
    """Samples of everybody who runs a case, and of the machine's limit, in turn."""

    def __init__(self, case, threads, found, library):
        self.case, self.threads, self.library = case, threads, library
        self.runs = {name: run for name, (_, run, *_) in found.items()}
        self.rivals = [name for name in found if not found[name][0]]
        self.limits, self.times, self.calls = [], {}, {}
        if case.plain:
            problem, self.plain_output = case.plain.problem(threads)
            self.runs["plain"] = found["flash"][-1].bind(problem)
        for name, run in self.runs.items():
            run()  # the first call touches its memory and starts its threads
            self.calls[name] = 1 if case.is_decode else max(1, round(SAMPLE / sample(run, 1, SETTLE)))
            self.times[name] = []
        self.racing = list(self.runs)

    def round(self):
        for name in self.racing:
            settle = SETTLE if self.threads > 1 and not self.case.is_decode else 0
            if self.case.is_decode:  # K and V are to come from memory
                self.library.empty_caches(self.threads)
            self.times[name].append(sample(self.runs[name], self.calls[name], settle))
        seconds = self.times["flash"][-1] * self.calls["flash"]
        self.limits.append(self.library.limit(self.case, self.threads, seconds))

    def drop_the_slow(self):
        fastest = min((min(self.times[name]) for name in self.rivals), default=0)
        self.racing = [name for name in self.racing
                       if name not in self.rivals or min(self.times[name]) <= 2 * fastest]

    def run(self, repeat):
        for n in range(SLOW_ROUNDS):
            self.round()
        self.drop_the_slow()
        end = time.monotonic() + CASE_SECONDS
        while len(self.limits) < repeat or time.monotonic() < end:
            self.round()

    def ratio(self, name, own):
        """How many times as fast `own` is as `name`: median, and its interval."""
        return interval([other / mine for other, mine in zip(self.times[name], self.times[own])])


def measure(case, threads, found, library, repeat):
    race = Race(case, threads, found, library)
    race.run(repeat)
    best_peer = min(race.rivals, key=lambda name: min(race.times[name]), default=None)
    rows = []
    for name, (own, _, getter, model, ulps, _) in found.items():
        best = min(race.times[name])
        problem, _ = case.problem(threads)
        o = np.ascontiguousarray(getter())
        row = {"shape": list(case.shape), "kind": case.kind, "threads": threads, "kernel": name,
               "own": own, "seconds": best, "samples": len(race.times[name]),
               "gflops": case.flops / best * 1e-9,
               "gbytes": case.read_bytes / best * 1e-9 if case.is_decode else None,
               "limit": max(race.limits),
               "error_over_radius": library.error(problem, o, model, ulps)}
        row["fraction_of_limit"] = row["gbytes" if case.is_decode else "gflops"] / row["limit"]
        strict = library.error(problem, o, "f32-strict", 0.0)
        row["tightest_model"] = ("f32-strict" if strict <= 1 else
                                 model if row["error_over_radius"] <= 1 else None)
        if own and best_peer:
            middle, *ends = race.ratio(best_peer, name)
            row.update(ratio_to_best_peer=middle, ratio_interval=ends, best_peer=best_peer)
        if name == "flash" and case.plain:
            middle, *ends = race.ratio("plain", name)
            row.update(ratio_to_plain=middle, ratio_to_plain_interval=ends)
        rows.append(row)
    return rows


def best_limits(rows):
    """The highest of each kind in the run."""
    found = {}
    for row in rows:
        decode = row["gbytes"] is not None
        key = ("read", "GB/s") if decode else ("fma", "GFLOP/s")
        found[key + (row["threads"],)] = max(found.get(key + (row["threads"],), 0), row["limit"])
    return [{"what": what, "threads": threads, "value": value, "unit": unit}
            for (what, unit, threads), value in sorted(found.items())]


def growth(kernel, library, sizes, make_shape, repeat):
    points = []
    for size in sizes:
        case = Case(make_shape(size))
        problem, _ = case.problem(1)
        run = kernel.bind(problem)
        best = min(timed(run)[0] for _ in range(repeat))
        points.append({"size": size, "seconds": best, "gflops": case.flops / best * 1e-9})
    x, y = (np.log([p[k] for p in points]) for k in ("size", "seconds"))
    half = len(points) // 2
    return {"points": points, "slope": float(np.polyfit(x[half:], y[half:], 1)[0])}


def table(rows):
    head = f"{'shape':28} {'kind':12} thr {'kernel':24} {'GFLOP/s':>8} {'of limit':>8} " \
           f"{'to best peer':>22} {'err/radius':>10} model"
    lines = [head]
    for row in rows:
        ratio = ""
        if row.get("ratio_to_best_peer"):
            low, high = row["ratio_interval"]
            ratio = f"{row['ratio_to_best_peer']:.2f} [{low:.2f}, {high:.2f}]"
        part = f"{row['fraction_of_limit']:.3f}" if row["fraction_of_limit"] else ""
        lines.append(f"{str(tuple(row['shape'])):28} {row['kind']:12} {row['threads']:3} "
                     f"{row['kernel']:24} {row['gflops']:8.1f} {part:>8} {ratio:>22} "
                     f"{row['error_over_radius']:10.3f} {row['tightest_model']}")
    return "\n".join(lines)


def summary(rows, curves):
    """What the table says of flash, a line a question."""
    flash = [row for row in rows if row["kernel"] == "flash"]
    ratios = [row["ratio_to_best_peer"] for row in flash if row.get("ratio_to_best_peer")]
    if ratios:
        rivals = len({row["kernel"] for row in rows if not row["own"]})
        yield (f"flash to the best of {rivals} peers, in speed: least {min(ratios):.2f}, "
               f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    for threads in sorted({row["threads"] for row in flash}):
        here = [row for row in flash if row["threads"] == threads]
        on = f"{threads} thread{'s' if threads > 1 else ''}"
        for d in (64, 128):
            parts = [row["fraction_of_limit"] for row in here
                     if row["kind"] == "causal" and row["shape"][3] >= 1024 and row["shape"][5] == d]
            if parts:
                yield f"prefill, S >= 1024, D = {d}, {on}: at least {min(parts):.2f} of the FMA peak"
        for row in here:
            if row["kind"] == "causal" and row["shape"][3] == 1:
                yield (f"decode {tuple(row['shape'])}, {on}: {row['fraction_of_limit']:.2f} of the "
                       "read bandwidth")
            elif row.get("ratio_to_plain"):
                low, high = row["ratio_to_plain_interval"]
                if row["kind"] == "window 256":
                    yield (f"window 256, {on}: {1 / row['ratio_to_plain']:.3f} "
                           f"[{1 / high:.3f}, {1 / low:.3f}] of the time of full causal")
                else:
                    peak = max(r["limit"] for r in here if r["shape"][3] > 1)
                    part = row["gflops"] / peak
                    yield (f"f16 K/V, {on}: {row['ratio_to_plain']:.2f} [{low:.2f}, {high:.2f}] "
                           f"times as fast as f32 K/V, and {part:.2f} of the FMA peak; at the peak "
                           f"it would be {row['ratio_to_plain'] / part:.2f} times as fast")
    for axis, curve in curves.items():
        yield f"time grows as {axis}^{curve['slope']:.2f} at the upper end"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    library = Library(build)
    kernels = [abi.Kernel(os.path.join(build, "impl", f"lib{name}.so"))
               for name in ("flash", "tiled", "naive")]
    available = {}
    for name, factory in peers.PEERS.items():
        try:
            available[name] = factory(build)
        except Exception as why:  # pylint: disable=broad-except
            print(f"# {name}: not installed ({why})", file=sys.stderr)
    if len(available) < len(peers.PEERS):
        print("# ci/deps bench installs the peers that are missing", file=sys.stderr)
    cases = [Case(shape) for shape in PREFILL + DECODE] + [Case(s, k) for k, s in VARIANTS]
    if options.quick:
        cases = [Case(PREFILL[0]), Case(PREFILL[4]), Case(PREFILL[5]), Case(DECODE[0])]
    repeat = options.repeat or (9 if options.quick else 15)
    rows = []
    for threads in (int(t) for t in options.threads.split(",")):
        for case in cases:
            found = contenders(case, threads, kernels, available)
            here = measure(case, threads, found, library, repeat)
            print(f"# {case.shape} {case.kind}, {threads} threads: " +
                  ", ".join(f"{r['kernel']} {r['gflops']:.1f}" for r in here), file=sys.stderr)
            rows += here
    flash = kernels[0]
    last = 4 if options.quick else len(GROWTH_S)
    report = {
        "vector": library.lib.bench_vector_name().decode(),
        "limits": best_limits(rows),
        "rows": rows,
        "growth": {"S": growth(flash, library, GROWTH_S[:last], lambda s: (1, 1, 1, s, s, 64), 5),
                   "D": growth(flash, library, GROWTH_D, lambda d: (1, 1, 1, 2048, 2048, d), 5)},
    }
    with open(os.path.join(options.out, "bench.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    print(table(rows))
    for limit in report["limits"]:
        print(f"limit {limit['what']}, {limit['threads']} threads: {limit['value']:.1f} {limit['unit']}")
    print("\n".join(summary(rows, report["growth"])))
    plot.draw(report, os.path.join(options.out, "bench.svg"))


if __name__ == "__main__":
    main()
