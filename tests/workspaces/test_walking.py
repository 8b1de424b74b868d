"""What of a folder is read, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workspaces.domain.states import Skip
from workspaces.indexing.walking import DEEPEST, FoundFile, Limits, Walk

LIMITS = Limits(files=100, file_bytes=1_000, all_bytes=100_000)


def walk(root: Path, limits: Limits = LIMITS) -> tuple[set[str], dict[Skip, list[str]]]:
    one = Walk(root=root, limits=limits)
    return {file.path for file in one.found()}, dict(one.left_out.named)


def test_text_is_read_with_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\r\n")
    assert list(Walk(root=tmp_path, limits=LIMITS).found()) == [FoundFile(path="a.py", data=b"x = 1\r\n")]


def test_what_gitignore_names_is_left_out_and_the_deepest_one_decides(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "build").mkdir()
    for name in ("a.log", "a.py", "sub/kept.log", "sub/b.log", "build/out.py"):
        (tmp_path / name).write_text("text")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n")
    (tmp_path / "sub" / ".gitignore").write_text("!kept.log\n")
    found, out = walk(tmp_path)
    assert found == {"a.py", ".gitignore", "sub/.gitignore", "sub/kept.log"}
    assert out == {Skip.IGNORED: ["a.log", "build/", "sub/b.log"]}


@pytest.mark.parametrize("line", ["!", "\\", "a\\", "[z-a]"])
def test_a_line_of_gitignore_that_is_no_pattern_leaves_out_nothing(tmp_path: Path, line: str) -> None:
    for name in ("a.log", "a.py"):
        (tmp_path / name).write_text("text")
    (tmp_path / ".gitignore").write_text(f"{line}\n*.log\n")
    found, out = walk(tmp_path)
    assert (found, out) == ({"a.py", ".gitignore"}, {Skip.IGNORED: ["a.log"]})


def test_folders_of_tools_are_left_out_without_any_gitignore(tmp_path: Path) -> None:
    for name in (".git/config", "node_modules/x/index.js", "pkg/__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("text")
    assert walk(tmp_path)[0] == set()


@pytest.mark.parametrize("name", [".env", ".env.local", "server.pem", "id_rsa", ".npmrc", "ID_RSA.OLD", "credentials"])
def test_files_that_hold_secrets_by_their_name_are_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("secret")
    assert walk(tmp_path) == (set(), {Skip.SECRET: [name]})


def test_an_example_of_settings_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / ".env.example").write_text("KEY=")
    assert walk(tmp_path)[0] == {".env.example"}


def test_a_private_key_is_a_secret_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + "\n")
    assert walk(tmp_path) == (set(), {Skip.SECRET: ["notes.txt"]})


def test_binaries_and_large_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"ab\x00cd")
    (tmp_path / "big.py").write_text("x" * 1_001)
    assert walk(tmp_path) == (set(), {Skip.BINARY: ["a.bin"], Skip.TOO_LARGE: ["big.py"]})


def test_a_file_of_a_gigabyte_costs_nothing(tmp_path: Path) -> None:
    with (tmp_path / "huge.txt").open("wb") as file:
        # Of which the file system keeps no byte.
        file.truncate(1 << 30)
    assert walk(tmp_path) == (set(), {Skip.TOO_LARGE: ["huge.txt"]})


def test_links_are_not_followed_wherever_they_lead(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder in (outside, root):
        folder.mkdir()
    (outside / "secret.txt").write_text("secret")
    (root / "a.py").write_text("x")
    (root / "file.txt").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "dangling").symlink_to("nowhere")
    found, out = walk(root)
    assert found == {"a.py"}
    assert out == {Skip.LINK: ["dangling", "file.txt", "folder", "loop"]}


def test_a_folder_that_becomes_a_link_while_it_is_walked_is_not_entered(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder in (outside, root, root / "later"):
        folder.mkdir()
    (outside / "secret.txt").write_text("secret")
    (root / "a.py").write_text("x")
    (root / "later" / "b.py").write_text("x")
    one = Walk(root=root, limits=LIMITS)
    found = one.found()
    assert next(found).path == "a.py"
    (root / "later" / "b.py").unlink()
    (root / "later").rmdir()
    (root / "later").symlink_to(outside)
    assert list(found) == []
    assert one.left_out.named[Skip.UNREADABLE] == ["later/"]


def test_a_file_that_vanishes_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("x")
    one = Walk(root=tmp_path, limits=LIMITS)
    found = one.found()
    next(found)
    (tmp_path / "b.py").unlink()
    assert [file.path for file in found] == ["c.py"]
    assert one.left_out.named[Skip.UNREADABLE] == ["b.py"]


def test_a_pipe_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert walk(tmp_path) == (set(), {Skip.UNREADABLE: ["pipe.py"]})


def test_so_many_files_are_read_and_of_the_rest_their_number_is_known(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.py").write_text("x")
    one = Walk(root=tmp_path, limits=Limits(files=20, file_bytes=10, all_bytes=100))
    assert [file.path for file in one.found()] == [f"{number:03}.py" for number in range(20)]
    assert one.left_out.to_json()["too many"]["count"] == 180


def test_all_files_together_have_a_limit_too(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_text("x" * 10)
    assert walk(tmp_path, Limits(files=10, file_bytes=10, all_bytes=20))[0] == {"a", "b"}


def test_deep_nesting_ends_where_it_helps_nobody(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(DEEPEST + 5):
        folder /= "d"
        folder.mkdir()
        (folder / "a.py").write_text("x")
    found, out = walk(tmp_path)
    assert len(found) == DEEPEST
    assert list(out) == [Skip.TOO_DEEP]


@pytest.mark.parametrize("name", [b"caf\xe9.py", b"new\nline.py", b"bell\x07.py"])
def test_a_name_that_is_no_text_is_left_out_and_can_be_told(tmp_path: Path, name: bytes) -> None:
    (tmp_path / os.fsdecode(name)).write_text("x")
    found, out = walk(tmp_path)
    assert found == set()
    assert len(out[Skip.ODD_NAME]) == 1
    assert out[Skip.ODD_NAME][0].encode()
