"""A model of meanings that is asked for every text once: its vectors stay in a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from efforts.domain.text.canonical import sha256
from efforts.llm.embeddings import Embedded, Embedder


@dataclass(frozen=True)
class Remembered:
    embedder: Embedder
    file: Path

    @property
    def name(self) -> str:
        return self.embedder.name

    @cached_property
    def rows(self) -> sqlite3.Connection:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        rows = sqlite3.connect(self.file)
        rows.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        return rows

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        """Raises `ModelError`."""
        keys = [sha256(f"{self.name}\n{text}") for text in texts]
        known = {key: vector for key in keys if (vector := self.known(key))}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            asked = self.embedder.embed(list(new.values()), seconds=seconds).vectors
            made = {key: row.tobytes() for key, row in zip(new, asked, strict=True)}
            with self.rows:
                self.rows.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", made.items())
            known |= made
        vectors = np.stack([np.frombuffer(known[key], np.float32) for key in keys])
        return Embedded(vectors=vectors, tokens=None)

    def known(self, key: str) -> bytes | None:
        row = self.rows.execute("SELECT vector FROM vectors WHERE text = ?", (key,)).fetchone()
        return row[0] if row else None
