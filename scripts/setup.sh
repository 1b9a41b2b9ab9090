#!/usr/bin/env bash
# Brings a fresh Debian 12 to the point where Slipway builds: system packages, LibTorch and Python tools in .deps/venv,
# the demo text in .deps/data. Running it again costs a second. Needs root or sudo only while packages are missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
venv=$deps/venv
logs=$deps/logs
text=$deps/data/devils_dictionary.txt
text_bytes=383656

apt_packages=(
  ca-certificates g++ cmake ninja-build ccache python3 python3-venv
  libboost-dev libboost-filesystem-dev nlohmann-json3-dev
  libgloo-dev libssl-dev libxxhash-dev libgtest-dev libgmock-dev libbenchmark-dev
)
torch_version=2.11.0
# The CUDA libraries of LibTorch that a CUDA toolkit with cuDNN and NCCL does not bring.
beside_toolkit=(nvidia-cusparselt-cu13==0.8.0 nvidia-nvshmem-cu13==3.4.5 "cuda-toolkit[cufile]==13.0.2")
toolkit_libraries=(libcudart.so.13 libcublas.so.13 libcublasLt.so.13 libcufft.so.12 libcurand.so.10 libcusolver.so.12
  libcusparse.so.12 libcupti.so.13 libnvrtc.so.13 libnvJitLink.so.13 libcudnn.so.9 libnccl.so.2)
python_tools=(numpy==2.4.1 safetensors==0.7.0 lizard==1.24.0 clang-format==14.0.6 clang-tidy==23.1.4)

say() { printf 'setup: %s\n' "$*"; }

# fail WHAT CHECK [LOG]: ends the script; WHAT went wrong, what to CHECK, the end of LOG.
fail() {
  if [[ -n ${3:-} && -s ${3:-} ]]; then
    printf -- '--- last lines of %s\n' "$3" >&2
    tail -n 15 "$3" >&2
    printf -- '---\n' >&2
  fi
  printf 'setup: error: %s\n  check: %s\n  then run scripts/setup.sh again; finished steps are not repeated\n' "$1" "$2" >&2
  exit 1
}

# step LOG COMMAND...: runs COMMAND into LOG and reports every 15 seconds that it is still running.
step() {
  local log=$1 start=$SECONDS said=0 pid
  shift
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - start >= said + 15)); then
      said=$((SECONDS - start))
      say "  still running after $said s (output in ${log#"$root"/})"
    fi
  done
  wait "$pid"
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo -n true 2>/dev/null || [[ -t 0 ]] || fail "system packages are missing and this user is not root" "that sudo works without a password, or run as root"
    sudo "$@"
  fi
}

apt_update() {
  say "refreshing the package lists"
  step "$logs/apt-update.log" as_root apt-get update ||
    fail "apt-get update did not succeed" "the network and /etc/apt/sources.list" "$logs/apt-update.log"
}

missing_packages() {
  local package
  for package in "${apt_packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s\n' "$package"
  done
}

setup_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || fail "no apt-get here" "that this is Debian 12; elsewhere install by hand: ${missing[*]}"
  ((EUID == 0)) || command -v sudo >/dev/null || fail "packages are missing (${missing[*]}) and there is no sudo" "run as root"
  apt_update
  say "installing ${#missing[@]} system packages: ${missing[*]}"
  step "$logs/apt-install.log" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install: ${missing[*]}" "the network, free disk space, and that no other apt runs" "$logs/apt-install.log"
}

# Whether the loader finds every CUDA library that LibTorch needs and beside_toolkit does not bring.
has_cuda_toolkit() {
  local known library
  known=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)
  for library in "${toolkit_libraries[@]}"; do
    [[ $known == *"$library "* ]] || return 1
  done
}

find_python() {
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -c 'import ensurepip, sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      command -v "$python"
      return 0
    fi
  done
  return 1
}

pip_install() {
  step "$1" "$venv/bin/python" -m pip install --no-input --disable-pip-version-check "${@:2}" ||
    fail "pip could not install: ${*:2}" "the network, pip's index (pip config list), and free disk space (LibTorch needs 2 GB, its full CUDA set 8 GB)" "$1"
}

make_venv() {
  local python
  python=$(find_python) || fail "no Python 3.10 to 3.14 with venv and ensurepip" "that python3-venv is installed and /usr/bin/python3 runs"
  say "making ${venv#"$root"/} with $python"
  rm -rf "$venv"
  step "$logs/venv.log" "$python" -m venv "$venv" || fail "$python -m venv failed" "free disk space in $deps" "$logs/venv.log"
}

# setup_venv: the stamp names what is inside, so another version list makes the folder again.
setup_venv() {
  local stamp=$venv/slipway.stamp full toolkit wanted
  full="torch==$torch_version full ${python_tools[*]}"
  toolkit="torch==$torch_version ${beside_toolkit[*]} ${python_tools[*]}"
  if has_cuda_toolkit; then wanted=$toolkit; else wanted=$full; fi
  if [[ -f $stamp && ($(<"$stamp") == "$wanted" || $(<"$stamp") == "$full") ]]; then return 0; fi
  make_venv
  if [[ $wanted == "$toolkit" ]]; then
    say "CUDA toolkit found; installing LibTorch $torch_version (download of about 600 MB)"
    pip_install "$logs/pip-torch.log" --no-deps "torch==$torch_version"
    pip_install "$logs/pip-cuda.log" "${beside_toolkit[@]}"
  else
    say "no CUDA toolkit; installing LibTorch $torch_version with its CUDA libraries (download of about 3 GB)"
    pip_install "$logs/pip-torch.log" "torch==$torch_version"
  fi
  say "installing Python tools: ${python_tools[*]}"
  pip_install "$logs/pip-tools.log" "${python_tools[@]}"
  printf '%s\n' "$wanted" >"$stamp"
}

download_text_package() {
  (cd "$1" && apt-get -o APT::Sandbox::User="$(id -un)" download dict-devil)
}

# setup_text: takes one file out of the package dict-devil, whose dependency (a dictionary server) is not wanted.
setup_text() {
  [[ -f $text && $(stat -c %s "$text") == "$text_bytes" ]] && return 0
  local scratch=$deps/dict-devil
  rm -rf "$scratch"
  mkdir -p "$scratch" "$deps/data"
  say "fetching the demo text (package dict-devil, 0.4 MB)"
  if ! step "$logs/text.log" download_text_package "$scratch"; then
    apt_update
    step "$logs/text.log" download_text_package "$scratch" ||
      fail "apt-get could not download dict-devil" "the network and that the Debian main section is enabled" "$logs/text.log"
  fi
  dpkg-deb -x "$scratch"/dict-devil_*.deb "$scratch/root"
  gzip -dc <"$scratch/root/usr/share/dictd/devil.dict.dz" >"$text.part"
  [[ $(stat -c %s "$text.part") == "$text_bytes" ]] ||
    fail "the demo text has $(stat -c %s "$text.part") bytes, expected $text_bytes" "the version of dict-devil in $scratch"
  mv "$text.part" "$text"
  rm -rf "$scratch"
}

main() {
  mkdir -p "$logs"
  exec 9>"$deps/setup.lock"
  flock 9
  trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
  setup_packages
  setup_venv
  setup_text
  say "ready (${SECONDS} s)"
}

main "$@"
