# SPDX-License-Identifier: Apache-2.0
"""What a function says it can do: the decorator, and what the names of its parameters promise."""

import inspect

# Parameter, its other names, and the features that are in force when it is given.
PARAMETERS = {
    "causal": (("is_causal",), ("causal",)),
    "offsets": ((), ("offsets",)),
    "window": ((), ("window",)),
    "window_size": ((), ("window-size",)),
    "key_lengths": ((), ("lengths",)),
    "mask": (("attn_mask", "attention_mask"), ("mask-bool", "mask-add")),
    "scale": (("softmax_scale", "sm_scale"), ("scale",)),
    "softcap": (("logits_soft_cap",), ("softcap",)),
    "sinks": ((), ("sinks",)),
    "slopes": (("alibi_slopes",), ("alibi",)),
    "lse": (("return_lse",), ("lse",)),
}
DEFAULTS = {"vendor": "", "version": "", "profile": "attest", "model": "f32-strict",
            "max_head_size": 0, "max_queries": 0, "max_keys": 0, "max_abs_score": 0, "exp_ulps": 0,
            "finite_only": False, "isolation": "full", "determinism": []}
FOUND_BY_TRYING = ("features", "shapes", "types")
OURS = ("arrays", "supports")  # not of the descriptor: for the worker alone


def kernel(name=None, *, features=None, shapes=("strides",), types=("f32",), arrays=None,
           supports=None, **fields):
    """Declares what a function can do and promises.

    `features`, `shapes`, `types`, `isolation` and the others are the fields of attest.h under the
    names of spec/protocol.md; `features` left out are those that the parameters name. `arrays` is
    the module whose arrays the function takes ("numpy", "torch", "jax", "mlx.core"); left out, it is
    found by trying. `supports(problem)` is for what no field can say: it gets a Problem and returns
    True, or False, or the reason why not; what it refuses is not held against the function.
    """
    unknown = sorted(set(fields) - set(DEFAULTS))
    if unknown:
        raise TypeError(f"kernel() has no field {unknown[0]!r}; it has {', '.join(sorted(DEFAULTS))}")

    def decorate(function):
        said = dict(fields, shapes=list(shapes), types=list(types), arrays=arrays, supports=supports)
        said["features"] = list(parameter_features(function) if features is None else features)
        said["name"] = name or name_of(function)
        function.attest = said
        return function
    return decorate


def name_of(function):
    return getattr(function, "__name__", type(function).__name__)


def parameters(function):
    """Our name of a parameter -> the function's own name for it, as far as it can be seen."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin
        return {}
    found = {}
    for ours, (others, _) in PARAMETERS.items():
        found.update({ours: theirs for theirs in (ours, *others) if theirs in names})
    return found


def parameter_features(function):
    """Features that the names of a callable's parameters promise."""
    return [feature for ours in parameters(function) for feature in PARAMETERS[ours][1]]


def takes_anything(function):
    try:
        names = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.kind == p.VAR_KEYWORD for p in names)


def required(function):
    """Parameters of ours that have no default: given even where they say nothing."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {ours: theirs for ours, theirs in parameters(function).items()
            if names[theirs].default is inspect.Parameter.empty}


def complete(function, overrides=None, found=None):
    """The whole declaration: what was said, what was found by trying, defaults."""
    said = {"name": name_of(function), **DEFAULTS, **(found or {}),
            **getattr(function, "attest", {}), **(overrides or {})}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}


def is_left_open(function, overrides=None):
    """Whether something must be found by trying."""
    said = {**getattr(function, "attest", {}), **(overrides or {})}
    return any(key not in said for key in FOUND_BY_TRYING)


def text(said):
    """A declaration as the decorator that says it."""
    plain = dict(DEFAULTS, shapes=["strides"], types=["f32"])
    words = [f"features={said['features']!r}"]
    words += [f"{key}={said[key]!r}" for key in ("shapes", "types", *DEFAULTS)
              if key in said and said[key] != plain[key]]
    words += [f"{key}={said[key]!r}" for key in ("arrays",) if said.get(key)]
    return "@kernel(" + ", ".join(words).replace("'", '"') + ")"
