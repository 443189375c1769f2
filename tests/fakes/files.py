"""Fakes of the small ports: manifests, the last good state, the clock and the audit trail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from queenright.core.actions import AnyAction
from queenright.core.audit.record import Outcome, Trigger
from queenright.core.manifest.problems import Problem
from queenright.core.planning.lease import Lease
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.ports.manifests import ManifestTexts

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class FakeClock:
    """The running event loop's time, as wall-clock time that begins at ``EPOCH``; one that goes
    wrong is ``skew_s`` ahead."""

    skew_s: float = 0.0

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time() + self.skew_s)

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


@dataclass
class FakeManifests:
    """Texts by file name, as a person's editor leaves them; ``broken`` stands for a file that was
    changed while it was read."""

    files: dict[str, str] = field(default_factory=dict)
    broken: bool = False
    edits: int = 0
    before: list[str] = field(default_factory=list)
    """The texts that were written over."""
    edited_at_s: float = -1.0

    def write(self, name: str, text: str) -> None:
        self.before.append(self.files.get(name, ""))
        self.edited_at_s = asyncio.get_running_loop().time()
        self.files[name] = text
        self.edits += 1

    def remove(self, name: str) -> None:
        self.files.pop(name, None)
        self.edits += 1

    def fingerprint(self) -> str:
        return f"{self.edits}/{self.broken}"

    def read(self) -> ManifestTexts:
        if self.broken:
            problem = Problem("cluster.yaml", 1, "file", "was changed while it was read")
            return ManifestTexts(self.fingerprint(), {}, (problem,))
        if not self.files:
            gone = Problem("cluster.yaml", 1, "file", "does not exist (any more)")
            return ManifestTexts(self.fingerprint(), {}, (gone,))
        return ManifestTexts(self.fingerprint(), dict(self.files))


@dataclass
class FakeLastGood:
    """Outlives the operator, as its state directory does."""

    saved: Mapping[str, str] = field(default_factory=dict)
    saved_at_s: float = -1.0

    def load(self) -> Mapping[str, str]:
        return self.saved

    def save(self, files: Mapping[str, str]) -> None:
        self.saved = dict(files)
        with suppress(RuntimeError):  # in a thread
            self.saved_at_s = asyncio.get_running_loop().time()


@dataclass(frozen=True)
class Intent:
    plan: Plan
    trigger: Trigger
    action: AnyAction


@dataclass(frozen=True)
class Ended:
    plan: Plan
    trigger: Trigger
    action: AnyAction
    outcome: Outcome
    duration_ms: float


@dataclass(frozen=True)
class Refused:
    plan: Plan
    trigger: Trigger
    refusal: Refusal


@dataclass(frozen=True)
class Held:
    plan: Plan
    trigger: Trigger
    began: tuple[Hold, ...]
    ended: tuple[str, ...]


@dataclass(frozen=True)
class LeaseNote:
    acting: bool
    why: str
    host: str
    other: Lease | None
    at_s: float


@dataclass
class FakeAudit:
    """Keeps the records in order."""

    records: list[Intent | Ended | Refused] = field(default_factory=list)
    holds: list[Held] = field(default_factory=list)
    measurements: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    leases: list[LeaseNote] = field(default_factory=list)
    name: str = "fake"
    lock: str = ""

    @property
    def end(self) -> str:
        return f"{self.name}/{len(self.records) + len(self.leases)}/hash"

    def lease(
        self, *, acting: bool, why: str, host: str, term: str = "", other: Lease | None = None
    ) -> None:
        now_s = asyncio.get_running_loop().time()
        self.leases.append(LeaseNote(acting, why, host, other, now_s))

    def intent(self, plan: Plan, trigger: Trigger, action: AnyAction) -> None:
        self.records.append(Intent(plan, trigger, action))

    def outcome(
        self, plan: Plan, trigger: Trigger, action: AnyAction, outcome: Outcome, duration_ms: float
    ) -> None:
        self.records.append(Ended(plan, trigger, action, outcome, duration_ms))

    def refused(self, plan: Plan, trigger: Trigger, refusal: Refusal) -> None:
        self.records.append(Refused(plan, trigger, refusal))

    def held(
        self, plan: Plan, trigger: Trigger, began: Sequence[Hold], ended: Sequence[str]
    ) -> None:
        self.holds.append(Held(plan, trigger, tuple(began), tuple(ended)))

    def measured(self, cluster: str, details: Mapping[str, object]) -> None:
        self.measurements.append((cluster, details))

    @property
    def intents(self) -> list[Intent]:
        return [record for record in self.records if isinstance(record, Intent)]

    @property
    def outcomes(self) -> list[Ended]:
        return [record for record in self.records if isinstance(record, Ended)]

    @property
    def refusals(self) -> list[Refused]:
        return [record for record in self.records if isinstance(record, Refused)]
