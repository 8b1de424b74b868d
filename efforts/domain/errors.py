"""What a person or a browser may not do, in words for the person."""


class Refused(Exception):
    """Raised by actions; views answer 422, the consumer an error frame. Nothing has been changed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
