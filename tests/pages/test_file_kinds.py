"""PDF files and pictures in a message, and what cannot be read: told in words, and nothing lost."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pypdf import PdfReader, PdfWriter

from efforts import actions
from efforts.actions.files import storing
from efforts.actions.files.reading import read_file
from efforts.actions.files.sending import filled
from efforts.context.plans import replay
from efforts.context.replanning import plan_again
from efforts.domain.errors import Refused
from efforts.domain.prompt.pictures import reference, tokens_of
from efforts.domain.text.files import LONGEST_NAME, clean_name, read_text
from efforts.models import Message, MessageFile, Run, Session

from .conftest import Scene
from .test_files import add, answered, folder, kept, send

pytestmark = pytest.mark.django_db
Address = Callable[..., str]
__all__ = ["folder"]


def pdf(*pages: str) -> bytes:
    """A file with a line of text on each page."""
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        font,
    ]
    for place, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * place} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    out, places = io.BytesIO(b""), []
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    start = out.tell()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def encrypted(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(password, owner_password="owner")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def picture(form: str = "PNG", size: tuple[int, int] = (100, 80), mode: str = "RGB", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, 1 if mode == "1" else (200, 30, 30)).save(out, form, **more)
    return out.getvalue()


def test_a_pdf_is_sent_as_its_text_page_by_page(as_alice: Client, scene: Scene, address: Address) -> None:
    data = pdf("The lease ends in June.", "The rent is 900.")
    add(as_alice, address, "lease.pdf", data)
    send(as_alice, address, "When does it end?")
    planned = answered(scene)
    said = replay(planned)["messages"][-1]["content"]
    assert "File “lease.pdf” (PDF, 2 pages, 867 bytes):\n```\n[page 1]\nThe lease ends in June.\n\n[page 2]" in said
    got = as_alice.get(address(f"files/{MessageFile.objects.get().pk}/"))
    assert b"".join(got.streaming_content) == data  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (encrypted(pdf("Secret."), "secret"), "asks for a password"),
        (pdf("Whole.")[:200], "damaged"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 40, "damaged"),
        (pdf(""), "has no text"),
        (picture(size=(8_000, 8_000), mode="1"), "more than 50 million pixels"),
        (picture()[:60], "damaged"),
        (b"", "The file is empty."),
        (b" \n\t\n", "The file is empty."),
        (b"PK\x03\x04" + bytes(60), "It is a ZIP archive. Only text, code, PDF files and pictures can be added."),
        (b"MZ" + bytes(60), "It is a program."),
        (b"half a \x00 text", "Only text, code"),
        (b"x" * 1_000_001, "1,000,001 characters of text; 1,000,000 is the most"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(
    data: bytes, words: str, session: Session, alice: User, folder: Path
) -> None:
    with pytest.raises(Refused) as refused:
        actions.add_file(session, name="it.bin", data=data, actor=alice)
    assert words in refused.value.text
    assert not MessageFile.objects.exists()
    assert kept(session) == []


def test_a_pdf_that_only_forbids_changes_is_read(session: Session, alice: User) -> None:
    row = actions.add_file(session, name="a.pdf", data=encrypted(pdf("Open."), ""), actor=alice)
    assert "[page 1]\nOpen." in row.text


def test_office_files_are_told_from_other_archives(session: Session, alice: User) -> None:
    with pytest.raises(Refused) as refused:
        actions.add_file(session, name="plan.DOCX", data=b"PK\x03\x04" + bytes(60), actor=alice)
    assert refused.value.text.startswith("Office documents cannot be read. Save it as PDF")


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("Grüße".encode(), "Grüße", ""),
        ("\ufeffGrüße".encode(), "Grüße", ""),
        ("Grüße".encode("utf-16"), "Grüße", ""),
        ("Grüße".encode("cp1252"), "Grüße", "Windows-1252"),
        (b"a\r\nb\rc\n", "a\nb\nc\n", ""),
    ],
)
def test_text_is_read_whatever_it_is_written_in(data: bytes, text: str, encoding: str) -> None:
    read = read_text(data, "a.txt")
    assert (read.text, read.encoding) == (text, encoding)


def test_a_picture_is_sent_to_a_model_that_sees_it_and_the_plan_keeps_its_hash(
    as_alice: Client, scene: Scene, address: Address, settings: Any
) -> None:
    settings.CCM_MODEL_URL, settings.CCM_MODEL_NAME = "http://127.0.0.1:9/v1", "seer"
    settings.CCM_MODEL_PICTURES = True
    html = add(as_alice, address, "crane.png", picture()).content.decode()
    assert "does not see pictures" not in html
    send(as_alice, address, "What is this?")
    planned = answered(scene)
    row = MessageFile.objects.get()
    request = replay(planned)
    text, seen = request["messages"][-1]["content"]
    assert text["text"].endswith("What is this?\n\nPicture “crane.png” (100 × 80 pixels)")
    assert seen["image_url"]["url"] == f"picture:{row.sha256}-100x80.png"
    # One tile.
    [item] = [item for item in planned.body["items"] if item["reason"] == "picture"]
    assert item["tokens"] >= 85 + 170
    assert sum(planned.body["sections"].values()) == planned.tokens
    assert plan_again(planned).same
    data = storing.path_of(scene.session.pk, row.sha256).read_bytes()
    whole = filled(scene.session.pk, request)["messages"][-1]["content"][1]["image_url"]
    assert whole == {"url": f"data:image/png;base64,{base64.b64encode(data).decode()}", "detail": "high"}
    # As it is downloaded it is what was sent; as it is stored nothing of the picture is in it.
    exact = json.loads(as_alice.get(address(f"plans/{planned.pk}/request.json")).content)
    assert exact == filled(scene.session.pk, request)
    assert as_alice.get(address(f"plans/{planned.pk}/")).status_code == 200
    assert len(json.dumps(planned.body)) < 20_000


def test_a_model_that_sees_none_is_told_its_name_and_the_person_that_it_sees_none(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    html = add(as_alice, address, "crane.jpg", picture("JPEG")).content.decode()
    assert "The model of this conversation does not see pictures." in html
    send(as_alice, address, "What is this?")
    planned = answered(scene)
    assert replay(planned)["messages"][-1]["content"].endswith("Picture “crane.jpg” (100 × 80 pixels)")
    assert [item["reason"] for item in planned.body["items"]][-1] == "picture_unseen"
    assert '<img src="' in as_alice.get(address()).content.decode()


def test_of_a_picture_nothing_is_kept_but_what_is_seen() -> None:
    noted = Image.Exif()
    noted[0x010E] = "Taken at home, 52.5N 13.4E"
    # Turned by a quarter.
    noted[0x0112] = 6
    read = read_file("a.jpg", picture("JPEG", (400, 200), exif=noted, comment=b"At home"))
    assert b"home" not in read.kept
    with Image.open(io.BytesIO(read.kept)) as made:
        assert made.size == (200, 400)
        assert not made.getexif()
    assert read.picture == f"{hashlib.sha256(read.kept).hexdigest()}-200x400.jpeg"


@pytest.mark.parametrize(("form", "mode"), [("GIF", "P"), ("WEBP", "RGB"), ("BMP", "RGB"), ("PNG", "RGBA")])
def test_other_pictures_become_what_models_take(form: str, mode: str) -> None:
    out = io.BytesIO()
    Image.new(mode, (3000, 100)).save(out, form)
    read = read_file("a", out.getvalue())
    assert read.media_type in ("image/png", "image/jpeg")
    assert "(2048 × 68 pixels" in read.text


@pytest.mark.parametrize(
    ("size", "tokens"),
    [((1, 1), 255), ((512, 512), 255), ((1024, 1024), 765), ((2048, 4096), 1105), ((768, 2048), 1445)],
)
def test_a_picture_is_counted_in_tiles(size: tuple[int, int], tokens: int) -> None:
    """The examples of the rule's documentation among them."""
    assert tokens_of(reference("0" * 64, *size, "png")) == tokens


@pytest.mark.parametrize("most", ["CCM_FILE_BYTES", "CCM_FILES_PER_MESSAGE", "CCM_PERSON_FILE_BYTES"])
def test_there_is_a_bound_of_each_kind(
    most: str, as_alice: Client, session: Session, address: Address, settings: Any
) -> None:
    add(as_alice, address, "first.txt", b"x" * 900)
    setattr(settings, most, 1 if most == "CCM_FILES_PER_MESSAGE" else 1_000)
    html = add(as_alice, address, "second.txt", b"y" * 1_500).content.decode()
    assert "second.txt</b> was not added." in html
    assert {
        "CCM_FILE_BYTES": "The file has 1 KB; 1000 bytes is the most.",
        "CCM_FILES_PER_MESSAGE": "A message may have 1 files. Send these first.",
        "CCM_PERSON_FILE_BYTES": "Your files have 900 bytes; 1000 bytes is the most.",
    }[most] in html
    assert "first.txt" in html
    assert len(kept(session)) == 1


def test_a_file_of_a_message_that_is_said_anew_is_stored_and_counted_once(
    as_alice: Client, session: Session, address: Address, settings: Any, alice: User
) -> None:
    add(as_alice, address, "first.txt", b"x" * 900)
    branch = session.branches.get()
    files = list(MessageFile.objects.values_list("pk", flat=True))
    turn = actions.send_message(session, text="Read it.", client_id="one", actor=alice, files=files)
    Run.objects.update(state="stopped")
    actions.edit_turn(branch, turn.number, text="Read it well.", client_id="two", actor=alice)
    assert MessageFile.objects.count() == 2
    settings.CCM_PERSON_FILE_BYTES = 1_000
    assert len(actions.put_back_files(session, turn, actor=alice)) == 1
    actions.add_file(session, name="second.txt", data=b"y" * 100, actor=alice)
    with pytest.raises(Refused, match="Your files have 1000 bytes"):
        actions.add_file(session, name="third.txt", data=b"z", actor=alice)


@given(st.text(max_size=300))
def test_a_name_is_one_short_line_that_shows_as_it_is(name: str) -> None:
    clean = clean_name(name)
    assert 0 < len(clean) <= LONGEST_NAME
    assert clean == clean_name(clean)
    assert not set(clean) & set("/\\\n\r\t\x00\u202e\u2028“”")
    assert clean.isprintable()


@pytest.mark.parametrize("suffix", ["", ".txt", "." + "b" * 200], ids=["none", "short", "no suffix at all"])
def test_a_name_that_is_too_long_is_cut_and_keeps_its_suffix(suffix: str) -> None:
    clean = clean_name("a" * 300 + suffix)
    assert len(clean) == LONGEST_NAME
    assert clean.endswith("a….txt" if suffix == ".txt" else "a…")


@given(st.binary(max_size=300))
def test_whatever_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    # The readers of PDF files and pictures are processes, and have tests of their own.
    told, text = "", ""
    try:
        text = read_text(data, "a.txt").text
    except Refused as refused:
        told = refused.text
    assert bool(text) != bool(told)
    assert "\x00" not in text
    assert text.encode().decode() == text


def test_a_picture_whose_file_is_gone_ends_the_turn_in_words(session: Session) -> None:
    picture_part = {"type": "image_url", "image_url": {"url": f"picture:{'0' * 64}-1x1.png"}}
    with pytest.raises(OSError, match="0000"):
        filled(session.pk, {"messages": [{"role": "user", "content": [picture_part]}]})


def test_what_is_said_of_a_picture_can_be_searched(as_alice: Client, scene: Scene, address: Address) -> None:
    add(as_alice, address, "harbour-map.png", picture())
    send(as_alice, address, "Keep it.")
    assert Message.objects.get(role="file").text == "Picture “harbour-map.png” (100 × 80 pixels)"
    assert "Your file" in as_alice.get("/search/", {"q": "harbour map"}).content.decode()
