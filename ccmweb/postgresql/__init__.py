"""PostgreSQL as Django knows it, but for statements of very many values."""
