#!/usr/bin/env python3
"""Runs clang-tidy on the sources of a configured build tree; its checks are in .clang-tidy.

Sources that see LibTorch take 10 to 20 seconds each and are left out unless --all is given. A source without findings is
not looked at again while it, the headers of ours that it includes, its flags, .clang-tidy, this file and clang-tidy stay
the same; what passed is remembered in BUILD/clang-tidy/. Headers of the system and of libraries are not compared.

usage: check_tidy.py BUILD [--root ROOT] [--all] [--jobs N] [--files PART...]
       PART: only sources whose path contains one of these texts
needs the Python package clang-tidy
"""

import argparse
import concurrent.futures
import functools
import hashlib
import importlib.resources
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from check_layers import INCLUDE, TOP_FOLDERS, TORCH

SUFFIXES = {".c", ".cpp"}
# What GCC knows and clang does not, and what only concerns the object file.
DROPPED_FLAGS = {"-c", "-fno-gnu-unique", "-fpch-preprocess", "-Winvalid-pch", "-Wno-restrict", "-Werror", "-fopenmp"}
DROPPED_WITH_VALUE = {"-o", "-include", "-MF", "-MT", "-MQ"}
FINDING = re.compile(r"^(?P<where>.+:\d+:\d+): (?:error|warning): (?P<what>.+)$")


class Sources:
    """Our files: what they include, what they contain. Conditions around an #include are not evaluated."""

    def __init__(self, root):
        self.root = root

    @functools.cache
    def digest(self, path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    @functools.cache
    def includes(self, path):
        text = path.read_text(encoding="utf-8", errors="replace")
        return [match[2] for match in map(INCLUDE.match, text.splitlines()) if match]

    @functools.cache
    def find(self, name, folder):
        for start in (self.root, self.root / "plugin_api/include", folder):
            path = start / name
            if path.is_file():
                return path
        return None

    @functools.cache
    def closure(self, source):
        """Our files that `source` includes, itself among them, and the names of all others."""
        ours, others, waiting = set(), set(), [source]
        while waiting:
            path = waiting.pop()
            if path in ours:
                continue
            ours.add(path)
            for name in self.includes(path):
                found = self.find(name, path.parent)
                waiting.append(found) if found else others.add(name)
        return ours, others

    def sees_torch(self, source):
        return any(TORCH.match(name) for name in self.closure(source)[1])


def tool():
    return str(importlib.resources.files("clang_tidy") / "data/bin/clang-tidy")


def clean_flags(words):
    """The flags that clang understands and that change what it sees."""
    flags, skip = [], False
    for word in words:
        if not skip and word not in DROPPED_FLAGS | DROPPED_WITH_VALUE:
            flags.append(word)
        skip = not skip and word in DROPPED_WITH_VALUE
    return flags


def read_commands(root, build):
    """Source -> flags of its first compilation, for sources of ours that clang-tidy can read."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"])
        is_ours = source.is_relative_to(root) and source.relative_to(root).parts[0] in TOP_FOLDERS
        if is_ours and source.suffix in SUFFIXES and source.is_file() and source not in commands:
            words = entry.get("arguments") or shlex.split(entry["command"])
            # A word in front of the compiler starts it: ccache, env NAME=value.
            commands[source] = clean_flags(w for w in words[1:] if w != entry["file"])
    return commands


class Tidy:
    def __init__(self, root, build):
        self.root, self.build = root, build
        self.sources = Sources(root)
        self.passed = build / "clang-tidy"
        self.passed.mkdir(exist_ok=True)
        gcc = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout
        self.last_resort = ["-idirafter", gcc.strip()]  # omp.h, which clang's own folder lacks
        version = subprocess.run([tool(), "--version"], capture_output=True, text=True, check=True).stdout
        configs = [p.read_text() for folder in (root, *root.iterdir()) if (p := folder / ".clang-tidy").is_file()]
        self.common = [version, *configs, pathlib.Path(__file__).read_text()]

    def stamp(self, source, flags):
        ours, _ = self.sources.closure(source)
        parts = [*self.common, str(source), *flags, *(f"{p} {self.sources.digest(p)}" for p in sorted(ours))]
        return self.passed / hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def check(self, source, flags):
        """The output, "" when there is nothing to say."""
        headers = f"^{re.escape(str(self.root))}/({'|'.join(TOP_FOLDERS)})/"
        command = [tool(), "--quiet", f"--header-filter={headers}", str(source), "--", *flags, *self.last_resort]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.build)
        if done.returncode == 0:
            self.stamp(source, flags).touch()
            return ""
        return done.stdout if FINDING.search(done.stdout) or "error:" in done.stdout else done.stdout + done.stderr

    def run(self, commands, jobs):
        """Yields the output of each source that has findings; biggest sources first, so that no core waits at the end."""
        order = sorted(commands, key=lambda s: (self.sources.sees_torch(s), s.stat().st_size), reverse=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for output in pool.map(lambda source: self.check(source, commands[source]), order):
                if output:
                    yield output


def new_findings(output, seen):
    """The blocks of an output that no other source's output had: headers are read many times."""
    keep, lines = False, []
    for line in output.splitlines():
        match = FINDING.match(line)
        if match:
            keep = match[0] not in seen
            seen.add(match[0])
        if keep or not FINDING.search(output):
            lines.append(line)
    return lines


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--files", nargs="*", default=[""])
    given = parser.parse_args()
    root, begin = given.root.resolve(), time.monotonic()
    tidy = Tidy(root, given.build.resolve())
    commands = read_commands(root, tidy.build)
    wanted = {s: f for s, f in commands.items() if any(part in str(s) for part in given.files)}
    chosen = {s: f for s, f in wanted.items() if given.all or not tidy.sources.sees_torch(s)}
    changed = {s: f for s, f in chosen.items() if not tidy.stamp(s, f).exists()}
    seen, failed = set(), 0
    for output in tidy.run(changed, given.jobs):
        failed += 1
        print("\n".join(new_findings(output, seen)), flush=True)
    print(f"clang-tidy: {len(chosen)} sources, {len(changed)} of them new or changed, {failed} with findings "
          f"({len(seen)} different), {time.monotonic() - begin:.0f} s; "
          f"{len(wanted) - len(chosen)} that see LibTorch left out")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
