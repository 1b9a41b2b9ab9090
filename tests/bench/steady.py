"""Start-up time and resident memory of real runs through the launcher.

steady.py [--manifest FILE] [--steps 500] [--max-start 3.0] [--max-growth 0.02] [--option=...]
Prints the seconds from the command to the end of the first step, and the resident size of the worker per quarter of the
run; exit code 1 when the start takes longer or the last quarter's mean exceeds the second's by more than allowed.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("SLIPWAY_BUILD_DIR", ROOT / "build"))


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def resident_kib(pid):
    """Of the worker, the launcher's only child; None before it is there and once it is gone."""
    try:
        worker = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        status = pathlib.Path(f"/proc/{worker}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])
    except (OSError, IndexError):
        return None


def run(arguments, options):
    """Seconds to the first step, and (steps done, KiB) samples."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        command = [BUILD / "bin/slipway", "train", "--manifest", arguments.manifest, "--output-dir", out]
        begin, first, samples = time.monotonic(), None, []
        with open(f"{folder}/log", "wb") as log:
            process = subprocess.Popen(command + options, stdout=log, stderr=subprocess.STDOUT)
            while process.poll() is None:
                steps, size = lines_of(out / "metrics.jsonl"), resident_kib(process.pid)
                if steps and first is None:
                    first = time.monotonic() - begin
                if steps and size:
                    samples.append((steps, size))
                time.sleep(0.01)
        if process.returncode:
            sys.exit(pathlib.Path(f"{folder}/log").read_text() + f"\nexit code {process.returncode}")
    return first, samples


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--manifest", default=ROOT / "launcher/manifests/tiny.json")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--max-start", type=float, default=3.0)
    parser.add_argument("--max-growth", type=float, default=0.02)
    arguments, options = parser.parse_known_args()
    first, samples = run(arguments, ["--train-iters", str(arguments.steps)] + options)
    quarters = [[size for step, size in samples if q * arguments.steps < 4 * step <= (q + 1) * arguments.steps]
                for q in range(4)]
    if not all(quarters):
        sys.exit(f"too few samples: {[len(q) for q in quarters]}; give more --steps")
    means = [statistics.mean(q) / 1024 for q in quarters]
    growth = means[3] / means[1] - 1
    print(f"start to the end of the first step: {first:.2f} s (allowed {arguments.max_start})")
    print("resident size by quarter: " + ", ".join(f"{mean:.1f} MiB" for mean in means) +
          f"; growth {100 * growth:+.2f} % (allowed {100 * arguments.max_growth} %)")
    sys.exit(0 if first <= arguments.max_start and growth <= arguments.max_growth else 1)


if __name__ == "__main__":
    main()
