#!/usr/bin/env python3
"""check_tidy.py finds mistakes in sources and our headers, remembers what passed, and leaves LibTorch alone unless asked."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(os.environ["SLIPWAY_SOURCE_DIR"])
GOOD = '#include "core/base/a.h"\nint f(int x) { return g(x); }\n'
HEADER = "#pragma once\ninline int g(int x) { return x; }\n"
BAD_HEADER = "#pragma once\ninline bool g(int x) { return x == x; }\n"


class CheckTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write(".clang-tidy", (PROJECT / ".clang-tidy").read_text())
        self.write("core/base/a.h", HEADER)
        self.write("core/base/a.cpp", GOOD)
        # Flags that only GCC has, and a file that the build made.
        command = f"g++ -I{self.root} -fno-gnu-unique -fpch-preprocess -include no_such_pch.h -o a.o -c "
        self.write("build/compile_commands.json", json.dumps([
            {"directory": str(self.root), "command": command + name, "file": str(self.root / name)}
            for name in ("core/base/a.cpp", "core/base/t.cpp", "build/made.c")]))
        self.write("build/made.c", "int broken(")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *more):
        done = subprocess.run([sys.executable, PROJECT / "scripts/check_tidy.py", self.root / "build", "--root",
                               self.root, *more], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def assert_says(self, status, text, *more):
        result, output = self.check(*more)
        self.assertEqual(result, status, output)
        self.assertIn(text, output)

    def test_good_code_passes_and_is_remembered(self):
        self.assert_says(0, "1 sources, 1 of them new or changed, 0 with findings")
        self.assert_says(0, "1 sources, 0 of them new or changed, 0 with findings")

    def test_a_finding_of_a_header_is_one(self):
        self.check()
        self.write("core/base/a.h", BAD_HEADER)
        self.assert_says(1, "core/base/a.h:2:")
        self.assert_says(1, "1 of them new or changed, 1 with findings")
        self.write("core/base/a.h", HEADER)
        self.assert_says(0, "0 of them new or changed")

    def test_other_checks_are_another_question(self):
        self.check()
        self.write(".clang-tidy", "Checks: '-*,bugprone-*,readability-braces-around-statements'\n")
        self.assert_says(0, "1 of them new or changed")

    def test_what_does_not_compile_fails(self):
        self.write("core/base/a.cpp", "int f( { }\n")
        self.assert_says(1, "core/base/a.cpp:1:")

    def test_libtorch_only_with_all(self):
        self.write("core/base/t.h", "#pragma once\n#include <ATen/ATen.h>\n")
        self.write("core/base/t.cpp", '#include "core/base/t.h"\n')
        self.assert_says(0, "1 sources, 1 of them new or changed, 0 with findings (0 different)")
        self.assert_says(0, "1 that see LibTorch left out")
        self.assert_says(1, "ATen/ATen.h", "--all")

    def test_nothing_to_check_fails(self):
        self.assert_says(1, "0 sources", "--files", "no such")


if __name__ == "__main__":
    unittest.main()
