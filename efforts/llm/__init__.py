"""Models: the protocol that all else speaks, the one client behind it, and the engine that needs no model."""
