"""How a person wants pages to look, kept in a cookie."""

THEMES = ("system", "light", "dark")
THEME_COOKIE = "ccm_theme"
# What else a browser keeps of how a page looks: whether the context panel is open, and that the tips are read.
PANEL_COOKIE, TIPS_COOKIE = "ccm_panel", "ccm_tips"
