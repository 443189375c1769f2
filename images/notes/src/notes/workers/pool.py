"""Runs tasks in worker processes, with fair scheduling between accounts.

Each account has its own queue. The waiting account whose tasks took the least time lately goes
first; one account never uses all workers, and all heavy accounts together leave one worker to the
others. Invariant: however long a task takes, only its own account waits for it.
"""

import asyncio
import logging
import math
import os
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from notes.doc.attributes import SchemaError
from notes.http.problems import Problem, unavailable
from notes.log import say
from notes.workers import meter
from notes.workers.child import Answer
from notes.workers.process import Worker, WorkerGoneError
from notes.workers.tasks import TASKS, Task

logger = logging.getLogger(__name__)

QUEUE_LENGTH = 16
TURN_S = 30.0
IDLE_S = 30.0
HEAVY_S = 2.0
HALVED_AFTER_S = 60.0
TOO_LONG = "takes more than {} s to work on"
TOO_MUCH = "takes more memory than it may"


class RefusedError(Exception):
    """The input cannot be processed; `path` names the place."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@dataclass(slots=True, eq=False)
class _Request:
    account: str
    task: Task
    arguments: dict[str, Any]
    turn: asyncio.Future[Worker]
    needs_fresh: bool = False


@dataclass(slots=True)
class _Account:
    """An account's waiting requests, and the time that its tasks took lately."""

    waiting: deque[_Request] = field(default_factory=deque)
    running: int = 0
    spent_s: float = 0.0
    spent_at: float = 0.0

    def lately_s(self, now: float) -> float:
        return self.spent_s * math.exp2((self.spent_at - now) / HALVED_AFTER_S)

    def spend(self, seconds: float, now: float) -> None:
        self.spent_s = self.lately_s(now) + seconds
        self.spent_at = now


class Workers:
    """The workers of one replica: started when there are tasks, ended when idle."""

    def __init__(self, count: int | None = None) -> None:
        self._count = count or min(4, max(2, os.cpu_count() or 2))
        self._idle: list[Worker] = []
        self._busy = Counter[str]()
        self._accounts: dict[str, _Account] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._all: set[Worker] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, account: str, name: str, *, patient: bool = False, **arguments: Any) -> Any:
        """Runs a task of `account`: in this process if it is small, else in a worker.

        Raises `RefusedError` for input that cannot be processed, and a `Problem` if too many
        requests of the account are waiting; `patient` ones wait without limit.
        """
        task = TASKS[name]
        if task.is_small(**arguments):
            return _here(task, arguments)
        request = _Request(account, task, arguments, _future())
        return _result(task, await self._apart(request, patient))

    async def _apart(self, request: _Request, patient: bool) -> Answer:
        for is_last in (False, True):
            worker = await self._turn(request, patient)
            try:
                return await self._ask(worker, request)
            except WorkerGoneError as error:
                if error.by_time:
                    return _refused(TOO_LONG.format(request.task.cpu_s))
                if is_last:
                    return _refused(TOO_MUCH)
            # Memory used by an earlier task may have ended the worker: retry once in a new one.
            request.turn = _future()
            request.needs_fresh = True
        raise AssertionError

    async def _turn(self, request: _Request, patient: bool) -> Worker:
        account = self._accounts.setdefault(request.account, _Account())
        if len(account.waiting) >= QUEUE_LENGTH and not patient:
            raise Problem(
                429,
                f"{QUEUE_LENGTH} of your requests are waiting already; try again in a moment.",
                headers={"retry-after": "2"},
            )
        account.waiting.append(request)
        self._dispatch()
        try:
            async with asyncio.timeout(None if patient else TURN_S):
                return await request.turn
        except BaseException as error:
            if request in account.waiting:
                account.waiting.remove(request)
            elif request.turn.done() and not request.turn.cancelled():
                self._give_back(request.turn.result(), request)
            if isinstance(error, TimeoutError):
                raise unavailable("The server is busy; try again in a moment.") from None
            raise

    async def _ask(self, worker: Worker, request: _Request) -> Answer:
        begun = time.monotonic()
        is_whole = False
        try:
            async with asyncio.timeout(request.task.wall_s):
                answer = await worker.ask(request.task.name, request.arguments)
            is_whole = True
            meter.add(answer.cpu_s)
        except WorkerGoneError as error:
            meter.add(request.task.cpu_s if error.by_time else 0.0)
            raise
        except TimeoutError:
            meter.add(request.task.cpu_s)  # at most
            answer = _refused(TOO_LONG.format(request.task.wall_s))
        finally:
            now = time.monotonic()
            self._accounts[request.account].spend(now - begun, now)
            if not is_whole:
                worker.kill()
            self._give_back(worker, request)
        return answer

    def _give_back(self, worker: Worker, request: _Request) -> None:
        self._accounts[request.account].running -= 1
        self._release(request.account)
        if worker.has_ended or self._closed:
            self._drop(worker)
        else:
            worker.idle_since = time.monotonic()
            self._idle.append(worker)
        self._dispatch()

    def _release(self, account: str) -> None:
        self._busy[account] -= 1
        if self._busy[account] <= 0:
            del self._busy[account]

    def _drop(self, worker: Worker) -> None:
        self._all.discard(worker)
        self._beside(worker.end())

    def _beside(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    def _dispatch(self) -> None:
        while self._busy.total() < self._count and not self._closed:
            request = self._next()
            if request is None:
                return
            self._accounts[request.account].running += 1
            self._busy[request.account] += 1
            self._beside(self._hand(request))
        if self._sweeper is None and not self._closed:
            self._sweeper = asyncio.create_task(self._sweep())

    async def _hand(self, request: _Request) -> None:
        """Assigns a worker to a request: an idle one, or a new one."""
        try:
            idle = None if request.needs_fresh else self._idle_one()
            worker = idle or await self._started()
        except OSError as error:
            say(logger, "cannot start a worker", logging.ERROR, reason=str(error))
            self._accounts[request.account].running -= 1
            self._release(request.account)
            if not request.turn.done():
                request.turn.set_exception(unavailable("The server cannot process this now."))
            return
        if request.turn.done():
            self._give_back(worker, request)
        else:
            request.turn.set_result(worker)

    def _idle_one(self) -> Worker | None:
        while self._idle:
            worker = self._idle.pop()
            if not worker.has_ended:
                return worker
            self._drop(worker)
        return None

    async def _started(self) -> Worker:
        worker = await Worker.start()
        self._all.add(worker)
        return worker

    def _next(self) -> _Request | None:
        """Takes the next request, from the account that used the least time lately; or None."""
        now = time.monotonic()
        heavy = {name for name in self._busy if self._accounts[name].lately_s(now) > HEAVY_S}
        heavy_busy = sum(self._busy[name] for name in heavy)
        chosen: _Account | None = None
        least = 0.0
        for account in self._accounts.values():
            if not account.waiting or account.running >= max(1, self._count - 1):
                continue
            lately = account.lately_s(now)
            if lately > HEAVY_S and heavy_busy >= max(1, self._count - 1):
                continue
            if chosen is None or lately < least:
                chosen, least = account, lately
        return chosen.waiting.popleft() if chosen is not None else None

    async def _sweep(self) -> None:
        """Ends idle workers regularly, and forgets accounts without tasks."""
        while True:
            await asyncio.sleep(IDLE_S / 4)
            now = time.monotonic()
            for worker in [w for w in self._idle if now - w.idle_since > IDLE_S or w.has_ended]:
                self._idle.remove(worker)
                self._drop(worker)
            for name in list(self._quiet(now)):
                del self._accounts[name]

    def _quiet(self, now: float) -> Iterator[str]:
        for name, account in self._accounts.items():
            if not account.waiting and not account.running and account.lately_s(now) < 0.01:
                yield name

    async def close(self) -> None:
        """Ends every worker."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for worker in list(self._all):
            self._drop(worker)
        self._idle.clear()
        await asyncio.gather(*self._starting, return_exceptions=True)


def _future() -> asyncio.Future[Worker]:
    return asyncio.get_running_loop().create_future()


def _refused(message: str) -> Answer:
    return Answer("refused", path="body", message=message)


def _here(task: Task, arguments: dict[str, Any]) -> Any:
    try:
        with meter.working():
            return task.work(**arguments)
    except SchemaError as error:
        raise RefusedError(error.path, error.message) from None


def _result(task: Task, answer: Answer) -> Any:
    if answer.kind == "done":
        return msgspec.msgpack.decode(answer.value, type=task.returns)
    if answer.kind == "refused":
        raise RefusedError(answer.path, answer.message)
    raise RuntimeError(f"the task {task.name} failed: {answer.message}")
