"""Writes what is derived from the models: JSON Schemas and the field reference.

`generate.py` writes; `generate.py --check` changes nothing and exits 1 where a file is out of date.
"""

import sys
from pathlib import Path

from queenright.core.kinds.field_reference import reference
from queenright.core.kinds.json_schema import schemas

ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[Path, str]:
    """Each derived file's text by its path."""
    texts = {ROOT / "crds" / name: text for name, text in schemas().items()}
    texts[ROOT / "docs" / "reference.md"] = reference()
    return texts


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    stale = 0
    for path, text in generated().items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        name = path.relative_to(ROOT)
        if check:
            sys.stderr.write(f"{name} is not what the models give; run `make crds`\n")
        else:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {name}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
