"""Names the browser and the system of a user agent.

Decides from the text alone. A client may send any text: the names are only words for its user, and
come from a fixed list.
"""

# The first that occurs counts: most browsers also name the ones that they descend from.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi", "Vivaldi"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
MOST_CHARACTERS = 1000


def device_of(user_agent: str) -> tuple[str | None, str | None]:
    """The browser and the system of a user agent; None for what it does not name."""
    text = user_agent[:MOST_CHARACTERS]
    browser = next((name for mark, name in _BROWSERS if mark in text), None)
    system = next((name for mark, name in _SYSTEMS if mark in text), None)
    return browser, system
