"""Cutting of texts."""


def truncate_bytes(text, limit, ellipsis="…"):
    """Cuts a text to a number of bytes."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[:limit].decode(errors="replace") + ellipsis
