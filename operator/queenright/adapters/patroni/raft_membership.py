"""Raft's membership over pysyncobj's utility protocol (0.3.17) and Patroni's ``members`` (4.1).

The adapter behind ``ports.raft_membership``. One connection carries one request and one answer,
both as in ``raft_messages``; an answer is read as data, never unpickled. Invariant: a request
is sent at most once.

Raft's password is not supported: a node with ``raft.password`` closes the connection, so that its
voters are Unknown and a change is an UnavailableError. What is missing: ``cryptography`` among the
operator's dependencies (Fernet; its key is PBKDF2 of the password with pysyncobj's fixed salt); the
exchange of random keys when a connection begins, after which each message is a pair, the other
side's key and the content; and reading pickled bytes, which protocol 2 writes as a call, and
``safe_pickle`` refuses every call.
"""

from __future__ import annotations

import anyio

from queenright.adapters.patroni.raft_messages import (
    NOT_CREDIBLE,
    decode_answer,
    exchanged,
    framed,
)
from queenright.adapters.turns import attentive
from queenright.core.observed import Known, Unknown
from queenright.ports.errors import ConflictError, UnavailableError

MAY_BE_APPLIED = "it may still be applied; observe the voters before anything else is asked"
MAY_LEAD = "the leader may still change; observe it"


class NotSentError(Exception):
    """There was no connection, so nothing was sent."""


class PysyncobjMembership:
    """The members' Raft nodes over their own socket. ``timeout_s`` limits each request."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s

    async def voters(self, address: str, port: int) -> Known[frozenset[str]] | Unknown:
        try:
            return Known(decode_voters(await self._ask(address, port, ["members"])))
        except (NotSentError, *NOT_CREDIBLE) as error:
            return Unknown(f"raft at {address}:{port}: {reason(error)}")

    async def remove(self, address: str, port: int, voter: str) -> None:
        asked = f"remove {voter} at raft {address}:{port}"
        if not await self._done(asked, address, port, ["remove", voter], MAY_BE_APPLIED):
            raise UnavailableError(
                f"{asked} failed (there is no leader or it has changed, or {voter} is not a voter, "
                f"is the node asked or leads); {MAY_BE_APPLIED}"
            )

    async def transfer(self, address: str, port: int, voter: str) -> None:
        asked = f"transfer to {voter} at raft {address}:{port}"
        if not await self._done(asked, address, port, ["transfer", voter], MAY_LEAD):
            raise ConflictError(
                f"{asked} was refused (the node asked does not lead, or {voter} leads, is not a "
                "voter or has not all entries); observe them again"
            )

    async def _done(
        self, asked: str, address: str, port: int, command: list[str], otherwise: str
    ) -> bool:
        """Return True for SUCCESS, False for FAIL; UnavailableError for anything else."""
        try:
            answer = await self._ask(address, port, command)
        except NotSentError as error:
            raise UnavailableError(f"{asked}: {reason(error)}; nothing was sent") from None
        except NOT_CREDIBLE as error:
            raise UnavailableError(f"{asked}: {reason(error)}; {otherwise}") from None
        verb, voter = command
        match answer:
            case str() if answer == f"SUCCESS {verb.upper()} {voter}":
                return True
            case str() if answer == f"FAIL {verb.upper()} {voter}":
                return False
        raise UnavailableError(f"{asked}: not a Raft node's answer; {otherwise}")

    async def _ask(self, address: str, port: int, command: list[str]) -> object:
        with attentive(self._timeout_s):
            try:
                stream = await anyio.connect_tcp(address, port)
            except (OSError, ValueError) as error:
                raise NotSentError(reason(error)) from None
            async with stream:
                return decode_answer(await exchanged(stream, framed(command)))


def decode_voters(answer: object) -> frozenset[str]:
    """Return the addresses in an answer to ``members``; ValueError if it is none."""
    members = answer if isinstance(answer, list) else []
    found = [member.get("addr") if isinstance(member, dict) else None for member in members]
    voters = frozenset(address for address in found if isinstance(address, str) and address)
    if not voters or len(voters) != len(found):
        raise ValueError("not a Raft node's members")
    return voters


def reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
