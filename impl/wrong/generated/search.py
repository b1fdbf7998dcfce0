# SPDX-License-Identifier: Apache-2.0
"""Problems on which a given defect should show: a directed search that knows the defect.

Candidates are lines of trial.h. Sizes start at the smallest that meet the trigger; options are as the
trigger and the effect ask, others mostly off; data are such as the effect needs. Nothing here looks at
the plan of the certifier or shares code with it.
"""

import math
import random

from defects import MOST_WORK, least_sizes, work

ROUNDS, EACH = 8, 6
HIDES = ("causal", "window", "lengths", "mask_bool", "mask_add")
NEEDS_HIDING = ("LEAK_V", "LEAK_K", "EMPTY_ROW_NAN", "EMPTY_ROW_FIRST")
TYPES = {1: "f32", 2: "f16", 3: "bf16"}
# Axes on which an effect does nothing unless there are so many.
WANTS = {"NEXT_KV_HEAD": ("kv_heads", 2), "KV_HEAD_MODULO": ("kv_heads", 2), "NEXT_ENTRY": ("batch", 2),
         "MASK_HEAD_ZERO": ("q_heads", 2), "MASK_ENTRY_ZERO": ("batch", 2),
         "LENGTH_OF_ENTRY_ZERO": ("batch", 2), "ALIBI_SLOPE_HEAD": ("q_heads", 2),
         "SINK_HEAD": ("q_heads", 2), "SHIFT_ROW": ("queries", 2), "MASK_ROW_BEFORE": ("queries", 2),
         "Q_BATCH_STRIDE": ("batch", 2), "V_HEAD_STRIDE": ("kv_heads", 2),
         "K_TOKEN_STRIDE": ("keys", 2), "MASK_ROW_STRIDE": ("queries", 2)}
TILED = {"TAIL_DROPPED": "keys", "STALE_MAX": "keys", "SUM_NOT_RESCALED": "keys",
         "OUTPUT_NOT_RESCALED": "keys", "HEAD_TAIL_DROPPED": "head_size", "VALUE_TAIL_ZERO": "value_size"}
SMALL = {"batch": (1, 2), "queries": (1, 6), "keys": (2, 24), "head_size": (1, 9), "value_size": (1, 9),
         "group": (1, 3), "kv_heads": (1, 3)}


def meets(defect, name, value):
    return all(c.holds(value) for c in defect.conditions if c.subject.name == name)


def draw_sizes(rng, defect):
    least = least_sizes(defect)
    sizes = {axis: max(least[axis], rng.randint(*SMALL[axis])) for axis in SMALL}
    axis, count = WANTS.get(defect.effect.name, ("batch", 1))
    if axis in sizes:
        sizes[axis] = max(sizes[axis], count)
    if defect.effect.name in TILED:
        axis = TILED[defect.effect.name]
        sizes[axis] = max(sizes[axis], defect.tile + rng.randint(1, defect.tile))
    if defect.effect.name == "SUM_BF16":
        sizes["keys"] = max(sizes["keys"], rng.choice([300, 40]))
    if defect.effect.name == "KV_HEAD_MODULO":
        sizes["group"] = max(sizes["group"], 2)
    for axis in ("batch", "queries", "keys", "head_size", "value_size", "group"):
        while not meets(defect, axis, sizes[axis]):
            sizes[axis] += 1
    want = max(least["q_heads"], 2 if WANTS.get(defect.effect.name, ("", 0))[0] == "q_heads" else 1)
    for _ in range(4096):
        heads = sizes["kv_heads"] * sizes["group"]
        if heads >= want and meets(defect, "q_heads", heads):
            break
        if rng.random() < 0.5 or not meets(defect, "group", sizes["group"] + 1):
            sizes["kv_heads"] += 1
        else:
            sizes["group"] += 1
    return {**sizes, "q_heads": sizes["kv_heads"] * sizes["group"]}


def low_of(defect, name):
    return max([c.low for c in defect.conditions if c.subject.name == name] or [0])


def log_uniform(rng, least, most):
    return least if most <= least else int(math.exp(rng.uniform(math.log(max(least, 1)),
                                                                math.log(most + 1))))


def spread_list(rng, least, most, count):
    values = [rng.randint(min(least, most), most) for _ in range(min(count, 6))]
    if count > 1:
        values[-1] = most if rng.random() < 0.5 else values[-1]
    return "/".join(str(v) for v in values)


def draw_options(rng, defect, sizes, often):
    names = ("causal", "offsets", "window", "lengths", "mask_bool", "mask_add", "scale", "softcap",
             "sinks", "alibi", "lse")
    on = {}
    for name in names:
        settled = defect.on(name)
        on[name] = settled if settled is not None else int(rng.random() < often)
    if defect.on("scale_negative"):
        on["scale"] = 1
    if defect.on("lse") is None:
        on["lse"] = rng.randint(0, 1)
    if on["mask_bool"] and on["mask_add"]:
        free = "mask_add" if defect.on("mask_add") is None else "mask_bool"
        on[free] = 0
    if defect.effect.name in NEEDS_HIDING and not any(on[name] for name in HIDES):
        open_ones = [name for name in HIDES if defect.on(name) is None]
        if open_ones:
            on[rng.choice(open_ones)] = 1
    return on


def far(defect):
    """How many keys some row must see, or be away from."""
    return max(low_of(defect, name) for name in ("visible", "distance", "key", "length"))


def option_fields(rng, defect, sizes, on):
    keys, queries, batch = sizes["keys"], sizes["queries"], sizes["batch"]
    empty = defect.effect.name.startswith("EMPTY_ROW")
    line = {"lse": on["lse"]}
    if on["causal"]:
        line["causal"] = 1
    if on["offsets"]:
        low = -queries if empty else 0
        line["offsets"] = spread_list(rng, low, rng.choice([keys, keys, max(keys - queries, 0)]), batch)
    if on["window"]:
        whole = rng.random() < 0.3
        line["window"] = "{}/{}".format(
            log_uniform(rng, min(far(defect) + 1, keys), keys) if not whole else rng.randint(1, keys),
            rng.choice([-1, 0, log_uniform(rng, 1, keys),
                        log_uniform(rng, min(far(defect) + 1, keys), keys)]))
    if on["lengths"]:
        low = 0 if empty else max(low_of(defect, "length"), low_of(defect, "visible"),
                                  low_of(defect, "key") + (rng.random() < 0.5), 1)
        residue = [c for c in defect.conditions if c.subject.name == "length" and c.modulus]
        values = [v for v in range(low, keys + 1) if not residue or residue[0].holds(v)] or [keys]
        line["lengths"] = "/".join(str(rng.choice(values)) for _ in range(min(batch, 6)))
        if empty and rng.random() < 0.7:
            line["lengths"] = "0/" + line["lengths"]
    if on["mask_bool"] or on["mask_add"]:
        line["mask"] = "bool" if on["mask_bool"] else "add"
        elements = batch * sizes["q_heads"] * queries * keys
        small = ["bhqk", "bhqk", "b1qk", "1hqk", "qk", "hqk"] if elements <= 2**24 else ["qk", "k"]
        if defect.effect.name == "MASK_ENTRY_ZERO":
            small = ["bhqk", "b1qk", "b11k"]
        elif defect.effect.name == "MASK_HEAD_ZERO":
            small = ["bhqk", "hqk", "h1k"]
        elif defect.effect.name in ("MASK_ROW_BEFORE", "MASK_ROW_STRIDE"):
            small = ["bhqk", "qk", "11qk"]
        line["mshape"] = rng.choice(small)
        line["mvalues"] = rng.choice(["none", "sparse"]) if empty else rng.choice(
            ["random", "random", "sparse", "tri", "head"])
    if on["scale"]:
        negative = defect.on("scale_negative") or rng.random() < 0.3
        line["scale"] = rng.choice([-0.7, -0.31, -1.9] if negative else [0.31, 0.77, 1.9, 0.05])
    if on["softcap"]:
        line["softcap"] = rng.choice([0.7, 3.3, 21])
    if on["sinks"]:
        line["sinks"] = rng.choice([1, 3])
    if on["alibi"]:
        line["slopes"] = rng.choice([1, 2])
    return line


def value_fields(rng, defect, keys):
    line = {"seed": rng.randint(1, 9999), "normal": rng.randint(0, 1)}
    name = defect.effect.name
    amp, late = rng.choice([1, 1, 1, 4, 30]), rng.choice([1, 1, 1, 8])
    if name in ("STALE_MAX", "SCORE_F16"):
        amp, late = rng.choice([60, 400, 30000]), rng.choice([1, 8, 50])
    if low_of(defect, "score_size") > 1:
        amp = low_of(defect, "score_size") * rng.choice([0.2, 0.5, 1, 3])
    if defect.on("negative") == 1 or defect.on("deep") or rng.random() < 0.1:
        line["signs"] = 1
        amp = amp * rng.choice([1, 3]) if not defect.on("deep") else rng.choice([200, 1000, 4000])
    if defect.on("equal"):
        amp = 0 if rng.random() < 0.7 else amp
    if defect.on("denormal"):
        amp = 1e-41
    if name == "DENORMALS_ZERO":
        line["vamp"] = 1e-40
    elif rng.random() < 0.2:
        line["vamp"] = rng.choice([0.001, 100])
    # A hidden or a visible key that is not a number.
    if name in ("LEAK_V", "LEAK_K", "NAN_SWALLOWED") or defect.on("special"):
        line["bad"] = {"LEAK_V": "v", "LEAK_K": "k", "NAN_SWALLOWED": "k"}.get(
            name, rng.choice(["k", "q"]))
        bound = [c for c in defect.conditions if c.subject.name == "key"]
        places = [j for j in range(keys) if all(c.holds(j) for c in bound)]
        line["at"] = rng.choice(places or [0])
        line["badvalue"] = rng.choice(["nan", "inf"])
    return {**line, "amp": amp, "late": late}


def type_fields(rng, defect, sizes):
    first = TYPES[low_of(defect, "type")] if defect.on("type") else (
        "f32" if rng.random() < 0.7 else rng.choice(["f16", "bf16"]))
    line = {"type": first}
    mixed = defect.on("mixed")
    if mixed or (mixed is None and rng.random() < 0.1):
        other = rng.choice(["kv", "o"])
        line[other] = rng.choice([t for t in TYPES.values() if t != first])
    layouts = {"padded": "padded", "tokens": "tokens", "spread": "spread", "repeated": "repeat"}
    for name, layout in layouts.items():
        if defect.on(name) == 1:
            line["layout"] = layout
    if "layout" not in line and rng.random() < 0.1:
        line["layout"] = rng.choice([v for k, v in layouts.items() if defect.on(k) != 0])
    if line.get("layout") == "tokens":
        sizes["kv_heads"] = max(sizes["kv_heads"], 2)
    if line.get("layout") == "repeat":
        sizes["batch"] = max(sizes["batch"], 2)
    return line


def threads(rng, defect):
    found = [c for c in defect.conditions if c.subject.name == "threads"]
    return found[0].low + (rng.randint(0, 3) if found[0].high > 99 else 0) if found else rng.choice([1, 2])


def printed(sizes, line):
    first = {"b": sizes["batch"], "hq": sizes["q_heads"], "hkv": sizes["kv_heads"],
             "sq": sizes["queries"], "sk": sizes["keys"], "d": sizes["head_size"],
             "dv": sizes["value_size"]}
    return " ".join(f"{key}={value}" for key, value in {**first, **line}.items())


def before(rng, defect, sizes, line):
    """Calls that come first, as the trigger's history asks."""
    small = {"batch": 1, "q_heads": 1, "kv_heads": 1, "queries": 2, "keys": 3, "head_size": 2,
             "value_size": 2}
    calls, parts = low_of(defect, "call"), []
    if calls:
        parts.append(printed(small, {"times": calls}))
    if defect.effect.name in ("SCALE_KEPT", "SUM_KEPT", "RACE") and rng.random() < 0.7:
        parts.append(printed(small, {"scale": 1.3, "times": rng.randint(1, 4)}))
    other = {**small, "keys": sizes["keys"] + 3} if defect.on("fewer_keys") else dict(small)
    if defect.on("same_shape"):
        parts.append(printed(sizes, line))
    elif defect.on("other_type"):
        parts.append(printed(other, {"type": "f16" if line["type"] != "f16" else "f32"}))
    elif defect.on("fewer_keys"):
        parts.append(printed(other, {"type": line["type"]}))
    return parts


def candidates(defect, seed):
    """Rounds of problems, simple ones first."""
    rng = random.Random(f"{seed} {defect.words()}")
    for number in range(ROUNDS):
        found = []
        for _ in range(200):
            sizes = draw_sizes(rng, defect)
            on = draw_options(rng, defect, sizes, 0.1 * number if number < 4 else 0.2)
            types = type_fields(rng, defect, sizes)
            sizes["q_heads"] = sizes["kv_heads"] * sizes["group"]
            if work(sizes) > 4 * MOST_WORK:
                continue
            line = {**types, **option_fields(rng, defect, sizes, on),
                    **value_fields(rng, defect, sizes["keys"]), "threads": threads(rng, defect)}
            found.append(" | ".join([*before(rng, defect, sizes, line), printed(sizes, line)]))
            if len(found) == EACH:
                break
        yield found
