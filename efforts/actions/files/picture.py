"""A picture made small and plain, by a process of its own: `python picture.py FILE TARGET` prints JSON.

What it writes is a new file: nothing of what a camera or a person noted in the old one is kept, and no trick of it
either. A picture of a few kilobytes may have billions of pixels: the process has bounds. It imports nothing of the
program.
"""

from __future__ import annotations

import json
import sys
import warnings

MEMORY = 1536 * 1024 * 1024
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


def limit() -> None:
    try:
        import resource
    except ImportError:  # not everywhere; the time of the whole is bounded all the same
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def make(path: str, target: str) -> dict[str, object]:
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
    limit()
    json.dump(make(sys.argv[1], sys.argv[2]), sys.stdout)
