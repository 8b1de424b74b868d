"""Models that tell what a text means, as vectors: behind an address, or on this machine."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.protocol import ModelError

# Of a local model; what is longer is cut there, and a passage seldom is.
LONGEST, AT_ONCE = 256, 16
# As vectors are stored.
STORED = "<f2"


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """One row of unit length for each text; `tokens`: None where the model does not say."""

    vectors: NDArray[np.float32]
    tokens: int | None

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def stored(self) -> list[bytes]:
        return [row.tobytes() for row in self.vectors.astype(STORED)]


class Embedder(Protocol):
    """`name` tells it from all others but for the dimension, which only its answers tell."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        """Of at least one text, none of them empty. Raises `ModelError`."""
        ...


@dataclass(frozen=True, kw_only=True)
class EndpointEmbedder:
    """`connect` makes the client for so many seconds, which asks only what this installation allows."""

    base_url: str
    model: str
    connect: Callable[[float], OpenAIChat]

    @property
    def name(self) -> str:
        return f"{self.base_url}#{self.model}"

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        chat = self.connect(seconds)
        # The background asks again anyway, and a message does not wait for it.
        chat.max_retries = 0
        rows, tokens = asyncio.run(within(chat.embed(self.model, list(texts)), seconds))
        return Embedded(vectors=unit(rows), tokens=tokens)


async def within(asked: Any, seconds: float) -> Any:
    """For all of an answer: one that trickles in is no faster than none."""
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError as error:
        raise ModelError("timeout", f"The model of meanings did not answer within {seconds:g} seconds.") from error


def unit(rows: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    """Raises `ModelError` where the rows are no vectors of one dimension."""
    try:
        found = np.array(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError("refused", "The model of meanings answered with something that is no vector.") from error
    if found.ndim != 2 or not found.shape[1] or not np.isfinite(found).all():
        raise ModelError("refused", "The model of meanings answered with vectors that cannot be compared.")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return (found / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class LocalEmbedder:
    """A sentence model in ONNX: the mean of its last layer over all tokens that are no padding."""

    def __init__(self, folder: Path) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ModelError(
                "refused", "Comparing meanings on this machine needs two packages: pip install '.[embeddings]'."
            ) from error
        weights, words = (next(folder.rglob(name), None) for name in ("*.onnx", "tokenizer.json"))
        if weights is None or words is None:
            raise ModelError("refused", f"In {folder} there is no model: one file *.onnx and a tokenizer.json.")
        self.name = f"onnx#{hashlib.sha256(weights.read_bytes()).hexdigest()[:16]}"
        self.tokenizer = Tokenizer.from_file(str(words))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        # It would keep the largest batch's memory for good, and its idle threads would keep a core busy.
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self.inputs = {one.name for one in self.session.get_inputs()}

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        parts = [self.batch(texts[first : first + AT_ONCE]) for first in range(0, len(texts), AT_ONCE)]
        return Embedded(vectors=np.concatenate([rows for rows, _ in parts]), tokens=sum(count for _, count in parts))

    def batch(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        read = self.tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in read], dtype=np.int64)
        feed = {"input_ids": np.array([one.ids for one in read], dtype=np.int64), "attention_mask": mask}
        if "token_type_ids" in self.inputs:
            feed["token_type_ids"] = np.zeros_like(mask)
        last = self.session.run(None, feed)[0]
        mean = (last * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return unit(mean), int(mask.sum())


@lru_cache(maxsize=2)
def local(folder: str) -> LocalEmbedder:
    """Read once: it takes a second and some 100 MB."""
    return LocalEmbedder(Path(folder))
