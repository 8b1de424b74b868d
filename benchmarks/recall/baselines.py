"""What others do with the same messages: plain FTS5, and the keyword rule of the seeds."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

from efforts.domain.text.terms import STOPWORDS

WORD = re.compile(r"\w+")
MOST = 200


class Fts5:
    """SQLite's own ranking over whole messages: any of the question's words, stemmed; common ones only on demand."""

    def __init__(self, texts: Mapping[str, str], *, every_word: bool = False) -> None:
        self.common = frozenset[str]() if every_word else STOPWORDS
        self.ids = list(texts)
        self.rows = sqlite3.connect(":memory:")
        self.rows.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')")
        self.rows.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", enumerate(texts.values()))

    def rank(self, question: str) -> list[str]:
        words = dict.fromkeys(WORD.findall(question.casefold()))
        telling = [word for word in words if word not in self.common] or list(words)
        if not telling:
            return []
        query = " OR ".join(f'"{word}"' for word in telling)
        found = self.rows.execute(
            "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank, rowid LIMIT ?", (query, MOST)
        )
        return [self.ids[row] for (row,) in found]


class Keywords:
    """The seeds' rule: at least two words in common, without common ones and punctuation; more of them stand first."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.words = {id: keywords(text) for id, text in texts.items()}

    def rank(self, question: str) -> list[str]:
        asked = keywords(question)
        shared = {id: len(asked & words) for id, words in self.words.items()}
        found = [id for id, count in shared.items() if count >= 2]
        return sorted(found, key=lambda id: -shared[id])[:MOST]


def keywords(text: str) -> frozenset[str]:
    words = (word.strip(".,;:!?\"'()-") for word in text.lower().split())
    return frozenset(word for word in words if len(word) >= 3 and word not in STOPWORDS)


class SeedReferences:
    """The seeds' rule as their code has it: an id, or two words of the summary, in anything that was said."""

    def __init__(self) -> None:
        self.keywords: dict[str, frozenset[str]] = {}
        self.last: dict[str, int] = {}

    def conclude(self, effort: str, summary: str, turn: int) -> None:
        self.keywords[effort], self.last[effort] = keywords(summary), turn

    def hear(self, text: str, turn: int) -> None:
        self.last |= dict.fromkeys(self.referenced(text), turn)

    def referenced(self, text: str) -> list[str]:
        said = text.lower()
        # As it is written there: the words of a message keep their punctuation.
        words = set(said.split())
        return [effort for effort, its in self.keywords.items() if names(effort, said) or len(its & words) >= 2]

    def standing(self, now: int, threshold: int) -> set[str]:
        """Whose summaries the prompt after turn `now` shows."""
        return {effort for effort, last in self.last.items() if now - last < threshold}


def names(effort: str, said: str) -> bool:
    return effort in said or effort.replace("-", " ") in said
