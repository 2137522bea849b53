"""Write the lock files: every requirement at every level, at one version, with the hashes of all its files.

    python deploy/lock.py [FOLDER]

Each file of requirements for a server has its lock with the CPU build of torch, whose files have other hashes than the
default build's and are not in every index: those found in FOLDER are named, else the ones in the last lock.
`requirements-cuda.lock` takes the place of `requirements.lock` where the default build is wanted.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = "3.11"  # the oldest that is supported; newer ones are covered by the same file
LOCKED = ("requirements", "requirements-cluster", "requirements-imaging")
CUDA = "requirements-cuda.lock"
FOR_CUDA = re.compile(r"(nvidia|cuda|triton)\b")  # what only the default build of torch needs
TITLE = "# Made by `make lock`, and checked by `pip install --require-hashes`; docs/deploy.md says how it is used.\n"
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def main(folder: Path | None) -> None:
    """Write all of them."""
    kept = cpu_hashes(folder) if folder else kept_hashes(ROOT / "requirements.lock")
    if not kept:
        sys.exit("found no CPU build of torch: name the folder that its wheels are in")
    entries = {name: split_entries(compiled(ROOT / f"{name}.txt")) for name in LOCKED}
    for name, needed in entries.items():
        write(f"{name}.lock", [with_cpu_build(entry, kept) for entry in needed if not FOR_CUDA.match(entry)])
    write(CUDA, entries[LOCKED[0]])


def write(lock: str, entries: list[str]) -> None:
    """One lock file."""
    (ROOT / lock).write_text(TITLE + "".join(entries), encoding="utf-8")


def compiled(needs: Path) -> str:
    """What uv makes of a file of requirements, for every platform."""
    options = [
        "--universal",
        "--python-version",
        PYTHON,
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
        "--quiet",
    ]
    line = [sys.executable, "-m", "uv", "pip", "compile", *options, "--no-strip-extras", str(needs)]
    return subprocess.run(line, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def split_entries(text: str) -> list[str]:
    """A requirement each, with its hashes."""
    return re.findall(r"^\S.*(?:\n[ \t].*)*\n", text, re.MULTILINE)


def with_cpu_build(entry: str, hashes: list[str]) -> str:
    """The entry; in place of torch its CPU build.

    The two cannot share an entry: pip takes files whose hash the index tells, and so the default build, before others.
    """
    if not entry.startswith("torch=="):
        return entry
    return " \\\n    ".join([f"{entry.split()[0]}+cpu", *hashes]) + "\n"


def cpu_hashes(folder: Path) -> list[str]:
    """Those of the CPU builds in a folder that are of the version we need."""
    version = wanted_version((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    wheels = sorted(folder.glob(f"torch-{version}+cpu-*.whl"))
    return [f"--hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}" for wheel in wheels]


def kept_hashes(lock: Path) -> list[str]:
    """Those in the last lock, if it is of the version we need."""
    version = wanted_version((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    entries = split_entries(lock.read_text(encoding="utf-8")) if lock.exists() else []
    return [found for entry in entries if entry.startswith(f"torch=={version}+cpu ") for found in HASH.findall(entry)]


def wanted_version(requirements: str) -> str:
    """The version of torch."""
    found = re.search(r"^torch==(\S+)", requirements, re.MULTILINE)
    if not found:
        sys.exit("requirements.txt: found no version of torch")
    return found[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
