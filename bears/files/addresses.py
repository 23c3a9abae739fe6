"""Addresses with a password or a key, which must not be written to a file or printed."""

import re

_WORD = r"[^\s\"'<>/\\?#@]"
_SECRET = (
    r"(?:[\w-]*(?:key|token|secret|passw(?:or)?d|signature|credentials?|session(?:[_-]?id)?)"
    r"|code|sig|sas|auth(?:orization)?|pwd|pass|jwt|bearer)"
)

_HOLDING = re.compile(
    # http://user:password@host, with as many slashes as a lenient reader takes
    rf"(?P<user>\b[a-z][a-z0-9+.-]+:[/\\]+){_WORD}*(?=@)"
    # http://user:pass/word@host, if the part before the slash is not a port
    rf"|(?P<cut>\b[a-z][a-z0-9+.-]+:[/\\]{{2,}}){_WORD}+?:(?!\d*[/\\?#]){_WORD}*[^\s\"'<>]*(?=@)"
    # http://host/path?api_key=…
    rf"|(?P<query>://[^\s\"'<>]*[?&]{_SECRET}=)[^\s\"'<>&]+",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?!mailto:)[/\\]{{0,2}}{_WORD}+:{_WORD}+@[\w\[]\S*", re.IGNORECASE)
"""user:password@host, as a whole text."""


def holds_password(text: str) -> bool:
    """Return whether ``text`` has an address with a user name, a password or a key."""
    return bool(_HOLDING.search(text) or _BARE.fullmatch(text.strip()))


def without_passwords(text: str) -> str:
    """Replace user names, passwords and keys in the addresses of ``text`` by an ellipsis."""
    return _HOLDING.sub(lambda found: f"{found[found.lastgroup or 0]}…", text)
