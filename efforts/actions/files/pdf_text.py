"""The text of a PDF file, read by a process of its own: `python pdf_text.py FILE MOST` prints JSON.

A damaged file, or one that was made to be, may take a reader any time and memory: the process has bounds, and can be
ended. It imports nothing of the program.
"""

from __future__ import annotations

import json
import logging
import sys

MEMORY = 1024 * 1024 * 1024
SECONDS = 30


def limit() -> None:
    try:
        import resource
    except ImportError:  # not everywhere; the time of the whole is bounded all the same
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def read(path: str, most: int) -> dict[str, object]:
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
            if length > most:
                break
        return {"text": "\n\n".join(pages), "pages": len(reader.pages)}
    except FileNotDecryptedError:
        return {"fault": "encrypted"}
    except MemoryError:
        return {"fault": "too_much"}
    # Of damaged files the library raises whatever it meets.
    except Exception:  # noqa: BLE001
        return {"fault": "damaged"}


if __name__ == "__main__":
    limit()
    logging.disable(logging.CRITICAL)
    json.dump(read(sys.argv[1], int(sys.argv[2])), sys.stdout)
