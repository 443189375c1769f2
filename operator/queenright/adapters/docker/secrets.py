"""Values of swarm secrets: the real adapter behind ``ports.secrets.Secrets``.

Swarm gives a secret to containers alone. If it is mounted into the operator's own, the file is
read; else a short-lived service on the operator's own node has it, and Docker's exec reads it
there. Invariant: a value is kept in memory alone, under the id of its secret, and is in no
argument, label, log or error. Those of roles are not even kept: only the result of the comparison
with a verifier is.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import structlog

from queenright.adapters.docker.client import DockerClient
from queenright.adapters.docker.secret_reader import (
    FILTER,
    PREFIX,
    container_id,
    engine_time,
    left_behind,
    path_of,
    reader_image,
    reader_service,
    what_it_waits_for,
)
from queenright.adapters.files.mounted_secrets import mounted_secret, password_of
from queenright.core.postgres.scram import is_password_of
from queenright.ports.errors import (
    ConflictError,
    LookOnlyError,
    PortError,
    RejectedError,
    UnavailableError,
)
from queenright.ports.lease import allowed
from queenright.ports.secrets import Password

Json = dict[str, Any]
T = TypeVar("T")

CONCURRENT_CALLS = 2
START_S = 10.0
POLL_S = 0.1
AGAIN_S = 60.0
"""The delay before a secret that could not be read for an observation is tried again."""

CALM_S = 10.0
"""The delay for every other secret after one without an answer in time: a cause that keeps one
service from starting here mostly keeps the others from it."""
MOST_VERDICTS = 10_000
TRIES = 3
SHOWN = ":shown"

log = structlog.get_logger()


class DockerSecrets:
    def __init__(
        self,
        environment: Mapping[str, str],
        timeout_s: float,
        directory: Path,
        start_s: float = START_S,
        *,
        may_create: Callable[[], bool] = allowed,
    ) -> None:
        """``environment`` as the SDK reads it; ``directory`` is where secrets are mounted;
        ``start_s`` is the time for a service to start. Without ``may_create`` only mounted secrets
        are read: for read-only commands, and an operator that stands by."""
        self._client = DockerClient(environment, timeout_s)
        self._directory = directory
        self._start_s = start_s
        self._may_create = may_create
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._lock = anyio.Lock()
        self._known: dict[str, Password] = {}
        self._verdicts: dict[tuple[str, bytes], bool] = {}
        self._unread: dict[str, tuple[float, str]] = {}
        """The next try and the cause of the failure, by secret id."""
        self._calm: tuple[float, str] = (0.0, "")

    async def read(self, name: str, secret_id: str = "") -> Password:
        mounted = await self._in_thread(lambda: mounted_secret(self._directory, name))
        if mounted is not None:
            return mounted
        if secret_id in self._known:
            return self._known[secret_id]
        if secret_id:
            self._known[secret_id] = await self._looked_at(name, secret_id)
            return self._known[secret_id]
        async with self._lock:
            secret_id = await self._id_of(name)
            if secret_id not in self._known:
                self._known[secret_id] = await self._value(name, secret_id)
            return self._known[secret_id]

    async def read_once(self, name: str) -> Password:
        mounted = await self._in_thread(lambda: mounted_secret(self._directory, name))
        if mounted is not None:
            return mounted
        async with self._lock:
            return await self._value(name, await self._id_of(name))

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        key = (secret_id, hashlib.sha256(verifier.value.encode()).digest())
        if key not in self._verdicts:
            mounted = await self._in_thread(lambda: mounted_secret(self._directory, name))
            password = mounted or await self._looked_at(name, secret_id)
            verdict = await self._in_thread(lambda: is_password_of(verifier.value, password.value))
            if len(self._verdicts) >= MOST_VERDICTS:
                self._verdicts.clear()
            self._verdicts[key] = verdict
        return self._verdicts[key]

    async def _looked_at(self, name: str, secret_id: str) -> Password:
        """Return the observed secret's value, for an observation; a failure is remembered."""
        self._refuse_in_a_look(name)
        self._refuse_too_early(name, secret_id)
        async with self._lock:
            self._refuse_too_early(name, secret_id)
            if secret_id in self._known:
                return self._known[secret_id]
            try:
                return await self._value(name, secret_id)
            except LookOnlyError:
                raise
            except PortError as error:
                now = anyio.current_time()
                why = f"{error}. The next try is {AGAIN_S:g} s after a failure"
                self._unread = {key: kept for key, kept in self._unread.items() if kept[0] > now}
                self._unread[secret_id] = (now + AGAIN_S, why)
                if isinstance(error, UnavailableError):
                    self._calm = (now + CALM_S, name)
                raise type(error)(why) from error

    def _refuse_in_a_look(self, name: str) -> None:
        if not self._may_create():
            raise LookOnlyError(
                f"secret {name} is not mounted here, and a read-only command starts no service to "
                "read it; the operator does"
            )

    def _refuse_too_early(self, name: str, secret_id: str) -> None:
        now, (until, why) = anyio.current_time(), self._unread.get(secret_id, (0.0, ""))
        if now < until:
            raise UnavailableError(why)
        until, failed = self._calm
        if now < until:
            raise UnavailableError(
                f"secret {name} was not tried: reading secret {failed} failed a moment ago"
            )

    async def _value(self, name: str, secret_id: str) -> Password:
        self._refuse_in_a_look(name)
        await self._remove_what_was_left()
        found = password_of(name, await self._shown(name, secret_id))
        self._unread.pop(secret_id, None)
        self._calm = (0.0, "")
        return found

    def _advice(self, name: str, error: PortError) -> str:
        return (
            f"secret {name} can't be read through a service on the operator's own node: {error}. "
            f"Remove that cause, or mount the secret into the operator's service, where it is read "
            f"as {self._directory / name}"
        )

    async def _id_of(self, name: str) -> str:
        listed: list[Json] = await self._call(lambda sdk: sdk.secrets(filters={"name": name}))
        for raw in listed or []:
            if (raw.get("Spec") or {}).get("Name") == name:
                return str(raw["ID"])
        raise RejectedError(f"secret {name} is not in the swarm")

    async def _remove_what_was_left(self) -> None:
        """Remove the services that a killed operator has left behind."""
        readers: list[Json] = await self._call(lambda sdk: sdk.services(filters=FILTER))
        if readers:
            now = engine_time(await self._call(lambda sdk: sdk.info()))
            for service_id in left_behind(readers, now):
                await self._remove(service_id)

    async def _shown(self, name: str, secret_id: str) -> bytes:
        try:
            return await self._read_by_service(name, secret_id)
        except LookOnlyError:
            raise
        except RejectedError as error:
            raise RejectedError(self._advice(name, error)) from error
        except PortError as error:
            raise UnavailableError(self._advice(name, error)) from error

    async def _read_by_service(self, name: str, secret_id: str) -> bytes:
        services: list[Json] = await self._call(lambda sdk: sdk.services())
        image = reader_image(services, name)
        if not image:
            raise UnavailableError("no cluster is deployed, so there is no image for the reader")
        info: Json = await self._call(lambda sdk: sdk.info())
        node_id = str((info.get("Swarm") or {}).get("NodeID") or "")
        reader = f"{PREFIX}{secrets.token_hex(4)}"
        wanted = reader_service(reader, image, node_id, secret_id, name)
        self._refuse_in_a_look(name)  # asked again: the calls before it take their time
        try:
            await self._call(lambda sdk: sdk.create_service(**wanted))
            container = await self._started(reader)
            return await self._call(lambda sdk: output_of(sdk, container, path_of(name)))
        finally:
            with anyio.CancelScope(shield=True):
                await self._remove(reader)

    async def _started(self, reader: str) -> str:
        """Return the reader's container; UnavailableError with swarm's error if it does not
        start."""
        waits_for = ""
        with anyio.move_on_after(self._start_s):
            while True:
                tasks: list[Json] = await self._call(
                    lambda sdk: sdk.tasks(filters={"service": reader})
                )
                try:
                    if found := container_id(tasks or []):
                        return found
                except ValueError as error:
                    raise UnavailableError(str(error)) from error
                waits_for = what_it_waits_for(tasks or [])
                await anyio.sleep(POLL_S)
        raise UnavailableError(f"it did not start within {self._start_s:g} s: {waits_for}")

    async def _remove(self, service: str) -> None:
        """Remove by id or name; a failed removal is tried again at a later read."""
        try:
            await self._call(lambda sdk: sdk.remove_service(service))
        except ConflictError:
            pass  # gone, or never created
        except PortError as error:
            log.warning("secret reader not removed yet", service=service, error=str(error))

    async def _call(self, method: Callable[[Any], T]) -> T:
        return await self._in_thread(lambda: self._client.call(method))

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(function, limiter=self._limiter)

    async def aclose(self) -> None:
        self._known.clear()
        self._client.close()


def output_of(sdk: Any, container: str, path: str) -> bytes:
    """Return the file at ``path`` in the container; UnavailableError if that fails.

    A busy engine may lose the end of a process's output, or all of it, and report success: only
    output that ends with ``SHOWN`` is whole.
    """
    show = ["sh", "-c", f'cat "$0" && printf {SHOWN}', path]
    for _ in range(TRIES):
        run = sdk.exec_create(container, show, user="0")["Id"]
        shown, complaint = sdk.exec_start(run, demux=True)
        if sdk.exec_inspect(run)["ExitCode"] != 0:
            words = (complaint or b"").decode(errors="replace").strip()
            raise UnavailableError(f"its container failed to read it: {words}")
        if (value := bytes(shown or b"")).endswith(SHOWN.encode()):
            return value.removesuffix(SHOWN.encode())
    raise UnavailableError("the output of its container was cut short")
