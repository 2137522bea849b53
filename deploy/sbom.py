"""Write the list of all parts of a server as it is locked (CycloneDX, JSON), with their licences.

    python deploy/sbom.py FILE

It is read from the environment it runs in; of that, only what `requirements.lock` names is listed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
FONT = {
    "type": "file",
    "bom-ref": "inter",
    "name": "Inter (typeface)",
    "licenses": [{"license": {"id": "OFL-1.1"}}],
}  # the only part in the repository that somebody else made
UNSAID = {"protobuf": "BSD-3-Clause", "pydeck": "Apache-2.0"}
"""Licences of packages whose metadata leave it out, from their own texts."""


def main(target: Path) -> None:
    """Write the list, whole."""
    options = ["--pyproject", "pyproject.toml", "--output-reproducible", "--short-PURLs", "--validate"]
    line = [sys.executable, "-m", "cyclonedx_py", "environment", *options, sys.executable]
    done = subprocess.run(line, check=True, capture_output=True, text=True, cwd=ROOT)
    bill = locked_alone(json.loads(done.stdout), locked_names(LOCK.read_text(encoding="utf-8")))
    target.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"{target}: {len(bill['components'])} parts")


def locked_names(lock: str) -> set[str]:
    """The names in a lock file."""
    return {canonical(name) for name in re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", lock, re.MULTILINE)}


def canonical(name: str) -> str:
    """A package's name as all its spellings are compared by.

    >>> canonical("Zope.Interface")
    'zope-interface'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def locked_alone(bill: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """A bill without what is in the environment for other reasons, such as tests."""
    parts = [described(part) for part in bill["components"] if canonical(part["name"]) in names]
    refs = {part["bom-ref"] for part in parts} | {bill["metadata"]["component"]["bom-ref"]}
    needs = [
        entry | {"dependsOn": [ref for ref in entry.get("dependsOn", []) if ref in refs]}
        for entry in bill["dependencies"]
        if entry["ref"] in refs
    ]
    return bill | {"components": [*parts, FONT], "dependencies": needs}


def described(part: dict[str, Any]) -> dict[str, Any]:
    """A part with its licence, and without the places on this machine it was installed from."""
    links = [link for link in part.get("externalReferences", []) if not link["url"].startswith("file:")]
    unsaid = [{"license": {"id": UNSAID[part["name"]]}}] if part["name"] in UNSAID else []
    return part | {"externalReferences": links, "licenses": part.get("licenses", unsaid)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
