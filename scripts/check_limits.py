#!/usr/bin/env python3
"""Checks the limits of the house style: 60 lines a function, 600 a file, 5 parameters, ASCII only.

Functions of the C border have the shape that the ABI gives them, so any number of parameters; the context of an autograd
function's forward does not count, since LibTorch wants every differentiable input as a parameter of its own.
usage: check_limits.py [ROOT]      needs the Python package lizard
"""

import pathlib
import re
import sys

import lizard

from check_layers import sources

FUNCTION_LINES = 60
FILE_LINES = 600
PARAMETERS = 5
ABI_FOLDER = "plugin_api/"
ABI_LAST_PARAMETER = re.compile(r"\bslw_error \* ?\w*\)$")


AUTOGRAD_FORWARD = re.compile(r"\bforward\( ?AutogradContext \*")


def parameter_count(function):
    return function.parameter_count - (1 if AUTOGRAD_FORWARD.search(function.long_name) else 0)


def is_abi(name, function):
    return name.startswith(ABI_FOLDER) or ABI_LAST_PARAMETER.search(function.long_name)


def check_functions(name, path):
    for function in lizard.analyze_file(str(path)).function_list:
        where = f"{name}:{function.start_line}: {function.unqualified_name}"
        if function.length > FUNCTION_LINES:
            yield f"{where} has {function.length} lines, at most {FUNCTION_LINES}: split it"
        if parameter_count(function) > PARAMETERS and not is_abi(name, function):
            yield f"{where} takes {function.parameter_count} parameters, at most {PARAMETERS}: make a struct"


def check_text(name, path):
    lines = path.read_bytes().splitlines()
    if len(lines) > FILE_LINES:
        yield f"{name} has {len(lines)} lines, at most {FILE_LINES}: one idea a file"
    for number, line in enumerate(lines, 1):
        if not line.isascii():
            yield f"{name}:{number}: not ASCII"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = list(sources(root))
    found = []
    for path in files:
        name = path.relative_to(root).as_posix()
        found += [*check_text(name, path), *check_functions(name, path)]
    print("\n".join(found + [f"limits: {len(files)} files, {len(found)} findings"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
