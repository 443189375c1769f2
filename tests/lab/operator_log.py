"""The operator's log as a person reads it: standard input to standard output.

On a terminal each decision is a short line: time, object, reason, and changes. Passes are printed
only if they add something new. In a pipe the JSON lines go through unchanged.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def main() -> int:
    try:
        lines = sys.stdin if not sys.stdout.isatty() else tell(sys.stdin)
        for line in lines:
            print(line.rstrip("\n"), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    return 0


def tell(lines: Iterable[str]) -> Iterator[str]:
    """The lines to show; what is no JSON object is shown as it is."""
    held: dict[str, str] = {}
    converged = False
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            yield line
            continue
        at = str(record.get("timestamp", ""))[11:19]
        match record.get("event"):
            case "pass":
                holds = {str(k): str(v) for k, v in record.get("holds", {}).items()}
                for key, reason in holds.items():
                    if held.get(key) != reason:
                        yield f"{at}  held: {reason}"
                if record.get("converged") and not converged:
                    yield f"{at}  converged: nothing to do"
                held, converged = holds, bool(record.get("converged"))
            case "audit" if record.get("phase") == "held":
                continue  # The line of its pass names the holds.
            case "audit":
                yield f"{at}  {audit_line(record)}"
            case "manifest":
                yield f"{at}  {record.get('problem', record)}"
            case event:
                rest = {k: v for k, v in record.items() if k not in {"timestamp", "event", "level"}}
                told = ", ".join(f"{key}={value}" for key, value in rest.items() if value)
                yield f"{at}  {event}" + (f" ({told})" if told else "")


def audit_line(record: Mapping[str, Any]) -> str:
    """Return `object: reason, fields, trigger`; of an outcome, its result and duration."""
    action = record.get("action") or {}
    what = action.get("key", "audit trail") if isinstance(action, dict) else str(action)
    if record.get("phase") != "intent":
        ended = record.get("outcome") or record.get("phase")
        error = f": {record['error']}" if record.get("error") else ""
        took = f" ({record['duration_ms']} ms)" if record.get("duration_ms") else ""
        return f"{what}: {ended}{error}{took}"
    trigger = record.get("trigger") or {}
    cause = " ".join(str(trigger[k]) for k in ("kind", "detail") if trigger.get(k))
    changes = "".join(f"\n{'':12}{c['path']}: {c['old']} -> {c['new']}" for c in record["changes"])
    return f"{what}: {record.get('reason', '')}" + (f" [{cause}]" if cause else "") + changes


if __name__ == "__main__":
    sys.exit(main())
