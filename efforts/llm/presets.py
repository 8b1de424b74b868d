"""Addresses that people connect most often."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Preset:
    name: str
    base_url: str
    is_local: bool = False


PRESETS = {
    "ollama": Preset(name="Ollama", base_url="http://127.0.0.1:11434/v1", is_local=True),
    "llama-cpp": Preset(name="llama.cpp", base_url="http://127.0.0.1:8080/v1", is_local=True),
    "lm-studio": Preset(name="LM Studio", base_url="http://127.0.0.1:1234/v1", is_local=True),
    "vllm": Preset(name="vLLM", base_url="http://127.0.0.1:8000/v1", is_local=True),
    "openai": Preset(name="OpenAI", base_url="https://api.openai.com/v1"),
    "openrouter": Preset(name="OpenRouter", base_url="https://openrouter.ai/api/v1"),
    "mistral": Preset(name="Mistral", base_url="https://api.mistral.ai/v1"),
    "groq": Preset(name="Groq", base_url="https://api.groq.com/openai/v1"),
}
