"""BotProcess: a bot's program, started without a shell, asked line by line, and ended with all that it has started.

It has a supervisor as its parent, a limit on its memory, and few variables of our environment. For each question there
is a limit on the time, on the size of the answer, and on what it writes to stderr. Whoever keeps to them may go on;
all others are ended, and a new process begins with the next question.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from borneo_agents.protocol import supervisor
from borneo_agents.protocol.supervisor import end_group, end_tree
from kontor.files import FileError, in_short, on_one_line

SUPERVISOR = (sys.executable, "-I", "-S", supervisor.__file__)
HANDED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ")  # of the environment
MIB = 2**20
LOUDEST = 2**16  # bytes on stderr for a question
LAST_WORDS = 4000  # bytes of stderr that are kept for the one who looks for a mistake
AT_ONCE = 2**16  # bytes that are read at once
LOOK = 0.1  # seconds between two looks whether it still runs
LEAVING = 0.3  # seconds to end by itself after `quit`
ENDING = 0.5  # seconds that a process may need to be gone once it has closed its output


class BotFailed(ValueError):
    """A bot did not answer as it should; `last_words` is what it last wrote to stderr."""

    last_words = ""


class Stalled(BotFailed):
    """There was no answer in time."""


class Died(BotFailed):
    """Its process has ended."""


class Transcript:
    """A file to which all that is said is added: `123 > ` to process 123, `<` from it, `!` what it wrote to stderr."""

    def __init__(self, path: str) -> None:
        self._path = str(Path(path).absolute())  # agents may go elsewhere
        self._add("")

    def note(self, process: int, sign: str, words: bytes) -> None:
        lines = words.decode("utf-8", "replace").splitlines()
        self._add("".join(f"{process} {sign} {on_one_line(line, AT_ONCE)}\n" for line in lines))

    def _add(self, text: str) -> None:
        """Several processes may write to it: each time at its end, and at once."""
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(text)
        except (OSError, ValueError) as error:
            raise FileError(self._path, f"cannot be written: {getattr(error, 'strerror', None) or error}") from None


class BotProcess:
    """A bot that runs."""

    def __init__(
        self, command: Sequence[str], memory: int, transcript: Transcript | None, more: dict[str, str]
    ) -> None:
        """Start a command with so many MiB of memory, and `more` variables in its environment."""
        leash, self._leash = os.pipe()  # the supervisor holds one end, and sees this process's end at it
        environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
        self._popen = subprocess.Popen(
            [*SUPERVISOR, str(leash), str(memory * MIB), *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, pass_fds=[leash],
            env=environment | more, start_new_session=True,  # of its own, which Ctrl-C does not reach
        )  # fmt: skip
        os.close(leash)
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self.number = self._popen.pid
        self._name = in_short(" ".join(command))
        self._transcript = transcript
        self._in, self._out, self._err = (
            pipe.fileno() for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        self._last_words = b""
        self._waiting = select.poll()
        for file in (self._in, self._out, self._err):
            os.set_blocking(file, False)
        for file in (self._out, self._err):
            self._waiting.register(file, select.POLLIN)

    # ------------------------------------------------------------ talking

    def ask(self, question: bytes, seconds: float, longest: int) -> bytes:
        """The line it answers with, of so many bytes at most; the process of one that fails is ended."""
        try:
            self._check_silence()
            self._note(">", question)
            self._last_words = b""
            answer = self._exchange(question, time.monotonic() + seconds, seconds, longest)
            self._note("<", answer)
            return answer
        except BotFailed as failed:
            raise self._ended(failed) from None
        except BaseException:  # Ctrl-C: nobody would know which answer comes next
            self.kill()
            raise

    def tell(self, line: bytes) -> None:
        """Tell it something that wants no answer; one that does not listen will be missed at the next question."""
        self._note(">", line)
        with contextlib.suppress(OSError):
            os.write(self._in, line)

    def _exchange(self, question: bytes, until: float, seconds: float, longest: int) -> bytes:
        unsaid, answer, heard = self._say(question), b"", 0
        if unsaid:  # it takes more than the pipe holds, and perhaps nobody reads it
            self._waiting.register(self._in, select.POLLOUT)
        while True:
            for file in self._ready(until, seconds):
                if file == self._in:
                    unsaid = self._say(unsaid)
                    if not unsaid:
                        self._waiting.unregister(self._in)
                elif file == self._err:
                    words = self._hear()
                    heard += len(words)
                    if not words:
                        self._waiting.unregister(self._err)
                else:
                    answer += self._read_answer()
            line, end, more = answer.partition(b"\n")
            if heard > LOUDEST:
                raise BotFailed(f"{self._name} has written more than {LOUDEST:,} bytes to stderr for one question")
            if len(line) > longest:
                raise BotFailed(f"{self._name} has answered with more than {longest:,} bytes: {_quoted(line)}")
            if more:
                raise BotFailed(f"{self._name} has answered with more than one line: {_quoted(more)} follows")
            if end:
                return line

    def _ready(self, until: float, seconds: float) -> list[int]:
        """The files that can be read or written now; waits for one until it is too late."""
        while (left := until - time.monotonic()) > 0:
            found = self._waiting.poll(math.ceil(1000 * min(left, LOOK)))
            if found:
                return [file for file, _ in found]
            if self._popen.poll() is not None:  # a child of its own may hold its output open
                raise self._death()
        raise Stalled(f"{self._name} gave no answer within {seconds:.3g} s")

    def _say(self, words: bytes) -> bytes:
        """Write as much as the pipe takes; returns the rest."""
        try:
            return words[os.write(self._in, words) :]
        except BlockingIOError:
            return words
        except BrokenPipeError:
            raise self._death() from None

    def _hear(self) -> bytes:
        """What it has written to stderr; the end of it is kept."""
        words = os.read(self._err, AT_ONCE)
        self._note("!", words)
        self._last_words = (self._last_words + words)[-LAST_WORDS:]
        return words

    def _read_answer(self) -> bytes:
        words = os.read(self._out, AT_ONCE)
        if not words:
            raise self._death()
        return words

    def _check_silence(self) -> None:
        """Complain about words that nobody has asked for."""
        try:
            words = os.read(self._out, AT_ONCE)
        except BlockingIOError:
            return
        raise BotFailed(f"{self._name} spoke without being asked: {_quoted(words)}") if words else self._death()

    def _note(self, sign: str, words: bytes) -> None:
        if self._transcript:
            self._transcript.note(self.number, sign, words)

    # ------------------------------------------------------------ ending

    def _death(self) -> Died:
        """That its output has ended, and how its process has."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(ENDING)
        self.kill()
        code = self._popen.returncode
        if code == -signal.SIGKILL:
            return Died(f"{self._name} has closed its output, or was killed")
        how = signal.strsignal(-code) if code < 0 else f"status {code}"
        return Died(f"{self._name} has ended ({how})")

    def _ended(self, failed: BotFailed) -> BotFailed:
        """The failure with the bot's last words, once its process has ended."""
        self.kill()
        failed.last_words = self.last_words()
        return failed

    def last_words(self) -> str:
        """The end of what it has written to stderr since the last question."""
        with contextlib.suppress(OSError):  # there is nothing more, or it is closed
            self._hear()
        return self._last_words.decode("utf-8", "replace").strip()

    def quit(self, line: bytes) -> None:
        """Tell it to leave, and end what is still there after a moment."""
        if self._popen.returncode is None:
            self.tell(line)
            assert self._popen.stdin
            self._popen.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(LEAVING)
        self.kill()

    def kill(self) -> None:
        """End it now, with all that it has started."""
        pipes = [pipe for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr) if pipe]
        if all(pipe.closed for pipe in pipes):
            return
        (end_tree if self._popen.poll() is None else end_group)(self.number)
        self._popen.wait()
        with contextlib.suppress(OSError):  # there is nothing more
            self._hear()
        for pipe in pipes:
            pipe.close()
        os.close(self._leash)
        self._in = self._out = self._err = -1  # these numbers may soon be those of other files

    def __del__(self) -> None:
        if hasattr(self, "_popen"):  # it was started
            self.kill()


def import_paths() -> str:
    """PYTHONPATH for another interpreter that is to find the same modules."""
    return os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)


def _quoted(words: bytes) -> str:
    return in_short(words.decode("utf-8", "replace"))
