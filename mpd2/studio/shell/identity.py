"""Who looks: this machine's user where no login is configured, else whoever the provider says, asked on every run.

Nothing is decided here: library functions take the actor and refuse. What somebody may not do is not offered, and why
is said in place of it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from time import time
from typing import Any, TypeVar

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import LOCAL, Actor
from mpd2.clinic.access.authorise import NotAllowed, authorise, may, refusal
from mpd2.clinic.access.claims import Moment, NoRole, SignedOut, identify, roles_of, sign_in_of
from mpd2.clinic.access.sign_ins import SignIns
from mpd2.clinic.settings import SETTINGS, Login, read_settings
from mpd2.core.cache import look_again
from mpd2.core.errors import UserError
from mpd2.core.text import listed, verbatim
from mpd2.studio.serving import DEFAULT, auth_section, client_id, providers

Made = TypeVar("Made")
VISIT, IN = "visit", "signed_in"  # keys of the session: which visit this is; the sign-in that was recorded
LOOK = 20.0  # seconds between two looks at whether the visit is over, while nobody clicks
REMEMBERED = 2 * 24 * 3600.0  # seconds; no sign-in is valid for as long
SINGLE = "Single local user on this machine; there is no login."
SEEN = SignIns()


def actor() -> Actor:
    """Who acts; a `NotAllowed` with the reason if their visit is over."""
    look_again()
    return _admitted(_whoever())


def reason_to_stop() -> SignedOut | NoRole | None:
    """Why whoever looks gets no page; none for those who are let in, whose click is remembered."""
    try:
        found = _whoever()
        if not isinstance(found, Actor):
            return found
        _note_click(found)
    except UserError as error:  # the settings or the record cannot be read: nobody gets in
        return SignedOut(str(error))
    return None


def stop(why: SignedOut | NoRole) -> None:
    """The only page of those who are not let in; the run ends with it."""
    signed_out = isinstance(why, SignedOut)
    st.title("Sign in" if signed_out else "No role", anchor=False)
    st.markdown("MPD² Studio shows its pages to people with a role in this installation.")
    st.warning(verbatim(f"{why.reason[:1].upper()}{why.reason[1:]}."), icon=":material/lock:")
    for provider in providers(auth_section()) if signed_out else ():
        label = "Sign in" if provider == DEFAULT else f"Sign in with {provider}"
        if st.button(label, type="primary", icon=":material/login:", key=f"sign_in:{provider}"):
            st.login(None if provider == DEFAULT else provider)
    if not signed_out and st.button("Sign out", icon=":material/logout:", key="sign_out"):
        _end()
        st.logout()
    st.stop()


def sidebar() -> None:
    """Who is signed in, as what, and the way out."""
    login = _login()
    if login is None:
        st.caption(f":material/computer: {SINGLE}")
        return
    who, roles = _looking(), roles_of(st.user.to_dict(), login)
    chosen = f" (the strongest of {listed(sorted(roles))})" if len(roles) > 1 else ""
    st.caption(f":material/person: {verbatim(who.name)}, {who.role}{chosen}")
    if st.button("Sign out", icon=":material/logout:", key="sign_out", width="stretch"):
        with suppress(UserError):  # a record that cannot be written keeps nobody in
            authorise(who, Action.SIGN_OUT)
        _end()
        st.logout()
    st.fragment(_watch, run_every=LOOK, key="watch")()


def is_allowed(action: Action, owner: str | None = None) -> bool:
    """Whether whoever looks may do something."""
    return may(_looking(), action, owner)


def permitted(action: Action, owner: str | None = None, *, otherwise: str | None = None) -> dict[str, Any]:
    """The arguments `disabled` and `help` of a button: off with the reason for those who would be refused.

    `otherwise`: the help of everybody else.
    """
    by = _looking()
    allowed = may(by, action, owner)
    return {"disabled": not allowed, "help": otherwise if allowed else verbatim(refusal(by, action, owner))}


def refuse_page(action: Action) -> None:
    """End the run with the reason if whoever looks may not see a page."""
    by = _looking()
    if not may(by, action):
        st.error(verbatim(refusal(by, action)), icon=":material/lock:")
        st.stop()


def once(action: Action, about: str, case: str | None = None) -> None:
    """Ask for something and have it recorded, once a visit for the same thing."""
    key = f"{action}:{about}:{case}"
    if key in st.session_state:
        return
    try:
        authorise(actor(), action, case=case, what=about)
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/lock:")
        st.stop()
    st.session_state[key] = True


def later(make: Callable[[Actor], Made]) -> Callable[[], Made]:
    """What is made at a click, when no page runs: by then whoever looks now must still be signed in."""
    login = _login()
    if login is None:
        return lambda: make(LOCAL)
    claims, audience, visit = st.user.to_dict(), _audience(st.user.to_dict()), _visit()
    return lambda: make(_admitted(_identified(claims, login, audience, visit)))


def _looking() -> Actor:
    """Who looks; a part of a page that is drawn again by itself ends with the visit, and the page with it."""
    found = _whoever()
    if not isinstance(found, Actor):
        st.rerun()
    return found


def _admitted(found: Actor | SignedOut | NoRole) -> Actor:
    if isinstance(found, Actor):
        return found
    raise NotAllowed(f"{found.reason}; sign in again")


def _whoever() -> Actor | SignedOut | NoRole:
    login = _login()
    if login is None:
        return LOCAL
    claims = st.user.to_dict()
    return _identified(claims, login, _audience(claims), _visit())


def _identified(claims: Mapping[str, Any], login: Login, audience: str, visit: str) -> Actor | SignedOut | NoRole:
    sign_in = sign_in_of(claims)
    if SEEN.has_ended(sign_in):
        return SignedOut("you have signed out")
    return identify(claims, login, audience, Moment(time(), SEEN.last_click(sign_in)), visit)


def _note_click(who: Actor) -> None:
    """Remember that somebody clicked; that they came is recorded once a visit."""
    sign_in, now = sign_in_of(st.user.to_dict()) if who is not LOCAL else who.id, time()
    SEEN.forget_before(now - REMEMBERED)
    SEEN.click(sign_in, now)
    if st.session_state.get(IN) != (sign_in, who.role):
        authorise(who, Action.SIGN_IN)
        st.session_state[IN] = (sign_in, who.role)


def _watch() -> None:
    """Clear the screen of somebody whose visit is over, though nobody clicks."""
    if not isinstance(_whoever(), Actor):
        st.rerun()


def _end() -> None:
    """From now on this sign-in is over, in every tab."""
    SEEN.end(sign_in_of(st.user.to_dict()), time())


def _visit() -> str:
    name: str = st.session_state.setdefault(VISIT, secrets.token_hex(8))
    return name


def _login() -> Login | None:
    named = os.environ.get(SETTINGS)
    if not named:
        return None
    try:
        changed = os.stat(named).st_mtime_ns
    except OSError as error:
        raise UserError(f"the settings cannot be read: {error.strerror}") from None
    return _read_login(Path(named), changed)


@lru_cache(maxsize=4)
def _read_login(path: Path, changed: int) -> Login | None:
    return read_settings(path).login


def _audience(claims: Mapping[str, Any]) -> str:
    """Our own name at the provider somebody came through."""
    return client_id(auth_section(), str(claims.get("provider", "")))
