"""A visit without a browser: opens pages, changes something on them, and looks at every answer, as a browser would.

What a browser draws is left out, and so are the files it fetches once; all that the server computes is not.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from mpd2.studio.shell.registry import DEFAULT

PROTOCOL = Subprotocol("streamlit")
LARGEST = 2**24  # bytes of a message
MAIN = 0  # where an element's path begins, if it stands on the page and not in the sidebar
KEPT = 2  # runs a browser keeps a message for, so that the server need not send it again
WHOLE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
STATES = {"radio": "string_value", "selectbox": "string_value", "button_group": "string_array_value"}
"""Widgets with something to choose, and the part of their state that holds what is chosen."""


def visiting(address: str) -> connect:
    """A line to a server, as a browser opens it; closed by `async with`."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    return connect(stream, subprotocols=[PROTOCOL], max_size=LARGEST, compression=None, ping_interval=None)


@dataclass(frozen=True)
class Choice:
    """A widget of a page, and what could be chosen with it instead."""

    kind: str
    widget: str  # its id
    others: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What the server made of a wish."""

    seconds: float
    kilobytes: float
    problem: str = ""  # empty if all is as it should be


@dataclass
class Visit:
    """Somebody with a connection; `patience` is how many seconds they wait for an answer."""

    connection: ClientConnection
    patience: float
    page: str = ""
    choices: list[Choice] = field(default_factory=list)  # on the page
    refreshed: dict[str, float] = field(default_factory=dict)  # parts that refresh themselves, and every how many s
    _scripts: dict[str, str] = field(default_factory=dict)  # by page, as the server calls them
    _query: str = ""
    _known: OrderedDict[str, int] = field(default_factory=OrderedDict)  # messages kept, and since which run
    _asked: dict[str, float] = field(default_factory=dict)  # parts that asked to be refreshed in the run under way
    _runs: int = 0
    is_lost: bool = False  # whether nothing can be asked any more

    async def go(self, page: str) -> Answer:
        """Open a page: the first by its address, the others from the menu."""
        wish = BackMsg()
        if self._scripts:
            wish.rerun_script.page_script_hash = self._scripts[page]
        else:
            wish.rerun_script.page_name = "" if page == DEFAULT else page
        self.page, self._query = page, ""
        self.choices, self.refreshed = [], {}
        return await self._ask(wish)

    async def change(self, by: Random) -> Answer:
        """Choose something else on the page."""
        choice = by.choice(self.choices)
        return await self.choose(choice, by.choice(choice.others))

    async def choose(self, choice: Choice, value: str) -> Answer:
        """Choose something with a widget of the page."""
        wish = self._wish()
        state = wish.rerun_script.widget_states.widgets.add(id=choice.widget)
        if STATES[choice.kind] == "string_value":
            state.string_value = value
        else:
            state.string_array_value.data.append(value)
        self.choices, self.refreshed = [], {}
        return await self._ask(wish)

    async def refresh(self, part: str) -> Answer:
        """Let a part of the page refresh itself, as it asked for."""
        wish = self._wish()
        wish.rerun_script.fragment_id, wish.rerun_script.is_auto_rerun = part, True
        return await self._ask(wish)

    def _wish(self) -> BackMsg:
        wish = BackMsg()
        wish.rerun_script.page_script_hash = self._scripts[self.page]
        return wish

    async def _ask(self, wish: BackMsg) -> Answer:
        """Send a wish, and read until all that follows from it is there."""
        wish.rerun_script.query_string = self._query
        wish.rerun_script.cached_message_hashes.extend(self._known)
        start, size, problems = perf_counter(), 0, list[str]()
        try:
            async with asyncio.timeout(self.patience):
                await self.connection.send(wish.SerializeToString())
                while True:
                    read = await self.connection.recv(decode=False)
                    size += len(read)
                    message = ForwardMsg.FromString(read)
                    problems += self._note(message)
                    if message.WhichOneof("type") == "script_finished" and message.script_finished in WHOLE:
                        break
        except TimeoutError:
            problems.append("no answer")
            self.is_lost = True
        except ConnectionClosed:
            problems.append("the connection was closed")
            self.is_lost = True
        self._forget()
        return Answer(perf_counter() - start, size / 1024, "; ".join(problems))

    def _note(self, message: ForwardMsg) -> list[str]:
        """Keep what a message says that matters later; what is wrong with it."""
        kind = message.WhichOneof("type")
        if message.metadata.cacheable:
            self._known[message.hash] = self._runs
        if kind == "delta":
            return self._note_element(message)
        if kind == "ref_hash":
            self._known[message.ref_hash] = self._runs
        elif kind == "navigation":
            self._scripts = {
                DEFAULT if page.is_default else page.url_pathname: page.page_script_hash
                for page in message.navigation.app_pages
                if not page.is_hidden
            }
            self.page = self._page_of(message.navigation.page_script_hash)
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._asked[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "page_not_found":
            return ["there is no such page"]
        elif kind == "script_finished":
            return self._note_end(message.script_finished)
        return []

    def _note_end(self, how: int) -> list[str]:
        """After a run of the whole page, parts that asked before are gone; nobody would answer them."""
        if how == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            return ["the script could not be read"]
        if how in WHOLE:
            before = {} if how == ForwardMsg.FINISHED_SUCCESSFULLY else self.refreshed
            self.refreshed = before | self._asked
        self._asked = {}
        return []

    def _note_element(self, message: ForwardMsg) -> list[str]:
        element = message.delta.new_element
        if element.WhichOneof("type") == "exception":
            return [f"an error on the page: {element.exception.type}"]
        if message.metadata.delta_path[:1] == [MAIN]:
            self.choices += choices_in(element)
        return []

    def _page_of(self, script: str) -> str:
        return next((page for page, its in self._scripts.items() if its == script), self.page)

    def _forget(self) -> None:
        """Let go of messages that the last runs did not show."""
        self._runs += 1
        for known in [known for known, run in self._known.items() if self._runs - run > KEPT]:
            del self._known[known]


def choices_in(element: Element) -> list[Choice]:
    """The widget that an element is, if it has something else to choose."""
    kind = element.WhichOneof("type")
    if kind == "button_group":
        group = element.button_group
        options = [option.content for option in group.options]
        chosen = {*group.raw_values, *(options[place] for place in group.default)}
        can_change = group.click_mode == ButtonGroup.SINGLE_SELECT and not group.disabled
    elif kind in STATES:
        list_ = getattr(element, kind)
        options = list(list_.options)
        chosen = {list_.raw_value, *options[list_.default : list_.default + 1]}
        can_change = not list_.disabled
    else:
        return []
    others = tuple(option for option in options if option not in chosen)
    widget = getattr(element, kind).id
    return [Choice(kind, widget, others)] if others and can_change else []
