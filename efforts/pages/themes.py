"""How a person wants pages to look, kept in a cookie."""

THEMES = ("system", "light", "dark")
THEME_COOKIE = "ccm_theme"
