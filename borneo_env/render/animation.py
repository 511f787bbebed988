"""Animation: a recorded game as moving pictures, for a README or a talk. As SVG it needs nothing, as GIF the extra."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from borneo_env.engine.state import CONTRACT, OVER
from borneo_env.pieces import Pieces, briefly, in_full, plain
from borneo_env.record import Line, read_ruleset, replay
from borneo_env.render.cards import face
from borneo_env.render.pen import use
from borneo_env.render.picture import TAIL, Picture
from borneo_env.render.pixels import check_extra, extra
from borneo_env.story import Narrator, agent_names, deed
from kontor.files import write_file

SECONDS = 1.2  # for each picture
LONGER = 4  # times as long the end is shown
WIDTH, NARROWEST, WIDEST = 840, 160, 2560  # pixels of a GIF
COLOURS = 250  # of a GIF, which has no more than 256
OF_A_TURN = ("contract", "transfer", "attack", "yield", "yield slot", "ship")  # the moves that are told of a whole turn

Track = Callable[[Sequence[Picture]], Iterable[Picture]]


class Animation:
    """Pictures of one game that follow each other; in a notebook it shows itself, and moves.

    Arguments:
        pictures: all with a legend, or all without.
        seconds: how long each is shown; the last one stays longer.
    """

    def __init__(self, pictures: Sequence[Picture], seconds: float = SECONDS) -> None:
        if not pictures:
            raise ValueError("an animation needs a picture, and there is none")
        if not 0.05 <= seconds <= 60:
            raise ValueError(f"a picture is shown for 0.05 to 60 seconds, not {seconds:g}")
        self.pictures, self.seconds = list(pictures), seconds

    @classmethod
    def of(
        cls,
        record: Sequence[Line],
        seat: int | None = None,
        *,
        decisions: bool = False,
        legend: bool = False,
        seconds: float = SECONDS,
    ) -> Animation:
        """A recorded game, one picture for each turn, or for every decision; seat and legend are those of `Picture`.

        The players have the names of the record's agents. A record that is wrong raises RecordError.
        """
        positions, shown = _positions(record, decisions), in_full if decisions else briefly
        ruleset, names = read_ruleset(record[0]), agent_names(record[0]["agents"])
        pictures = []
        for game, told in positions:
            words = ". ".join(plain(pieces, names, shown=shown).rstrip(".") for pieces in told)
            pictures.append(Picture(ruleset, game, seat, words, names, legend=legend))
        return cls(pictures, seconds)

    def svg(self) -> str:
        """An SVG drawing that moves by itself, without a script. What stays as it was is not drawn again."""
        first = self.pictures[0]
        cards = {face(number, card): f"card-{number}" for number, card in enumerate(first.ruleset.tables.cargo)}
        style, drawn = [self._style()], []
        for begin, end, content in _parts(self.pictures):
            for drawing, name in cards.items():
                content = content.replace(drawing, use(name, 0, 0))
            drawn.append(f'<g class="part f{begin}-{end}">{content}</g>')
            style.append(self._times(begin, end))
        symbols = "".join(f'<g id="{name}">{drawing}</g>' for drawing, name in cards.items())
        return (
            f"{first.head()}<style>{''.join(dict.fromkeys(style))}</style><defs>{symbols}</defs>{''.join(drawn)}{TAIL}"
        )

    @property
    def _whole(self) -> int:
        """How long it takes, in times of one picture."""
        return len(self.pictures) - 1 + LONGER

    def _style(self) -> str:
        """Parts come and go. Where nothing moves, or its user wants nothing to move, the last picture is shown."""
        return (
            f".part{{visibility:hidden;animation:{self._whole * self.seconds:g}s step-end infinite}}"
            "@media(prefers-reduced-motion:reduce){.part{animation:none}}"
        )

    def _times(self, begin: int, end: int) -> str:
        """When a part is seen that belongs to the pictures from `begin` up to `end`."""
        name, last = f"f{begin}-{end}", end == len(self.pictures)
        times = {0: "hidden", begin: "visible"} | ({} if last else {end: "hidden"})
        steps = "".join(f"{100 * time / self._whole:.4g}%{{visibility:{look}}}" for time, look in times.items())
        shown = "visibility:visible;" if last else ""
        return f".{name}{{{shown}animation-name:{name}}}@keyframes {name}{{{steps}}}"

    def save(self, path: str | Path, *, width: int = WIDTH, track: Track = iter) -> None:
        """Write a file whose name ends in .gif, so many pixels wide, or in .svg; `track` sees the pictures go by."""
        check_file(path, width)
        write_file(path, self.svg() if Path(path).suffix == ".svg" else self._gif(width, track))

    def _gif(self, width: int, track: Track) -> bytes:
        image, pictures = extra("PIL.Image"), self.pictures
        typical = np.concatenate([pictures[i].rgb(width) for i in (0, len(pictures) // 2, -1)])
        palette = image.fromarray(typical).quantize(COLOURS, method=image.Quantize.FASTOCTREE)  # keeps rare colours
        first, *others = (
            image.fromarray(picture.rgb(width)).quantize(palette=palette, dither=image.Dither.NONE)
            for picture in track(pictures)
        )
        times = [round(1000 * self.seconds)] * len(others) + [round(1000 * self.seconds * LONGER)]
        written = io.BytesIO()
        first.save(written, "GIF", save_all=True, append_images=others, duration=times, loop=0)
        return written.getvalue()

    def _repr_html_(self) -> str:
        """As an image, so that two animations on one page do not share their styles."""
        return f'<img src="data:image/svg+xml;base64,{b64encode(self.svg().encode()).decode()}">'


def check_file(path: str | Path, width: int = WIDTH) -> None:
    """Complain about a file that no animation can be saved as, before there is one."""
    ending = Path(path).suffix
    if ending not in (".gif", ".svg"):
        raise ValueError(f"{path}: an animation is saved as .gif or .svg")
    if not NARROWEST <= width <= WIDEST:
        raise ValueError(f"an animation is {NARROWEST} to {WIDEST} pixels wide, not {width}")
    if ending == ".gif":
        check_extra()


def _parts(pictures: Sequence[Picture]) -> Iterator[tuple[int, int, str]]:
    """The parts of all pictures from the ground up: the pictures a part belongs to, from the first up to the last."""
    for contents in zip(*([pane.content for pane in picture.panes()] for picture in pictures), strict=True):
        for content, same in groupby(range(len(contents)), contents.__getitem__):
            run = list(same)
            yield run[0], run[-1] + 1, content


# ---------------------------------------------------------------- from records


def _positions(record: Sequence[Line], decisions: bool) -> list[tuple[np.void, list[Pieces]]]:
    """The positions that are shown, each with what led to it; a record that is wrong is refused."""
    shown: dict[int, tuple[np.void, list[Pieces]]] = {}  # by the line after which they came about
    narrator, told = Narrator(), list[Pieces]()
    for moment in replay(record):
        before = moment.line_number - 1
        if not shown:
            shown[before] = moment.before, []
        if moment.kind == "shuffle" and before in shown:  # cards were drawn from a pile that only this line tells
            shown[before] = moment.after, shown[before][1]
        if moment.kind != "move":
            continue
        if decisions:
            told += [line.pieces for line in narrator.tell(moment) if not line.heading]
        elif moment.move.event in OF_A_TURN:
            told.append(deed(moment.batch.ruleset, moment.before, moment.line["player"], moment.move))
        phase = moment.after["phase"]
        if phase == OVER or (told if decisions else phase == CONTRACT):  # every turn begins with its contract (R2)
            shown[moment.line_number] = moment.after, told
            told = []
    return list(shown.values())
