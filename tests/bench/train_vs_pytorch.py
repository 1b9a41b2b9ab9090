"""Tokens per second of `slipway train` and of the same model in eager PyTorch, in turns in one run.

train_vs_pytorch.py [--rounds 4] [--steps 14] [--threads N] [--fused]
Needs an importable torch of the same version: tests/bench/run.sh sets PYTHONPATH.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOKENS = 12 * 256
WARM_UP = 4


def slipway_seconds(arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [ROOT / "build/bin/slipway", "train", "--manifest", HERE / "gpt_384.json", "--output-dir", f"{folder}/run"]
        command += ["--train-iters", str(arguments.steps), "--cpu-threads", str(arguments.threads)]
        subprocess.run(command, check=True, capture_output=True)
        lines = pathlib.Path(f"{folder}/run/metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step_time_s"] for line in lines][WARM_UP:]


def eager_seconds(arguments):
    command = [sys.executable, HERE / "eager.py", str(arguments.steps), str(arguments.threads)]
    command += ["fused"] if arguments.fused else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()][WARM_UP:]


def report(name, seconds):
    speeds = sorted(TOKENS / s for s in seconds)
    median = statistics.median(speeds)
    print(f"{name:8} {median:8.0f} tokens/s, step {TOKENS / median * 1e3:.0f} ms "
          f"(all steps {speeds[0]:.0f} to {speeds[-1]:.0f} tokens/s)")
    return median


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--fused", action="store_true", help="PyTorch's fused AdamW instead of its default")
    arguments = parser.parse_args()
    ours, theirs, ratios = [], [], []
    for _ in range(arguments.rounds):
        mine, eager = slipway_seconds(arguments), eager_seconds(arguments)
        ours += mine
        theirs += eager
        ratios.append(statistics.median(eager) / statistics.median(mine))
    ratio = report("slipway", ours) / report("eager", theirs)
    print(f"ratio    {ratio:.2f}  (by round: {', '.join(f'{r:.2f}' for r in ratios)})")
    sys.exit(0 if ratio >= 1 else 1)


if __name__ == "__main__":
    main()
