"""Writes a C11 program that prints the layout of the plugin border, from the headers themselves.

usage: abi_layout_generate.py INCLUDE_DIR OUTPUT.c

The program prints every enum value, every string constant, and size, offset and type of every field of every struct,
function signatures included. It also asserts that a struct with struct_size ends, up to alignment, with its last field.
A declaration that this reader does not understand is an error, so nothing can be left out.
"""

import pathlib
import re
import sys

HEADERS = ["base", "host", "services", "model", "dataset", "optimizer", "dp", "tokenizer", "philox"]


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\\\n", " ", text)


def split_outside_parentheses(text, separator):
    parts, depth, current = [], 0, ""
    for c in text:
        depth += c in "(["
        depth -= c in ")]"
        if c == separator and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return [p.strip() for p in parts + [current] if p.strip()]


def fields(body):
    """(name, type) of every field of a struct's body."""
    for declaration in split_outside_parentheses(body, ";"):
        declaration = " ".join(declaration.split())
        function = re.fullmatch(r"(.*?)\(\*(\w+)\)(\(.*\))", declaration)
        if function:
            yield function[2], f"{function[1].strip()} (*){function[3]}"
            continue
        first, *others = split_outside_parentheses(declaration, ",")
        match = re.fullmatch(r"(.*?[\s*])(\w+)(\[\w+\])?", first)
        if not match:
            sys.exit(f"cannot read the declaration: {declaration}")
        base, array = match[1].strip(), match[3] or ""
        yield match[2], base + array
        for other in others:
            if not re.fullmatch(r"\w+", other):
                sys.exit(f"cannot read the declaration: {declaration}")
            yield other, base


def structs(text):
    found = []
    for match in re.finditer(r"typedef struct(?: \w+)? \{(.*?)\} (\w+);", text, flags=re.S):
        found.append((match.start(), match[2], match[1]))
    for match in re.finditer(r"^struct (\w+) \{(.*?)^\};", text, flags=re.S | re.M):
        found.append((match.start(), match[1], match[2]))
    if len(found) != len(re.findall(r"\bstruct(?: \w+)? \{", text)):
        sys.exit("a struct definition was not understood")
    return [(name, list(fields(body))) for _, name, body in sorted(found)]


def enum_values(text):
    for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, flags=re.S):
        for entry in split_outside_parentheses(body, ","):
            yield entry.split("=")[0].strip()


def program(include_dir):
    lines = ["#include <stdio.h>"]
    lines += [f"#include <slipway/{h}.h>" for h in HEADERS]
    lines += ["int main(void) {"]
    for header in HEADERS:
        text = without_comments((include_dir / "slipway" / f"{header}.h").read_text())
        lines.append(f'  printf("# {header}.h\\n");')
        for name in re.findall(r"#define (SLW_(?:KIND|SERVICE)_\w+) \"", text):
            lines.append(f'  printf("{name} \\"%s\\"\\n", {name});')
        for name in re.findall(r"#define (SLW_ABI_\w+) \d", text):
            lines.append(f'  printf("{name} %d\\n", {name});')
        for name in enum_values(text):
            lines.append(f'  printf("{name} %lld\\n", (long long){name});')
        for name, members in structs(text):
            lines.append(f'  printf("{name} size %zu align %zu\\n", sizeof({name}), _Alignof({name}));')
            for field, kind in members:
                where = f"offsetof({name}, {field}), sizeof((({name}*)0)->{field})"
                lines.append(f'  printf("  %zu +%zu {field}: {kind}\\n", {where});')
            if members[0] == ("struct_size", "uint32_t"):
                last = members[-1][0]
                end = f"(SLW_SIZE_TO({name}, {last}) + _Alignof({name}) - 1) / _Alignof({name}) * _Alignof({name})"
                lines.append(f'  _Static_assert({end} == sizeof({name}), "{name} does not end with {last}");')
    return "\n".join(lines + ["  return 0;", "}", ""])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(program(pathlib.Path(sys.argv[1])))
