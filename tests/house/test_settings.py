"""Settings come from the environment, are all listed, and are refused in one line where wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.process import ROOT, manage


def keys_of(text: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, text, re.MULTILINE))


def test_every_setting_stands_in_the_example_and_no_other() -> None:
    used = keys_of((ROOT / "ccmweb/settings.py").read_text(), r'env\.\w+\(\s*"(\w+)"')
    listed = keys_of((ROOT / ".env.example").read_text(), r"^#? ?([A-Z_]+)=")
    assert listed == used


WRONG = {
    "DATABASE_URL": ("mysql://x", "DATABASE_URL must be like"),
    "CCM_HOME": ("/proc/none", "CCM_HOME=/proc/none cannot be written"),
    "CCM_MAX_RUNS": ("many", "CCM_MAX_RUNS=many is not a number"),
    "CCM_WORKSPACE_COMMANDS": ('{"test": "pytest -q"}', "test must be a list of words, the program first"),
    "CCM_RUNNER": ("thread", "CCM_RUNNER=thread is none of embedded, worker"),
    "CCM_METRICS": ("token", "CCM_METRICS=token needs a CCM_METRICS_TOKEN"),
    "CCM_LOG_FORMAT": ("xml", "CCM_LOG_FORMAT=xml is none of text, json"),
    "DEBUG": ("maybe", "DEBUG=maybe is neither on nor off"),
    "TIME_ZONE": ("Mars/Olympus", "TIME_ZONE=Mars/Olympus is not a time zone"),
    "CCM_ENCODING": ("klingon", "The tokenizer 'klingon' cannot be loaded"),
    "CCM_MODEL_HOSTS": ("http://box.lan", "CCM_MODEL_HOSTS: http://box.lan is no host"),
    "CCM_MODEL_URL": ("localhost:8080", "CCM_MODEL_URL=localhost:8080 is not an address"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_is_one_clear_line_at_start(name: str, tmp_path: Path) -> None:
    value, line = WRONG[name]
    run = manage("serve", "--port", "0", **({"CCM_HOME": str(tmp_path)} | {name: value}))
    assert run.returncode != 0
    assert line in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.slow
def test_the_model_of_the_environment_is_asked_as_the_environment_says(tmp_path: Path) -> None:
    window = {"CCM_MODEL_URL": "http://127.0.0.1:9/v1", "CCM_MODEL_WINDOW": "32000"}
    code = "from efforts.context.connections import of_environment as of; print(of().base_url, of().context_window)"
    assert "http://127.0.0.1:9/v1 32000" in manage("shell", "-c", code, CCM_HOME=str(tmp_path), **window).stdout
    assert "None" in manage("shell", "-c", code, CCM_HOME=str(tmp_path)).stdout


@pytest.mark.slow
def test_kept_connections_are_refused(tmp_path: Path) -> None:
    run = manage("check", CCM_HOME=str(tmp_path), DATABASE_URL=f"sqlite:///{tmp_path}/db?conn_max_age=60")
    assert "conn_max_age: leave it out" in run.stderr


@pytest.mark.slow
def test_the_secret_key_is_made_once_and_private(tmp_path: Path) -> None:
    manage("check", CCM_HOME=str(tmp_path))
    key = tmp_path / "secret_key"
    made = key.read_text()
    manage("check", CCM_HOME=str(tmp_path))
    assert key.read_text() == made
    assert key.stat().st_mode & 0o777 == 0o600
