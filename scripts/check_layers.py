#!/usr/bin/env python3
"""Checks who includes whom: the arrows between the folders, and which code may see LibTorch.

usage: check_layers.py [ROOT]
"""

import pathlib
import re
import sys

# Bottom-up: a folder of core may include those before it, save that siblings do not include one another.
CORE_ORDER = ["base", "config", "rng", "comm", "params", "plugin_host",
              "data", "parallel", "optim", "checkpoint", "metrics", "pretrain", "generate", "planner"]
CORE_SIBLINGS = {"data", "parallel", "optim", "checkpoint", "metrics"}
CORE_WITH_TORCH = {"comm"}
CORE_WITHOUT_PLUGIN_API = {"base"}
SHARED_PLUGIN_FOLDER = "transformer"

TOP_FOLDERS = ("core", "plugin_api", "plugins", "launcher", "tests", "scripts")
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TORCH = re.compile(r"^(ATen|c10|torch)/")
# Ends a build that includes it by 40 seconds a file.
FORBIDDEN = "torch/torch.h"


def core_rule(folder, target):
    """The reason why core/<folder> may not include core/<target>, or None."""
    for name in (folder, target):
        if name not in CORE_ORDER:
            return f"core/{name} has no place in the order; add it to CORE_ORDER in scripts/check_layers.py"
    if folder == target:
        return None
    if folder in CORE_SIBLINGS and target in CORE_SIBLINGS:
        return f"core/{folder} and core/{target} are siblings and do not use one another; move the shared part below both"
    if CORE_ORDER.index(target) > CORE_ORDER.index(folder):
        allowed = [f for f in CORE_ORDER[:CORE_ORDER.index(folder)] if {f, folder} - CORE_SIBLINGS]
        return f"core/{folder} may use only {', '.join(allowed) or 'itself'}; the code is in the wrong folder"
    return None


def core_include(parts, included):
    if included[0] == "core":
        return core_rule(parts[1], included[1])
    if included[0] == "slipway":
        return f"core/{parts[1]} knows nothing of the plugin border" if parts[1] in CORE_WITHOUT_PLUGIN_API else None
    return f"core may not use {included[0]}/"


def plugin_include(parts, included):
    if included[0] == "slipway":
        return None
    if included[0] == "plugins" and included[1] in (parts[1], SHARED_PLUGIN_FOLDER):
        return None
    return f"a plugin may use only <slipway/...>, plugins/{parts[1]}/ and plugins/{SHARED_PLUGIN_FOLDER}/"


def is_torch_layer(parts):
    """Whether this path, from slipway/ on, is the optional LibTorch layer of the plugin API."""
    return parts[1:2] in (["torch"], ["torch.hpp"])


def plugin_api_include(parts, included):
    if included[0] != "slipway":
        return "the plugin API may use only <slipway/...>"
    if is_torch_layer(included) and not is_torch_layer(list(parts[2:])):
        return "only the LibTorch layer itself may use slipway/torch"
    return None


def launcher_include(parts, included):
    return None if included[0] in ("core", "launcher", "slipway") else "the launcher may use only core/ and launcher/"


RULES = {"core": core_include, "plugins": plugin_include, "plugin_api": plugin_api_include,
         "launcher": launcher_include, "tests": lambda parts, included: None,
         "scripts": lambda parts, included: "scripts are not part of the program"}


def may_see_torch(parts):
    if parts[0] == "core":
        return parts[1] in CORE_WITH_TORCH
    if parts[0] == "plugin_api":
        return is_torch_layer(list(parts[2:]))
    return parts[0] in ("plugins", "tests")


def check_include(root, parts, quote, name):
    """The reason why the file at `parts` may not include `name`, or None."""
    included = name.split("/")
    if ".." in included:
        return "includes start at the root of the tree, never with ../"
    if name == FORBIDDEN:
        return "<torch/torch.h> costs 40 s a file; take the narrow header"
    if quote == '"' and not (root / name).is_file():
        return "no such file below the root of the tree"
    if TORCH.match(name):
        return None if may_see_torch(parts) else f"{'/'.join(parts[:2])} is free of LibTorch"
    if included[0] in TOP_FOLDERS or included[0] == "slipway":
        return RULES[parts[0]](parts, included)
    return None


def check_file(root, path):
    parts = path.relative_to(root).parts
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        reason = check_include(root, parts, *match.groups())
        if reason:
            yield f"{'/'.join(parts)}:{number}: {match.group(2)}: {reason}"


def sources(root):
    for folder in TOP_FOLDERS:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in SUFFIXES and p.is_file())


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = list(sources(root))
    found = [problem for path in files for problem in check_file(root, path)]
    print("\n".join(found + [f"layers: {len(files)} files, {len(found)} wrong includes"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
