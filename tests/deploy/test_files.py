"""What is installed on a hospital's machine: the unit, the proxy, settings, locks, and the list of parts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from places import ROOT
from proxies import CADDYFILE, caddy

from mpd2.clinic.settings import read_settings
from mpd2.studio.serving import NEEDED

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "mpd2@.service"
MOST_EXPOSED = 1.2
LOCKS = {
    "requirements.lock": "requirements.txt",
    "requirements-cuda.lock": "requirements.txt",
    "requirements-cluster.lock": "requirements-cluster.txt",
    "requirements-imaging.lock": "requirements-imaging.txt",
}
PIN = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;+]+)(\S*)", re.MULTILINE)


def script(name: str) -> ModuleType:
    """A script of deploy/, loaded."""
    spec = spec_from_file_location(name, DEPLOY / f"{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_comments(text: str) -> str:
    """An example with what is offered in it switched on; sentences stay comments."""
    return re.sub(r"^# (?=\[|\w+ = |\")", "", text, flags=re.MULTILINE)


def analysed(*line: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    assert program, "found no systemd-analyze; `make system` installs it on Debian"
    return subprocess.run([program, *line], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})


@pytest.mark.parametrize(
    "setting", [{}, {"MPD2_TLS": "/etc/caddy/a.crt /etc/caddy/a.key", "MPD2_PROCESSES": "10.0.0.6:8501"}]
)
def test_caddy_takes_its_file(setting, tmp_path):
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)} | setting
    done = subprocess.run([caddy(), "adapt", "--config", CADDYFILE], env=environment, capture_output=True, text=True)
    assert (done.returncode, re.findall(r'"level":"warn".*', done.stderr)) == (0, [])
    if not setting:  # validating also reads the certificate
        line = [caddy(), "validate", "--config", CADDYFILE, "--adapter", "caddyfile"]
        done = subprocess.run(line, env=environment, capture_output=True, text=True)
        assert done.stderr.splitlines()[-1:] + done.stdout.splitlines()[-1:], done.stderr
        assert done.returncode == 0


def test_systemd_takes_the_unit(tmp_path):
    text = UNIT.read_text(encoding="utf-8")
    here = text.replace("/opt/mpd2/.venv/bin/python", sys.executable).replace("/opt/mpd2", str(tmp_path))
    (tmp_path / UNIT.name).write_text(here, encoding="utf-8")
    done = analysed("verify", "--man=no", str(tmp_path / UNIT.name))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_is_hardly_exposed_and_nothing_runs_as_root():
    done = analysed("security", "--offline=true", "--no-pager", str(UNIT))
    found = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert found, done.stderr
    assert float(found[1]) <= MOST_EXPOSED
    assert "✗ User=" not in done.stdout


def test_a_unit_that_is_less_hardened_is_more_exposed(tmp_path):
    weaker = re.sub(r"^(Protect|Private|Restrict)\w+=.*\n", "", UNIT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (tmp_path / UNIT.name).write_text(weaker, encoding="utf-8")
    done = analysed("security", "--offline=true", "--no-pager", str(tmp_path / UNIT.name))
    assert float(re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)[1]) > MOST_EXPOSED


def test_the_example_settings_can_be_read_as_they_are_and_switched_on(tmp_path):
    assert read_settings(DEPLOY / "settings.toml").login is None
    switched = tmp_path / "settings.toml"
    switched.write_text(without_comments((DEPLOY / "settings.toml").read_text(encoding="utf-8")), encoding="utf-8")
    settings = read_settings(switched)
    assert settings.login
    assert settings.record
    assert {"reader", "clinician", "researcher", "admin"} == set(settings.login.roles.values())


def test_the_example_secrets_have_every_entry_and_no_secret():
    text = (DEPLOY / "secrets.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text) == {}
    auth = tomllib.loads(without_comments(text))["auth"]
    assert set(auth) >= {*NEEDED, "client_id", "client_secret", "server_metadata_url"}
    assert (auth["cookie_secret"], auth["client_secret"]) == ("", "")


@pytest.mark.parametrize(("lock", "needs"), LOCKS.items())
def test_a_lock_has_every_requirement_at_its_version_with_a_hash(lock, needs):
    canonical = script("sbom").canonical
    wanted = {canonical(name): version for name, version, _ in PIN.findall(flattened(ROOT / needs))}
    entries = script("lock").split_entries((ROOT / lock).read_text(encoding="utf-8"))
    locked = {found[1]: found for entry in entries if (found := PIN.match(entry))}
    assert {name: version for name, version in wanted.items() if name not in locked or locked[name][2] != version} == {}
    assert [
        entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry and not entry.startswith("#")
    ] == []
    assert locked["torch"][3] == ("" if "cuda" in lock else "+cpu")


def flattened(path: Path) -> str:
    """A file of requirements with those it refers to."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^-r (\S+)$", lambda found: flattened(path.with_name(found[1])), text, flags=re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_folder(lock):
    assert not re.search(r"://|--(extra-)?index|--find-links|@ ", (ROOT / lock).read_text(encoding="utf-8"))


def test_the_list_of_parts_has_what_is_locked_alone_and_a_licence_for_each():
    parts = [
        {"name": "NumPy", "bom-ref": "numpy", "licenses": [{"expression": "BSD-3-Clause"}]},
        {"name": "protobuf", "bom-ref": "protobuf", "externalReferences": [{"url": "file:///home/somebody/a.whl"}]},
        {"name": "pytest", "bom-ref": "pytest"},
    ]
    bill = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": parts,
        "dependencies": [{"ref": "root", "dependsOn": ["numpy", "pytest"]}, {"ref": "pytest"}],
    }
    sbom = script("sbom")
    made = sbom.locked_alone(bill, sbom.locked_names("numpy==1.0 \\\n    --hash=sha256:0\nprotobuf==2 \\\n"))
    assert [part["name"] for part in made["components"]] == ["NumPy", "protobuf", "Inter (typeface)"]
    assert all(part["licenses"] for part in made["components"])
    assert made["dependencies"] == [{"ref": "root", "dependsOn": ["numpy"]}]
    assert "somebody" not in str(made)


def test_every_file_the_documentation_installs_is_there():
    told = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    named = set(re.findall(r"/opt/mpd2/deploy/(\S+)", told))
    assert named >= {"Caddyfile", "mpd2@.service", "environment", "settings.toml", "secrets.toml", "caddy.environment"}
    assert [name for name in named if not (DEPLOY / name).is_file()] == []


def test_a_container_has_a_user_without_rights_and_locked_parts():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert "--require-hashes" in text
    assert text.index("\nUSER mpd2\n") < text.index("\nCMD ")
    copied = re.findall(r"^COPY (\S+)", text, flags=re.MULTILINE)
    assert [name for name in copied if not (ROOT / name).exists()] == []
