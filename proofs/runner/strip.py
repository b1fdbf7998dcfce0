# SPDX-License-Identifier: Apache-2.0
"""ACSL without the clauses of some claims. A clause belongs to the claim that its label names
(`ensures C4: ...`), a lemma to the claim whose wp.json lists its header. Lines stay where they are,
and nothing outside annotations changes."""

import re

COMMENT = re.compile(r"/\*@.*?\*/|//@[^\n]*", re.DOTALL)
LEAD = re.compile(r"^(\s*(?:/\*@|//@|@(?!\*/))?\s*)(.*?)(\s*@?\*/)?$")
CLAUSE = re.compile(r"(?:requires|ensures|assigns|terminates|decreases|loop \w+|assert|ghost|lemma|"
                    r"logic|predicate|axiomatic|type|behavior)\b")
LABEL = re.compile(r"(?:requires|ensures|loop invariant|assert)\s+(C\d+):")
LEMMA = re.compile(r"lemma (\w+)")


def lemmas(text):
    return [name for comment in COMMENT.findall(text)
            for name in re.findall(r"@ lemma (\w+)", comment)]


def kept(clause, labels, foreign):
    label, lemma = LABEL.match(clause), LEMMA.match(clause)
    return not (label and label.group(1) not in labels or lemma and lemma.group(1) in foreign)


def one(comment, labels, foreign):
    lines, keep, any_left = [], True, False
    for line in comment.split("\n"):
        lead, body, end = LEAD.match(line).groups()
        if CLAUSE.match(body):
            keep = kept(body, labels, foreign)
        any_left = any_left or (keep and body)
        lines.append(line if keep else lead.rstrip() + (end or ""))
    return "\n".join(lines) if any_left else "\n" * comment.count("\n")


def stripped(text, labels, foreign):
    """The text without clauses that carry another label, and without foreign lemmas."""
    return COMMENT.sub(lambda match: one(match.group(), labels, foreign), text)
