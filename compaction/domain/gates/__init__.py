"""The gates that an artifact passes before it may stand in for anything: `evaluate` judges, somebody else acts."""
