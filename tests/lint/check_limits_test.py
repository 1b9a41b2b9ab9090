#!/usr/bin/env python3
"""check_limits.py finds what is too long, takes too much or is not ASCII, and lets the C border be."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["SLIPWAY_SOURCE_DIR"]) / "scripts" / "check_limits.py"


def check(name, text):
    with tempfile.TemporaryDirectory() as root:
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
    return done.returncode, done.stdout


def function(lines, parameters=0):
    arguments = ", ".join(f"int p{i}" for i in range(parameters))
    return f"int f({arguments}) {{\n" + "  g();\n" * (lines - 2) + "}\n"


class CheckLimits(unittest.TestCase):
    def assert_passes(self, name, text):
        status, output = check(name, text)
        self.assertEqual(status, 0, output)

    def assert_finds(self, name, text, finding):
        status, output = check(name, text)
        self.assertEqual(status, 1, output)
        self.assertIn(finding, output)

    def test_limits_themselves_pass(self):
        self.assert_passes("core/base/a.cpp", function(60, parameters=5))

    def test_long_function(self):
        self.assert_finds("core/base/a.cpp", function(61), "core/base/a.cpp:1: f has 61 lines")

    def test_many_parameters(self):
        self.assert_finds("core/base/a.cpp", function(3, parameters=6), "f takes 6 parameters")

    def test_abi_functions_take_what_they_must(self):
        self.assert_passes("plugin_api/include/slipway/a.h", function(3, parameters=9))
        self.assert_passes("plugins/gpt/a.c", function(3, parameters=9).replace("int p8", "slw_error* e"))

    def test_the_context_of_autograd_does_not_count(self):
        forward = "at::Tensor forward(AutogradContext* ctx, int a, int b, int c, int d, int e) {\n  g();\n}\n"
        self.assert_passes("plugins/gpt/a.cpp", forward)
        self.assert_finds("plugins/gpt/a.cpp", forward.replace("int e", "int e, int f"), "forward takes 7 parameters")

    def test_long_file(self):
        self.assert_finds("launcher/a.cpp", "int x;\n" * 601, "launcher/a.cpp has 601 lines")

    def test_text_outside_ascii(self):
        self.assert_finds("launcher/a.cpp", "// caf\u00e9\n", "launcher/a.cpp:1: not ASCII")


if __name__ == "__main__":
    unittest.main()
