"""The style sheet of the HTML views, and the policy that allows it and nothing else.

The policy names the sheet by its hash, not by a nonce: a stored answer and its 304 then agree.
"""

import base64
import hashlib
from importlib import resources
from typing import Final

from notes.middleware import boundary

STYLE: Final = resources.files("notes.web").joinpath("templates/style.css").read_text("utf-8")
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY: Final = f"{boundary.POLICY}; style-src 'sha256-{_HASH}'"
