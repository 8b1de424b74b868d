"""The engine that answers when no model is connected: it quotes its prompt, and says so."""
