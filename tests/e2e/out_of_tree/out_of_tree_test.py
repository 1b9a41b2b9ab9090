#!/usr/bin/env python3
"""Plugins built outside the tree, against an installed Slipway, train in the installed program."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD_DIR"])
HERE = pathlib.Path(__file__).parent

STEPS = 20
MANIFEST = {
    "model": {"use": "bigram"},
    "optimizer": {"use": "plain_sgd", "sgd_scale": 2.0},
    "data_parallel": {"use": "ddp"},
    "data": {"use": "text", "paths": ["text.txt"], "split": "1,0,0"},
    "train": {"seq_length": 16, "global_batch_size": 8, "train_iters": STEPS, "lr": 5.0, "clip_grad": 0.0,
              "lr_decay_style": "constant", "weight_decay": 0.0},
}


class OutOfTree(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.prefix = self.folder / "prefix"
        self.run_command("cmake", "--install", BUILD, "--prefix", self.prefix)

    def run_command(self, *command):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SLIPWAY_")}
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=self.folder,
                              env=environment)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def build_plugin(self, source, name):
        """Copies the folder out of the tree and builds it; returns the shared object."""
        copy = self.folder / name
        shutil.copytree(source, copy)
        self.run_command("cmake", "-S", copy, "-B", copy / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_command("cmake", "--build", copy / "build")
        return copy / "build" / "lib" / "slipway" / "plugins" / f"libslipway_{name}.so"

    def test_a_c_model_and_a_libtorch_optimizer_train(self):
        bigram = self.build_plugin(SOURCE / "plugins" / "examples" / "bigram", "bigram")
        optimizer = self.build_plugin(HERE / "torch_plugin", "plain_sgd")
        slipway = self.prefix / "bin" / "slipway"
        self.assertIn("plain_sgd", self.run_command(slipway, "plugin", "info", optimizer))

        (self.folder / "text.txt").write_text("the quick brown fox jumps over the lazy dog. " * 200)
        (self.folder / "run.json").write_text(json.dumps(MANIFEST))
        self.run_command(slipway, "train", "--manifest", "run.json", "--plugin", bigram, "--plugin", optimizer,
                         "--output-dir", "out")

        rows = [json.loads(line) for line in (self.folder / "out" / "metrics.jsonl").read_text().splitlines()]
        losses = [row["loss"] for row in rows if "loss" in row]
        self.assertEqual(len(losses), STEPS)
        self.assertLess(losses[-1], losses[0] - 0.5)
        used = (self.folder / "out" / "manifest.resolved.json").read_text()
        self.assertIn(str(bigram), used)
        self.assertIn(str(optimizer), used)


if __name__ == "__main__":
    unittest.main()
