"""Real logins through a real provider: who gets in, what they find in the menu, and what a link gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import sleep, time

import pytest
from oidc_provider import CLIENT, HOUR, SECRET, Person, Provider, providing
from playwright.sync_api import Browser, BrowserContext, Page, expect
from visits import settled

from mpd2.cli.bench.ui import PATIENCE, serving
from mpd2.clinic.access.actions import RULES, Role
from mpd2.clinic.settings import SETTINGS
from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.shell.registry import PAGES

SHORT = 15  # seconds a token is valid that expires while somebody looks
GROUPS = {role: {"groups": [f"mpd2-{role}"]} for role in Role}
ADMINS = GROUPS[Role.ADMIN]
OUT = {
    "expired": Person(ADMINS, lasts=-HOUR),
    "elsewhere": Person({**ADMINS, "aud": "another application"}),
    "azp": Person({**ADMINS, "aud": "another application", "azp": CLIENT}),
    "issuer": Person({**ADMINS, "iss": "https://elsewhere.example"}),
    "forged": Person(ADMINS, forged=True),
    "nonce": Person({**ADMINS, "nonce": "of another visit"}),
}
ROLELESS = {
    "unclaimed": Person({}),
    "unmapped": Person({"groups": ["mpd2-owner"]}),
    "nested": Person({"groups": {"a": 1}}),
}
PEOPLE = {
    **{str(role): Person(groups) for role, groups in GROUPS.items()},
    "short": Person(ADMINS, lasts=SHORT),
    **OUT,
    **ROLELESS,
}

SignIn = Callable[[str], Page]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """The provider."""
    with providing(PEOPLE) as started:
        yield started


@pytest.fixture(scope="module")
def guarded(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that knows nobody but the provider's people."""
    folder = tmp_path_factory.mktemp("guarded")
    roles = "\n".join(f'"mpd2-{role}" = "{role}"' for role in Role)
    (folder / "settings.toml").write_text(f'[login]\nclaim = "groups"\n[login.roles]\n{roles}\n')
    (folder / "secrets.toml").write_text(
        '[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
        f'cookie_secret = "{"0123456789abcdef" * 4}"\nclient_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
        f'server_metadata_url = "{provider.address}/.well-known/openid-configuration"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(folder / "workshop"))
        patch.setenv(SETTINGS, str(folder / "settings.toml"))
        patch.setenv("STREAMLIT_SECRETS_FILES", str(folder / "secrets.toml"))
        with serving() as started:
            yield started.address


@pytest.fixture(scope="module")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """One browser profile, so that the client's code is loaded once."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    yield context
    context.close()


@pytest.fixture
def sign_in(guarded: str, profile: BrowserContext) -> SignIn:
    """Go to the server as nobody, press Sign in and be somebody."""

    def signed_in(person: str) -> Page:
        for before in profile.pages:
            before.close()
        profile.clear_cookies()
        page = profile.new_page()
        page.goto(guarded)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name=person, exact=True).click()
        page.wait_for_url(f"{guarded}/**")
        return settled(page)

    return signed_in


def menu(page: Page) -> set[str]:
    """The pages in the menu."""
    links = page.get_by_test_id("stSidebarNavLink").all_inner_texts()
    return {text.splitlines()[-1] for text in links}  # without the icon's name


def nothing_but(page: Page, title: str, reason: str) -> None:
    """A page that has a title, a reason and nothing of the studio."""
    expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()
    expect(page.get_by_text(reason)).to_be_visible()
    assert menu(page) == set()
    expect(page.get_by_text("Active run")).to_have_count(0)


@pytest.mark.parametrize("role", Role)
def test_everybody_finds_the_pages_of_their_role_and_is_refused_the_others_by_address(
    sign_in: SignIn, guarded: str, role: Role
) -> None:
    page = sign_in(str(role))
    assert menu(page) == {each.title for each in PAGES if role in RULES[each.needs]}
    expect(page.get_by_text(f"{role.capitalize()} Example, {role}")).to_be_visible()
    refused = [each for each in PAGES if role not in RULES[each.needs]]
    for each in refused[:1]:  # tests/pages tries them all
        page.goto(f"{guarded}/{each.key}")
        settled(page)
        expect(page.get_by_text(f"{each.needs}: you are signed in as {role}")).to_be_visible()
        expect(page.get_by_role("tab")).to_have_count(0)


@pytest.mark.parametrize("person", OUT)
def test_a_token_that_is_not_for_us_or_not_valid_gets_nobody_in(sign_in: SignIn, person: str) -> None:
    reason = "made for another application" if person == "azp" else "You are not signed in"
    nothing_but(sign_in(person), "Sign in", reason)


@pytest.mark.parametrize("person", ROLELESS)
def test_somebody_without_a_role_gets_no_page(sign_in: SignIn, person: str) -> None:
    nothing_but(sign_in(person), "No role", "Your account has no role here")


def test_a_code_that_was_used_gets_nobody_in_again(
    sign_in: SignIn, guarded: str, profile: BrowserContext, browser: Browser, provider: Provider
) -> None:
    used: list[str] = []
    back = f"{guarded}/oauth2callback"
    profile.on("request", lambda request: used.append(request.url) if request.url.startswith(back) else None)
    sign_in("viewer")
    profile.clear_cookies()
    other = browser.new_context()
    for context in (profile, other):  # who came with it, without their cookies, and somebody who saw the address
        page = context.new_page()
        page.goto(used[0])
        nothing_but(settled(page), "Sign in", "You are not signed in")
    other.close()
    code = used[0].partition("code=")[2].partition("&")[0]
    assert provider.token_for({"code": code, "client_id": CLIENT, "client_secret": SECRET}) is None
    assert provider.refused[-1] == "no such code, or used before"


def test_whoever_signs_out_is_out_in_every_tab_and_their_old_cookie_is_worth_nothing(
    sign_in: SignIn, guarded: str, profile: BrowserContext
) -> None:
    page = sign_in("clinician")
    kept = profile.cookies()
    second = profile.new_page()
    second.goto(f"{guarded}/about")
    settled(second)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1, name="Sign in", exact=True)).to_be_visible()
    second.get_by_role("link", name="Risk").click()
    expect(second.get_by_text("You have signed out")).to_be_visible()
    profile.add_cookies(kept)
    again = profile.new_page()
    again.goto(guarded)
    nothing_but(settled(again), "Sign in", "You have signed out")


def test_whoevers_token_expires_is_out_at_the_next_click(sign_in: SignIn) -> None:
    page = sign_in("short")
    came = time()  # a little after the token was made
    assert menu(page)
    sleep(max(0.0, came + SHORT - time()))
    page.get_by_role("link", name="About").click()
    nothing_but(settled(page), "Sign in", "token has expired")
