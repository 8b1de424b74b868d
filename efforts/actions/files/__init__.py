"""Files that people add to messages: where their bytes lie, and what is read from them."""
