"""Worker processes: how a parent starts, replaces and ends them.

This is a subclass of uvicorn's supervisor. ``pyproject.toml`` bounds uvicorn's version, and
``tests/api/test_uvicorn.py`` reports what has changed in another one.
"""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

import uvicorn
from uvicorn.supervisors import Multiprocess, multiprocess

from masthead.api.http.metrics import keep_numbers
from masthead.errors import MastheadError
from masthead.log import get_logger

START_S_MAX = 30
"""Seconds that a worker may take to start, after the first workers."""

PAUSE_S_MAX = 60
"""Seconds of the longest pause after a worker could not start; the first pause is a second."""

_TURN_S = 1
"""Seconds after which a parent process handles signals while its workers start or end."""

_RETIRE = signal.SIGUSR1
"""The signal that ends a replaced worker."""

_log = get_logger()


class _Server(uvicorn.Server):
    """The server of a worker."""

    def retire(self) -> None:
        """End, but leave idle connections open for their next request (rules, "SIGHUP")."""
        self.config.loaded_app.service.is_replaced = True
        self.should_exit = True


class _Worker(multiprocess.Process):
    """A worker process, as its parent sees it.

    It creates its server before a second thread needs it. In uvicorn's class, the thread that tells
    the parent whether the server has started may create a second server, at the same time as the
    main thread. That second server never starts, so the parent would wait forever.
    """

    pause_s = 0
    """Seconds of the pause before this worker was started, after one that could not start."""

    retries_at: float | None = None
    """When to replace this worker, which could not start; None for other workers."""

    has_started = False
    _starts_by = 0.0

    def start(self) -> None:
        """Start the process."""
        self._starts_by = monotonic() + START_S_MAX
        super().start()

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Create the server, then start that thread and serve."""
        self._server = server = _Server(self.config)
        signal.signal(_RETIRE, lambda _number, _frame: server.retire())
        super().target(sockets)

    def is_ready(self, timeout: float = 5) -> bool:
        """Return whether the server has started, if the worker says so in time."""
        is_ready = super().is_ready(timeout)
        self.has_started = self.has_started or is_ready
        return is_ready

    def is_alive(self, timeout: float = 5) -> bool:
        """Return whether the worker responds to its parent, or may still do so."""
        if self.has_started:
            return super().is_alive(timeout)
        return self.process.is_alive() and (self.is_ready(_TURN_S) or monotonic() < self._starts_by)

    def retire(self) -> None:
        """Tell a worker that was replaced to end."""
        if self.process.is_alive() and self.pid:
            os.kill(self.pid, _RETIRE)

    def close(self) -> None:
        """Close the pipes to a process that has ended."""
        self.parent_conn.close()
        self.child_conn.close()


class Workers(Multiprocess):
    """uvicorn's supervisor, which continues when a worker cannot start later.

    ``ready`` is called when all workers have started. The supervisor logs which workers have died.
    Each worker logs its own start and end.
    """

    processes: list[_Worker]  # type: ignore[assignment]

    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, ready: Callable[[], None]
    ) -> None:
        super().__init__(config, sockets=[listener])
        self._ready = ready
        self._has_failed = False
        self._retired: list[_Worker] = []
        """Workers that were replaced and have not ended yet."""
        # uvicorn's supervisor looks the class up by this name, and has no setting for it.
        multiprocess.Process = _Worker  # type: ignore[misc]

    def serve(self) -> None:
        """Serve; raise MastheadError if a worker cannot start at first."""
        self.run()
        if self._has_failed:
            raise MastheadError("a worker process could not start: its log says why")

    def init_processes(self) -> None:
        """Start the workers, wait for all of them, then call ``ready``.

        During this, it handles only signals that end the server. It handles others afterwards.
        """
        super().init_processes()
        for process in self.processes:
            while not process.wait_until_ready(_TURN_S, self.should_exit):
                if self._is_ending():
                    self.should_exit.set()
                    return
                if not process.process.is_alive():
                    self._has_failed = True
                    self.should_exit.set()
                    return
        self._ready()

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have died, or that do not respond to their parent.

        A start that failed is retried after a growing pause (decisions, "Workers").
        """
        for index, process in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if process.retries_at is None:
                if process.is_alive(timeout=self.config.timeout_worker_healthcheck):
                    continue
                process.kill()
                process.join()
                keep_numbers(process.pid)
                if not process.has_started:
                    self._pause(process, _cause(process.exitcode))
            if process.retries_at is None or monotonic() >= process.retries_at:
                self._replace(index, process)

    def _pause(self, process: _Worker, cause: str) -> None:
        process.pause_s = min(max(1, 2 * process.pause_s), PAUSE_S_MAX)
        process.retries_at = monotonic() + process.pause_s
        _log.error(
            "a worker could not start and is tried again",
            process_id=process.pid,
            ended_by=cause,
            after_s=process.pause_s,
        )

    def _replace(self, index: int, old: _Worker) -> None:
        try:
            new = self._started()
        except OSError as error:  # no memory, no process, no file descriptor
            self._pause(old, str(error))
            return
        if old.retries_at is None:
            _log.error(
                "a worker died and is replaced",
                process_id=old.pid,
                ended_by=_cause(old.exitcode),
                replaced_by=new.pid,
            )
        else:
            new.pause_s = old.pause_s
        self.processes[index] = new

    def _started(self) -> _Worker:
        process = _Worker(self.config, self.sockets)
        process.start()
        return process

    def restart_all(self) -> None:
        """Replace all workers, one after the other, each when its successor has started.

        If a successor cannot start, its predecessor and all later workers stay.
        """
        workers = len(self.processes)
        _log.info("SIGHUP: the workers are replaced, one after the other", workers=workers)
        replaced = 0
        with suppress(OSError):  # a process that cannot be started
            while replaced < workers and self._replace_started(replaced):
                replaced += 1
        if replaced == workers:
            _log.info("all workers are replaced", workers=replaced)
        elif not self._is_ending():
            _log.error(
                "a new worker could not start: old ones go on",
                replaced=replaced,
                old=workers - replaced,
            )

    def _replace_started(self, index: int) -> bool:
        """Replace a worker, and wait for its end; return whether its successor has started."""
        new, old = self._started(), self.processes[index]
        ends_at = monotonic() + START_S_MAX
        while not new.wait_until_ready(_TURN_S):
            if self._is_ending() or monotonic() > ends_at or not new.process.is_alive():
                new.kill()
                new.join()
                keep_numbers(new.pid)
                return False
        self.processes[index] = new
        self._retired.append(old)
        old.retire()
        while old.process.is_alive() and not self._is_ending():
            old.process.join(_TURN_S)
        if not old.process.is_alive():
            old.close()
            keep_numbers(old.pid)
            self._retired.remove(old)
        return True

    def _is_ending(self) -> bool:
        """Return whether the server is to end, or a signal to end it is queued."""
        ending = {signal.SIGTERM, signal.SIGINT}
        return self.should_exit.is_set() or not ending.isdisjoint(self.signal_queue)

    def terminate_all(self) -> None:
        """Tell all workers to end, including replaced ones."""
        for process in self._retired:
            process.terminate()
        super().terminate_all()

    def join_all(self) -> None:
        """Wait for all workers to end, including replaced ones."""
        for process in self._retired:
            process.join()
        super().join_all()


def _cause(exit_status: int | None) -> str:
    """Return what ended a process: a signal, by its name if it has one, or its exit status."""
    if exit_status is None or exit_status >= 0:
        return f"status {exit_status}"
    try:
        return signal.Signals(-exit_status).name
    except ValueError:  # most real-time signals
        return f"signal {-exit_status}"
