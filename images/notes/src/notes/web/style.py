"""The style sheet of the HTML views, and the policy that allows it and nothing else.

The policy names the sheet by its hash, not by a nonce: a stored answer and its 304 then agree.
A space's site has a second sheet, with its colours, which the policy names by its address.
"""

import base64
import hashlib
from importlib import resources
from typing import Final

from notes.http.viewer import Seen
from notes.middleware import boundary

STYLE: Final = resources.files("notes.web").joinpath("templates/style.css").read_text("utf-8")
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY: Final = f"{boundary.POLICY}; style-src 'sha256-{_HASH}'"
#: The sheet with the colours of a space's site.
COLOURS: Final = "/colours.css"


def policy(seen: Seen) -> str:
    """The policy of the HTML views of a request's site."""
    is_main = seen.site.space_id is None
    return POLICY if is_main else f"{POLICY} {seen.origin}{COLOURS}"
