"""The effect of single options on a step: each pair of settings in turns in one run, medians and their ratio.

variants.py [--rounds 3] [NAME...]
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
SHORT = ["--train-iters", "24", "--lr-warmup-iters", "2", "--eval-interval", "0", "--eval-iters", "0"]
WIDE = ["--model.vocab-size", "32000", "--micro-batch-size", "4", "--global-batch-size", "4"]
WARM_UP = 6

# name: (manifest, options of both, options of the base, options of the variant)
VARIANTS = {
    "pool, demo": (DEMO, SHORT, ["--cpu-memory-pool", "false"], []),
    "pool, 6 x 384": (HERE / "gpt_384.json", [], ["--cpu-memory-pool", "false"], []),
    "pool, vocabulary 32000": (HERE / "gpt_384.json", WIDE, ["--cpu-memory-pool", "false"], []),
    "reading ahead, demo": (DEMO, SHORT, ["--num-workers", "0"], []),
    "overlap of all-reduce, 2 ranks": (DEMO, SHORT + ["--nproc-per-node", "2", "--micro-batch-size", "4"],
                                       ["--overlap-grad-reduce", "false"], []),
}


def step_seconds(manifest, options):
    with tempfile.TemporaryDirectory() as folder:
        command = [ROOT / "build/bin/slipway", "train", "--manifest", manifest, "--output-dir", f"{folder}/run"]
        subprocess.run(command + options + ["--checkpoint.save", "false"] * (manifest == DEMO), check=True, capture_output=True)
        lines = pathlib.Path(f"{folder}/run/metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines][WARM_UP:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for name in arguments.names or VARIANTS:
        manifest, both, base, variant = VARIANTS[name]
        steps = {"without": [], "with": []}
        for _ in range(arguments.rounds):
            steps["without"] += step_seconds(manifest, both + base)
            steps["with"] += step_seconds(manifest, both + variant)
        medians = {key: statistics.median(line["step_time_s"] for line in lines) for key, lines in steps.items()}
        waits = {key: sum(line["data_wait_s"] for line in lines) / sum(line["step_time_s"] for line in lines)
                 for key, lines in steps.items()}
        print(f"{name:32} step {medians['without'] * 1e3:6.1f} ms without, {medians['with'] * 1e3:6.1f} ms with: "
              f"{medians['without'] / medians['with']:.3f} times the speed; "
              f"data wait {100 * waits['without']:.3f} % and {100 * waits['with']:.3f} %", flush=True)


if __name__ == "__main__":
    main()
