# SPDX-License-Identifier: Apache-2.0
"""Random problems in the language of trial.h."""

import random


def size(rng, most):
    return rng.choice([1, 2, 3, rng.randint(1, most), rng.randint(1, most)])


def random_line(seed):
    rng = random.Random(seed)
    batch, kv_heads = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, 3])
    heads = kv_heads * rng.choice([1, 1, 2, 3])
    queries, keys = rng.choice([0, *[size(rng, 20)] * 12]), rng.choice([0, *[size(rng, 70)] * 12])
    line = {"b": batch, "hq": heads, "hkv": kv_heads, "sq": queries, "sk": keys, "d": size(rng, 24),
            "dv": rng.choice([0, *[size(rng, 24)] * 12]), "seed": rng.randint(1, 999)}

    def maybe(chance, key, value):
        if rng.random() < chance:
            line[key] = value

    def lengths(low, high):
        return "/".join(str(rng.randint(low, high)) for _ in range(batch))

    kinds = ["f32", "f16", "bf16"]
    line["type"] = rng.choice(["f32", *kinds])
    maybe(0.2, "kv", rng.choice(kinds))
    maybe(0.2, "o", rng.choice(kinds))
    maybe(0.4, "causal", 1)
    maybe(0.3, "lse", 0)
    maybe(0.3, "offsets", lengths(-5, keys + 3))
    maybe(0.3, "lengths", lengths(0, keys))
    maybe(0.3, "window", f"{rng.randint(-1, keys)}/{rng.randint(-1, keys)}")
    if "window" not in line:
        maybe(0.2, "wsize", rng.randint(1, keys + 2))
    if rng.random() < 0.5:
        line["mask"] = rng.choice(["bool", "add"])
        rank = rng.randint(0, 4)
        shape = "".join(rng.choice([axis, axis, "1"]) for axis in "bhqk"[4 - rank:])
        line["mshape"] = shape or "-"
        line["mvalues"] = rng.choice(["random", "sparse", "tri", "head", "none", "bytes", "lowest"])
        maybe(0.3, "mtype", line["type"])
        if line["mvalues"] == "lowest" and line.get("mtype", "f32") != "f32":
            line["mvalues"] = "random"
        if line["mask"] == "bool" and line["mvalues"] == "lowest":
            line["mvalues"] = "random"
    maybe(0.3, "scale", rng.choice([0, -0.5, 0.3, 2]))
    maybe(0.2, "softcap", rng.choice([0.5, 3, 30]))
    maybe(0.2, "sinks", rng.choice([1, 30, "-inf"]))
    maybe(0.2, "slopes", rng.choice([1, 2]))
    maybe(0.4, "layout", rng.choice(["padded", "tokens", "spread", "repeat"]))
    maybe(0.2, "amp", rng.choice([0.01, 8, 60]))
    maybe(0.2, "vamp", rng.choice([0.001, 100]))
    maybe(0.2, "late", rng.choice([4, 16]))
    if queries and keys and line["dv"]:
        maybe(0.2, "bad", rng.choice("qkv"))
        if "bad" in line:
            line["at"] = rng.randint(0, keys - 1)
            maybe(0.5, "badvalue", rng.choice(["inf", "-inf"]))
    return " ".join(f"{key}={value}" for key, value in line.items())


if __name__ == "__main__":
    import sys
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print(random_line(number))
