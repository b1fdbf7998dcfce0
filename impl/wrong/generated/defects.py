#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels from a seed: draws defects, writes them into copies of one compiled kernel.

usage: defects.py describe SEED INDEX        what kernel INDEX of a seed does wrong, in words
       defects.py write SEED INDEX BASE OUT  copy the compiled kernel BASE with that defect to OUT
       defects.py table                      the distribution, as it stands in README.md

The tables of effects and subjects are in defects.def; how they are drawn is here.
"""

import dataclasses
import functools
import hashlib
import math
import os
import random
import re
import struct
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
MAGIC = b"attest: a defect"
MOST_CONDITIONS = 4
NO_LIMIT = 2**62
# A trigger whose smallest problem has more multiplications than this is drawn again.
MOST_WORK = 2**27
TILES = (4, 8, 16, 32, 64)
# Chance in percent that a condition is about ...
GROUPS = {"option": 36, "size": 18, "index": 16, "residue": 10, "type": 4, "layout": 4, "threads": 4,
          "value": 5, "history": 3}
MODULI = (2, 64)
EXCLUSIVE = [("mask_bool", "mask_add"), ("padded", "tokens", "spread", "repeated"),
             ("fewer_keys", "same_shape"), ("equal", "special")]


@dataclasses.dataclass(frozen=True)
class Effect:
    number: int
    name: str
    level: str
    weight: int
    needs: tuple
    requirement: str
    classes: tuple
    sentence: str


@dataclasses.dataclass(frozen=True)
class Subject:
    number: int
    name: str
    level: str
    group: str
    tests: str
    least: int
    most: int
    sentence: str


@dataclasses.dataclass(frozen=True)
class Condition:
    subject: Subject
    low: int
    high: int
    modulus: int = 0
    residue: int = 0

    @property
    def kind(self):
        return "residue" if self.modulus else "is" if self.high < NO_LIMIT else "at least"

    def holds(self, value):
        return (self.low <= value <= self.high
                and (not self.modulus or value % self.modulus == self.residue))

    def words(self):
        what = self.subject.sentence
        if self.kind == "residue":
            return f"{what} mod {self.modulus} = {self.residue}"
        if self.kind == "at least":
            return f"{what} >= {self.low}"
        if self.subject.least + 1 >= self.subject.most and self.subject.most == 1:
            return what if self.low else f"no: {what}"
        return f"{what} = {self.low}"

    def chance(self):
        """Of a problem with every option at even odds, log-uniform sizes, and values at hand."""
        s = self.subject
        if self.kind == "residue":
            return 1 / self.modulus
        if self.kind == "at least":
            return max(math.log((s.most + 1) / self.low) / math.log((s.most + 1) / s.least), 1 / 64)
        return 1 / 8 if s.group in ("value", "history") else 1 / (s.most - s.least + 1)


@dataclasses.dataclass(frozen=True)
class Defect:
    effect: Effect
    tile: int
    conditions: tuple

    def words(self):
        tile = f" (tile {self.tile})" if re.search(r"\btiles?\b", self.effect.sentence) else ""
        when = "; ".join(c.words() for c in self.conditions)
        return f"{self.effect.name}: {self.effect.sentence}{tile}" + (f", when {when}" if when else "")

    def bits(self):
        """Rarity of the trigger: minus the binary logarithm of its chance."""
        return sum(-math.log2(c.chance()) for c in self.conditions)

    def on(self, name):
        """1 or 0 where the subject is settled by the effect or a condition, else None."""
        if name in self.effect.needs:
            return 1
        for c in self.conditions:
            if c.subject.name == name:
                return c.low
        return None

    def block(self):
        data = struct.pack("<16sQqQ", MAGIC, self.effect.number, self.tile, len(self.conditions))
        for c in self.conditions:
            data += struct.pack("<Qqqqq", c.subject.number, c.low, c.high, c.modulus, c.residue)
        return data + bytes(40 * (MOST_CONDITIONS - len(self.conditions)))


@functools.cache
def tables():
    with open(os.path.join(FOLDER, "defects.def"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    effects, subjects = [], []
    for kind, name, rest in re.findall(r"^(EFFECT|SUBJECT)\((\w+), (.*)\)$", text, re.MULTILINE):
        if kind == "EFFECT":
            level, weight, needs, requirement, classes, sentence = re.fullmatch(
                r'(\w+), (\d+), "(.*?)", "(.*?)", "(.*?)", "(.*?)"', rest).groups()
            effects.append(Effect(len(effects), name, level, int(weight),
                                  tuple(n for n in needs.split() if n != "-"), requirement,
                                  tuple(classes.split()), sentence))
        else:
            level, group, tests, least, most, sentence = re.fullmatch(
                r'(\w+), (\w+), "(.*?)", (\d+), (\d+), "(.*?)"', rest).groups()
            subjects.append(Subject(len(subjects), name, level, group, tests, int(least), int(most),
                                    sentence))
    return effects, subjects


def effect_named(name):
    return next(e for e in tables()[0] if e.name == name)


LEVELS = {"CALL": 0, "ROW": 1, "KEY": 2}


def draw_condition(rng, effect):
    group = rng.choices(list(GROUPS), list(GROUPS.values()))[0]
    fitting = [s for s in tables()[1] if LEVELS[s.level] <= LEVELS[effect.level]
               and ("r" in s.tests if group == "residue" else s.group == group)]
    subject = rng.choice(fitting)
    if group == "residue":
        modulus = rng.randint(*MODULI)
        return Condition(subject, 0, NO_LIMIT, modulus, rng.randrange(modulus))
    if rng.choice(subject.tests.replace("r", "")) == "i":
        value = rng.randint(subject.least, subject.most)
        return Condition(subject, value, value)
    least = max(subject.least, 1)
    threshold = math.exp(rng.uniform(math.log(least), math.log(subject.most + 1)))
    return Condition(subject, int(threshold), NO_LIMIT)


# How many of an axis a condition's subject needs: an index needs one more than its value.
AXES = {"batch": ("batch", 0), "entry": ("batch", 1), "q_heads": ("q_heads", 0),
        "head": ("q_heads", 1), "kv_head": ("kv_heads", 1), "group": ("group", 0),
        "queries": ("queries", 0), "row": ("queries", 1), "keys": ("keys", 0), "key": ("keys", 1),
        "length": ("keys", 0), "visible": ("keys", 0), "distance": ("keys", 1),
        "head_size": ("head_size", 0), "value_size": ("value_size", 0)}


def least_sizes(defect):
    """The smallest number of each axis with which the trigger can hold."""
    sizes = {"batch": 1, "q_heads": 1, "kv_heads": 1, "group": 1, "queries": 1, "keys": 2,
             "head_size": 1, "value_size": 1}
    for c in defect.conditions:
        if c.subject.name in AXES:
            axis, more = AXES[c.subject.name]
            value = c.low if not c.modulus else c.residue or (0 if more else c.modulus)
            sizes[axis] = max(sizes[axis], value + more)
    heads = sizes["kv_heads"] * sizes["group"]
    while heads < sizes["q_heads"]:
        heads += sizes["group"]
    return {**sizes, "q_heads": heads, "kv_heads": heads // sizes["group"]}


def work(sizes):
    return (sizes["batch"] * sizes["q_heads"] * sizes["queries"] * sizes["keys"]
            * (sizes["head_size"] + sizes["value_size"]))


def possible(defect):
    names = [c.subject.name for c in defect.conditions]
    if len(set(names)) < len(names) or any(n in defect.effect.needs for n in names):
        return False
    if any(sum(defect.on(name) == 1 for name in group) > 1 for group in EXCLUSIVE):
        return False
    if defect.on("scale_negative") and defect.on("scale") == 0:
        return False
    for c in defect.conditions:
        values = range(c.subject.least, c.subject.most + 1)
        if c.modulus and not any(c.holds(v) for v in values[:128]):
            return False
    sizes = least_sizes(defect)
    return work(sizes) <= MOST_WORK and sizes["q_heads"] <= 64 and sizes["batch"] <= 32


def draw(seed, index):
    """Defect number `index` of a seed: the same on every machine and for every count."""
    digest = hashlib.blake2b(f"{seed} {index}".encode(), digest_size=16).digest()
    rng = random.Random(int.from_bytes(digest, "little"))
    effects = tables()[0]
    effect = rng.choices(effects, [e.weight for e in effects])[0]
    tile, count = rng.choice(TILES), rng.randint(1, MOST_CONDITIONS)
    while True:
        defect = Defect(effect, tile, tuple(draw_condition(rng, effect) for _ in range(count)))
        if possible(defect):
            return defect


def write(defect, base, path):
    with open(base, "rb") as file:
        image = file.read()
    at = image.find(MAGIC)
    if at < 0 or image.find(MAGIC, at + 1) >= 0:
        raise RuntimeError(f"{base} has not one block of data for a defect")
    block = defect.block()
    with open(path, "wb") as file:
        file.write(image[:at] + block + image[at + len(block):])


def table():
    effects, subjects = tables()
    total = sum(e.weight for e in effects)
    lines = ["| a condition is about | chance | subjects |", "|---|---|---|"]
    for group, chance in GROUPS.items():
        fitting = [s for s in subjects if (("r" in s.tests) if group == "residue"
                                           else s.group == group)]
        kinds = []
        for s in fitting:
            if group == "residue":
                kinds.append(s.name)
            elif s.tests.startswith("i") and (s.least, s.most) == (0, 1):
                kinds.append(f"{s.name} on or off")
            elif (s.least, s.most) == (1, 1):
                kinds.append(s.name)
            else:
                ways = [f"= {s.least}…{s.most}"] * ("i" in s.tests)
                ways += [f"≥ t, t in {s.least}…{s.most}"] * ("g" in s.tests)
                kinds.append(f"{s.name} " + " or ".join(ways))
        lines.append(f"| {group} | {chance} % | {', '.join(kinds)} |")
    lines += ["", "| effect | chance | applies to | needs | breaks | what it does |",
              "|---|---|---|---|---|---|"]
    for e in effects[1:]:
        lines.append(f"| {e.name} | {100 * e.weight / total:.1f} % | a {e.level.lower()} | "
                     f"{', '.join(e.needs) or '–'} | {e.requirement} | {e.sentence} |")
    return "\n".join(lines) + "\n"


def main(arguments):
    if arguments == ["table"]:
        print(table(), end="")
    elif len(arguments) == 3 and arguments[0] == "describe":
        print(draw(arguments[1], int(arguments[2])).words())
    elif len(arguments) == 5 and arguments[0] == "write":
        write(draw(arguments[1], int(arguments[2])), arguments[3], arguments[4])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
