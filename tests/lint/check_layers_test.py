#!/usr/bin/env python3
"""Every arrow that check_layers.py forbids is found, and none that is allowed."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["SLIPWAY_SOURCE_DIR"]) / "scripts" / "check_layers.py"


def check(files):
    """Runs the script over a tree of {path: text}; returns its exit status and output."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
    return done.returncode, done.stdout


TREE = {name: "" for name in (
    "core/base/a.h", "core/config/a.h", "core/comm/a.h", "core/data/a.h", "core/optim/a.h", "core/pretrain/a.h",
    "plugins/gpt/a.h", "plugins/moe/a.h", "plugins/transformer/a.h", "launcher/a.h", "tests/a.h",
    "plugin_api/include/slipway/a.h", "plugin_api/include/slipway/torch.hpp", "plugin_api/include/slipway/torch/a.hpp")}

ALLOWED = [
    ("core/data/a.h", '"core/base/a.h"'), ("core/pretrain/a.h", '"core/optim/a.h"'), ("core/base/a.h", "<vector>"),
    ("core/data/a.h", "<slipway/a.h>"), ("core/comm/a.h", "<ATen/ATen.h>"), ("launcher/a.h", '"core/pretrain/a.h"'),
    ("plugins/gpt/a.h", '"plugins/transformer/a.h"'), ("plugins/gpt/a.h", "<ATen/ATen.h>"),
    ("plugins/gpt/a.h", "<slipway/a.h>"), ("plugin_api/include/slipway/torch.hpp", "<slipway/torch/a.hpp>"),
    ("plugin_api/include/slipway/torch/a.hpp", "<ATen/ATen.h>"),
    ("tests/a.h", '"plugins/gpt/a.h"'),
]

FORBIDDEN = [
    ("core/base/a.h", '"core/config/a.h"'), ("core/data/a.h", '"core/optim/a.h"'), ("core/base/a.h", "<slipway/a.h>"),
    ("core/config/a.h", "<ATen/ATen.h>"), ("core/comm/a.h", "<torch/torch.h>"), ("core/data/a.h", '"tests/a.h"'),
    ("core/data/a.h", '"plugins/gpt/a.h"'), ("core/data/a.h", '"../base/a.h"'), ("core/data/a.h", '"a.h"'),
    ("plugins/gpt/a.h", '"plugins/moe/a.h"'), ("plugins/gpt/a.h", '"core/base/a.h"'),
    ("plugin_api/include/slipway/a.h", "<ATen/ATen.h>"), ("plugin_api/include/slipway/a.h", '"core/base/a.h"'),
    ("plugin_api/include/slipway/a.h", "<slipway/torch/a.hpp>"),
    ("launcher/a.h", "<c10/core/Device.h>"), ("launcher/a.h", '"plugins/gpt/a.h"'), ("launcher/a.h", '"tests/a.h"'),
    ("core/novel/a.h", '"core/base/a.h"'),
]


class CheckLayers(unittest.TestCase):
    def test_allowed_arrows_pass(self):
        for path, name in ALLOWED:
            with self.subTest(path=path, name=name):
                status, output = check({**TREE, path: f"#include {name}\n"})
                self.assertEqual(status, 0, output)

    def test_forbidden_arrows_are_named(self):
        for path, name in FORBIDDEN:
            with self.subTest(path=path, name=name):
                status, output = check({**TREE, path: f"\n  # include {name}\n"})
                self.assertEqual(status, 1, output)
                self.assertIn(f"{path}:2: {name[1:-1]}: ", output)

    def test_an_empty_tree_is_not_a_success(self):
        self.assertEqual(check({})[0], 1)


if __name__ == "__main__":
    unittest.main()
