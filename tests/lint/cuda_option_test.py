"""SLIPWAY_CUDA as a user gives it: OFF leaves the CUDA parts out, ON stops at what is missing, a wrong word is refused.

usage: cuda_option_test.py CMAKE SOURCE_DIR
Configures only; nothing is built.
"""
import subprocess
import sys
import tempfile

CMAKE, SOURCE = sys.argv[1:3]


def configure(*options):
    with tempfile.TemporaryDirectory() as folder:
        command = [CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", folder, "--log-level=NOTICE", *options]
        done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def expect(case, condition, output):
    print(("ok      " if condition else "FAILED  ") + case)
    if not condition:
        print(output)
    return condition


def main():
    code, off = configure("-DSLIPWAY_CUDA=OFF")
    good = expect("OFF configures and says why CUDA is off",
                  code == 0 and "CUDA off: switched off by -DSLIPWAY_CUDA=OFF" in off, off)
    code, missing = configure("-DSLIPWAY_CUDA=ON", "-DCUDAToolkit_ROOT=/nowhere")
    good &= expect("ON stops and says what is missing, where it looked and what to do",
                   code != 0 and "SLIPWAY_CUDA=ON, but no CUDA toolkit: nvcc is not in /nowhere/bin" in missing
                   and "-DSLIPWAY_CUDA=OFF" in missing, missing)
    code, auto = configure("-DSLIPWAY_CUDA=AUTO", "-DCUDAToolkit_ROOT=/nowhere")
    good &= expect("AUTO goes on without a toolkit", code == 0 and "CUDA off: no CUDA toolkit" in auto, auto)
    code, wrong = configure("-DSLIPWAY_CUDA=MAYBE")
    good &= expect("another word is refused", code != 0 and "it may be AUTO, ON or OFF" in wrong, wrong)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
