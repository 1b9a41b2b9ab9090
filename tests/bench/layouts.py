"""A step of the demo model in each layout of two ranks with one core each, against one rank with one core: what the same
batch costs on the same cores. Layouts take turns; medians.

layouts.py [--rounds 2] [NAME...]
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEMO = ROOT / "launcher/manifests/devils_dictionary.json"
SHORT = ["--train-iters", "14", "--lr-warmup-iters", "2", "--eval-interval", "0", "--eval-iters", "0", "--cpu-threads", "1",
         "--micro-batch-size", "4", "--checkpoint.save", "false"]
WARM_UP = 4
TP = ["--nproc-per-node", "2", "--tensor-model-parallel-size", "2"]
PP = ["--nproc-per-node", "2", "--pipeline-model-parallel-size", "2"]
DISTOPT = ["--nproc-per-node", "2", "--data-parallel.use", "distributed_optimizer"]

LAYOUTS = {
    "1 rank": [],
    "dp2": ["--nproc-per-node", "2"],
    "dp2, no overlap": ["--nproc-per-node", "2", "--no-overlap-grad-reduce"],
    "dp2distopt": DISTOPT,
    "dp2distopt, no overlap": DISTOPT + ["--no-overlap-grad-reduce", "--no-overlap-param-gather"],
    "pp2": PP,
    "pp2vpp2": PP + ["--virtual-pipeline-model-parallel-size", "2"],
    "pp2 with recompute": PP + ["--recompute-granularity", "full"],
    "tp2": TP,
    "tp2sp": TP + ["--sequence-parallel"],
}


def step_seconds(options):
    with tempfile.TemporaryDirectory() as folder:
        command = [ROOT / "build/bin/slipway", "train", "--manifest", DEMO, "--output-dir", f"{folder}/run"]
        subprocess.run(command + SHORT + options, check=True, capture_output=True)
        lines = pathlib.Path(f"{folder}/run/metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step_time_s"] for line in lines][WARM_UP:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    names = ["1 rank"] + [name for name in arguments.names or LAYOUTS if name != "1 rank"]
    steps = {name: [] for name in names}
    for _ in range(arguments.rounds):
        for name in names:
            steps[name] += step_seconds(LAYOUTS[name])
    base = statistics.median(steps["1 rank"])
    for name in names:
        median = statistics.median(steps[name])
        print(f"{name:24} {median * 1e3:6.1f} ms a step, {base / median:.2f} times the speed of one rank", flush=True)


if __name__ == "__main__":
    main()
