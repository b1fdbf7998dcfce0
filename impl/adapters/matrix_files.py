# SPDX-License-Identifier: Apache-2.0
"""What the matrix reads: FAMILY.toml, findings/ID.toml, requirements, environments."""

import ast
import dataclasses
import glob
import json
import os
import re
import subprocess
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "ci"))
from digest import digest  # noqa: E402, F401

GROUPS = {"SEM": "semantics", "MASK": "masks", "NUM": "numerics", "MEM": "memory", "ISO": "isolation",
          "DET": "determinism", "SPV": "special values", "ERR": "errors", "CAP": "capabilities"}
FAMILY_KEYS = {"install", "shows", "kernel", "older"}
OLDER_KEYS = {"install", "kernels"}
FINDING_KEYS = {"kernels", "environment", "kind", "requirements", "class", "title", "seen", "shows", "text"}
KINDS = ("defect", "convention")
PACKAGES = """
import importlib.metadata, json, platform
found = {(d.metadata["Name"] or "").lower().replace("_", "-"): d.version
         for d in importlib.metadata.distributions()}
print(json.dumps({"python": platform.python_version(), **found}))
"""


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A row: a kernel in one environment. The fields after `shows` are those of [[kernel]]."""
    environment: str
    shows: str
    name: str
    title: str
    target: str
    budget: str = ""
    level: str = "quick"
    route: str = ""
    misses: str = ""
    read: tuple = ()
    memory: int = 2048
    load_time: int = 0
    older: bool = False

    @property
    def row(self):
        return f"{self.name}@{self.environment}" if self.older else self.name

    @property
    def file(self):
        return self.target.rpartition(":")[0]


@dataclasses.dataclass(frozen=True)
class Family:
    name: str
    shows: str
    environments: dict  # name -> what pip installs
    kernels: tuple


def read_toml(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def need(good, path, why):
    if not good:
        raise ValueError(f"{path}: {why}")


def read_family(path):
    said = read_toml(path)
    name = os.path.splitext(os.path.basename(path))[0]
    need(set(said) <= FAMILY_KEYS, path, f"unknown keys {sorted(set(said) - FAMILY_KEYS)}")
    need({"install", "shows", "kernel"} <= set(said), path, "install, shows and a kernel are needed")
    environments, kernels = {name: said["install"]}, []
    for one in said["kernel"]:
        kernels.append(Kernel(name, said["shows"], **{**one, "read": tuple(one.get("read", ()))}))
    for older, its in said.get("older", {}).items():
        need(set(its) == OLDER_KEYS, path, f"older.{older} has install and kernels")
        environments[older] = its["install"]
        known = {kernel.name: kernel for kernel in kernels if not kernel.older}
        need(set(its["kernels"]) <= set(known), path, f"older.{older}: an unknown kernel")
        kernels += [dataclasses.replace(known[one], environment=older, older=True) for one in its["kernels"]]
    return Family(name, said["shows"], environments, tuple(kernels))


def read_families(folder):
    """All families of a folder, and what is wrong with those that cannot be read."""
    families, problems = [], []
    for path in sorted(glob.glob(os.path.join(folder, "*.toml"))):
        try:
            families.append(read_family(path))
        except (ValueError, TypeError, KeyError) as error:
            problems.append(f"{os.path.basename(path)}: {error}")
    return families, problems


def read_findings(folder):
    """id -> what findings/ID.toml says."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "findings", "*.toml"))):
        said = read_toml(path)
        need(FINDING_KEYS <= set(said) <= FINDING_KEYS | {"issue"}, path,
             f"fields are {sorted(FINDING_KEYS)} and perhaps issue")
        need(said["kind"] in KINDS, path, f"kind is one of {KINDS}")
        found[os.path.splitext(os.path.basename(path))[0]] = said
    return found


def requirements():
    """id -> title, in the order of the specification."""
    with open(os.path.join(ROOT, "spec/attention.md"), encoding="utf-8") as file:
        return dict(re.findall(r"^### ([A-Z]{3,4}-\d\d) (.+)$", file.read(), re.MULTILINE))


def seconds_of(time):
    number, unit = re.fullmatch(r"(\d+)([smh]?)", time).groups()
    return int(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]


def group_of(requirement):
    return requirement.partition("-")[0]


def sources(path):
    """An adapter and the files beside it that it imports."""
    folder, found, open_files = os.path.dirname(path), set(), [path]
    while open_files:
        one = open_files.pop()
        if one in found or not os.path.exists(one):
            continue
        found.add(one)
        with open(one, encoding="utf-8") as file:
            tree = ast.parse(file.read(), one)
        for node in ast.walk(tree):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else \
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            open_files += [os.path.join(folder, name.split(".")[0] + ".py") for name in names]
    return sorted(found)


def adapter_digest(folder, kernel):
    """What decides a row besides attest and the environment."""
    asked = json.dumps(dataclasses.asdict(kernel), sort_keys=True)
    return digest(sources(os.path.join(folder, kernel.file)), asked)


def finding_digest(folder, name):
    return digest([os.path.join(folder, "findings", name + end) for end in (".py", ".toml")])


def declares(folder, kernel):
    """Whether a statement that binds the function says the kernel's name; nothing is imported."""
    path, _, function = kernel.target.rpartition(":")
    path = os.path.join(folder, path)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)

    def binds(node):
        targets = node.targets if isinstance(node, ast.Assign) else []
        return getattr(node, "name", None) == function or \
            any(isinstance(x, ast.Name) and x.id == function for t in targets for x in ast.walk(t))
    return any(binds(node) and any(isinstance(x, ast.Constant) and x.value == kernel.name
                                   for x in ast.walk(node)) for node in tree.body)


def interpreter(environments, name):
    return os.path.join(environments, name, "bin", "python")


def packages(environments, name):
    """distribution -> version of an environment; None if there is none."""
    done = None
    if os.path.exists(interpreter(environments, name)):
        done = subprocess.run([interpreter(environments, name), "-c", PACKAGES], text=True,
                              capture_output=True, check=False)
    return json.loads(done.stdout) if done is not None and done.returncode == 0 else None


def load_json(path, otherwise=None):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return otherwise


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)
