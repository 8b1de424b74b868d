"""What can be read of a file, by a process of its own: `python reader.py pdf_text FILE MOST`, or `picture FILE TARGET`,
prints JSON.

A damaged file, or one that was made to be, may take a reader any time and memory, and a picture of a few kilobytes may
have billions of pixels: the process has bounds, and can be ended. It imports nothing of the program.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings

# Bytes, of the process that runs it.
MEMORY = {"pdf_text": 1024 * 1024 * 1024, "picture": 1536 * 1024 * 1024}
SECONDS = 30
MOST_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
# How models of the tile rule take a picture: within a square of LARGEST, its shorter side at most SHORTER. More would
# be sent for nothing.
LARGEST = 2048
SHORTER = 768
QUALITY = 88
# Bytes; a larger PNG is a photograph.
MOST_PNG = 1_500_000


def limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # not everywhere; the time of the whole is bounded all the same
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def pdf_text(path: str, most: str) -> dict[str, object]:
    """Page by page, each under its number; no more than `most` characters and what makes them too many."""
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError

    try:
        reader = PdfReader(path)
        # Many are encrypted with an empty password, which only forbids to change them.
        if reader.is_encrypted and not reader.decrypt(""):
            return {"fault": "encrypted"}
        pages, length = [], 0
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text().strip()
            if text:
                pages.append(f"[page {number}]\n{text}")
            length += len(text)
            if length > int(most):
                break
        return {"text": "\n\n".join(pages), "pages": len(reader.pages)}
    except FileNotDecryptedError:
        return {"fault": "encrypted"}
    except MemoryError:
        return {"fault": "too_much"}
    # Of damaged files the library raises whatever it meets.
    except Exception:  # noqa: BLE001
        return {"fault": "damaged"}


def picture(path: str, target: str) -> dict[str, object]:
    """A new file at `target`: nothing of what a camera or a person noted in the old one is kept, and no trick of it."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        with Image.open(path, formats=FORMATS) as opened:
            was = opened.format
            frames = getattr(opened, "n_frames", 1)
            upright = ImageOps.exif_transpose(opened)
            clear = "A" in upright.getbands() or "transparency" in upright.info
            image = upright.convert("RGBA" if clear else "RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return {"fault": "too_many_pixels"}
    except MemoryError:
        return {"fault": "too_much"}
    # Of damaged files the library raises whatever it meets.
    except Exception:  # noqa: BLE001
        return {"fault": "damaged"}
    image.thumbnail((LARGEST, LARGEST))
    if min(image.size) > SHORTER:
        scale = SHORTER / min(image.size)
        image = image.resize((max(round(image.width * scale), 1), max(round(image.height * scale), 1)))
    # A new image: of the old one's notes nothing is written.
    image.info.clear()
    form = save(image, target, was or "")
    return {"format": form, "width": image.width, "height": image.height, "frames": frames}


def save(image: object, target: str, was: str) -> str:
    """Drawings and what can be seen through stay exact; photographs become JPEG."""
    from pathlib import Path

    from PIL import Image

    assert isinstance(image, Image.Image)
    if was in ("PNG", "GIF", "BMP") or image.mode == "RGBA":
        image.save(target, "PNG", optimize=True)
        if image.mode == "RGBA" or Path(target).stat().st_size <= MOST_PNG:
            return "png"
    image.convert("RGB").save(target, "JPEG", quality=QUALITY)
    return "jpeg"


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    limit(MEMORY[what])
    logging.disable(logging.CRITICAL)
    json.dump({"pdf_text": pdf_text, "picture": picture}[what](*given), sys.stdout)
