"""Pages and the interface for programs: nothing without a token, nothing changed without a CSRF token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event
from starlette.routing import Mount, Route

from scarce.desk.app import create_app
from scarce.desk.imports import import_folder
from scarce.desk.pages import _number
from scarce.desk.schema import CaseEntity
from scarce.desk.store import Store, store_url
from scarce.desk.tokens import add_token, revoke_token
from scarce.desk.verdicts import Given, decide, undo

from .audits import make_folder

OPEN_TO_ALL = {"/healthz", "/login"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A desk with 120 cases on SQLite, which tests may decide."""
    folder = make_folder(tmp_path_factory.mktemp("desk") / "audit", 120)
    store = Store(store_url(folder))
    import_folder(store, folder)
    yield store
    store.close()


@pytest.fixture(scope="module")
def tokens(small: Store) -> dict[str, str]:
    return {role: add_token(small, f"the {role}", role) for role in ("viewer", "reviewer", "admin")}


@pytest.fixture
def client(small: Store, tmp_path: Path) -> TestClient:
    return TestClient(create_app(small, tmp_path), follow_redirects=False)


@pytest.fixture
def browser(client: TestClient, tokens: dict[str, str]) -> TestClient:
    assert client.post("/login", data={"token": tokens["reviewer"]}).status_code == 303
    client.headers["accept"] = "text/html"
    return client


def csrf(browser: TestClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', browser.get("/").text)
    assert found
    return found[1]


def routes(router: Any) -> list[tuple[str, str]]:
    """Return the methods and paths of a router, and of those that it includes."""
    found = []
    for route in router.routes:
        if hasattr(route, "original_router"):
            found += routes(route.original_router)
        elif isinstance(route, Route):
            found += [(method, route.path) for method in sorted(route.methods or ())]
        else:
            assert isinstance(route, Mount), route
            assert route.path == "/static"
    return found


def test_nothing_answers_without_a_token(client: TestClient) -> None:
    asked = [(method, path) for method, path in routes(client.app) if path not in OPEN_TO_ALL and method != "HEAD"]
    assert len(asked) >= 12
    for method, path in asked:
        address = re.sub(r"\{what\}.*", "verdicts.csv", path).replace("{case_id}", "1")
        assert client.request(method, address).status_code == 401, (method, path)
        if method == "GET" and not path.startswith("/v1"):
            answer = client.get(address, headers={"accept": "text/html"})
            assert (answer.status_code, answer.headers["location"]) == (303, "/login")


@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer ", "Basic abc", "wrong", "Bearer \xff"])
def test_a_wrong_token_is_refused(client: TestClient, header: str) -> None:
    assert client.get("/v1/queue", headers={"authorization": header.encode("latin-1")}).status_code == 401


def test_a_viewer_reads_and_decides_nothing(client: TestClient, tokens: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {tokens['viewer']}"}
    assert client.get("/v1/cases/1", headers=headers).status_code == 200
    answer = client.post("/v1/cases/1/reviews", json={"verdict": "positive"}, headers=headers)
    assert answer.status_code == 403
    assert "needs the role reviewer" in answer.json()["detail"]


def test_a_revoked_token_is_refused(small: Store, client: TestClient) -> None:
    token = add_token(small, "for a day", "admin")
    headers = {"authorization": f"Bearer {token}"}
    assert client.get("/v1/queue", headers=headers).status_code == 200
    revoke_token(small, "for a day")
    client.app.state.gate.forget()  # type: ignore[attr-defined]
    assert client.get("/v1/queue", headers=headers).status_code == 401


def test_a_form_without_the_csrf_token_is_refused(browser: TestClient) -> None:
    for address in ("/cases/1/verdict", "/cases/1/undo", "/cases/1/leave", "/logout", "/v1/cases/1/reviews"):
        answer = browser.post(address, data={"verdict": "positive", "seen": "0", "csrf": "guessed"})
        assert answer.status_code == 403, address


def test_the_cookie_is_for_this_site_alone(client: TestClient, tokens: dict[str, str], small: Store) -> None:
    cookie = client.post("/login", data={"token": tokens["viewer"]}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie
    over_tls = TestClient(create_app(small, Path(), secure=True), follow_redirects=False)
    assert "secure" in over_tls.post("/login", data={"token": tokens["viewer"]}).headers["set-cookie"].lower()


def test_tokens_cannot_be_tried_out(client: TestClient, tokens: dict[str, str]) -> None:
    answers = [client.post("/login", data={"token": f"guess {n}"}).status_code for n in range(11)]
    assert answers == [401] * 10 + [429]
    assert client.post("/login", data={"token": tokens["admin"]}).status_code == 429


def test_a_logout_ends_the_session(browser: TestClient) -> None:
    cookies = dict(browser.cookies)
    assert browser.post("/logout", data={"csrf": csrf(browser)}).status_code == 303
    browser.cookies.update(cookies)
    assert browser.get("/").headers.get("location") == "/login"


def test_pages_run_nothing_but_their_own_files(browser: TestClient) -> None:
    for address in ("/", "/cases/2", "/figures", "/export", "/login"):
        answer = browser.get(address)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert not re.search(r"<style|<script>| style=| on\w+=", answer.text), address


def test_a_verdict_goes_on_to_the_next_case_and_can_be_undone(browser: TestClient) -> None:
    token = csrf(browser)
    given = {"csrf": token, "seen": "0", "verdict": "positive", "kind": "<b>card</b>", "note": "it's & more"}
    answer = browser.post("/cases/3/verdict?text=P", data=given)
    assert answer.status_code == 303
    assert re.match(r"/cases/4\?text=P&done=\d+", answer.headers["location"])
    text = browser.get("/cases/3").text
    assert "&lt;b&gt;card&lt;/b&gt;" in text
    assert "it&#39;s &amp; more" in text
    seen = re.search(r'name="seen" value="(\d+)"', text)
    assert seen
    undone = browser.post("/cases/3/undo", data={"csrf": token, "seen": seen[1]})
    assert undone.headers["location"] == "/cases/3"
    assert "(undo)" in browser.get("/cases/3").text


def test_a_conflict_keeps_what_was_typed(browser: TestClient, small: Store) -> None:
    decide(small, 5, "ben", Given("negative"))
    given = {"csrf": csrf(browser), "seen": "0", "verdict": "positive", "note": "Long thought about."}
    answer = browser.post("/cases/5/verdict", data=given)
    assert answer.status_code == 409
    assert "ben decided this case at" in unescape(answer.text)
    assert "Long thought about." in answer.text


def test_an_open_case_is_locked_and_freed(browser: TestClient, small: Store) -> None:
    browser.get("/cases/7")
    other = TestClient(create_app(small, Path()), follow_redirects=False)
    other.post("/login", data={"token": add_token(small, "carl", "reviewer")})
    assert "the reviewer has this case open until" in other.get("/cases/7").text
    assert "open at the reviewer" in other.get("/").text
    # The page is loaded again, and what the old one sends on leaving arrives after that.
    old = re.search(r'data-until="([^"]+)"', browser.get("/cases/7").text)
    assert old
    browser.get("/cases/7")
    assert browser.post("/cases/7/leave", data={"csrf": csrf(browser), "until": old[1]}).status_code == 204
    assert "the reviewer has this case open until" in other.get("/cases/7").text
    assert browser.post("/cases/7/leave", data={"csrf": csrf(browser)}).status_code == 204
    assert "has this case open until" not in other.get("/cases/7").text


def test_the_export_is_safe_in_a_spreadsheet(browser: TestClient, small: Store) -> None:
    decide(small, 9, "the reviewer", Given("negative", note="=HYPERLINK(1)"))
    text = browser.get("/export/verdicts.csv").text
    assert "'=HYPERLINK(1)" in text
    table = pd.read_csv(StringIO(text))
    assert {"payment", "verdict", "review_time", "review_who"} <= set(table.columns)
    parquet = pd.read_parquet(BytesIO(browser.get("/export/history.parquet").content))
    assert len(parquet) >= len(table)


def test_what_cannot_be_done_is_a_sentence_on_a_page(browser: TestClient) -> None:
    answer = browser.get("/cases/99999")
    assert answer.status_code == 404
    assert "There is no case 99999." in answer.text
    assert browser.get("/?after=nonsense").status_code == 422
    wrong = browser.post("/cases/2/verdict", data={"csrf": csrf(browser), "verdict": "positive", "seen": "none"})
    assert wrong.status_code == 422
    assert "Field 'seen': expected a valid integer" in unescape(wrong.text)


def test_an_open_case_has_no_neighbours_among_decided_ones(browser: TestClient, small: Store) -> None:
    undo(small, 21, "ben", seen=decide(small, 21, "ben", Given("negative")).id)
    answer = browser.get("/cases/21?status=negative&order=decided")
    assert answer.status_code == 200
    assert 'id="next"' not in answer.text


def test_only_a_verdict_that_moves_linked_cases_says_so(browser: TestClient, small: Store) -> None:
    def flash(verdict: str, case: int) -> str:
        given = {"csrf": csrf(browser), "seen": "0", "verdict": verdict}
        text = browser.get(browser.post(f"/cases/{case}/verdict", data=given).headers["location"]).text
        return unescape(text[text.index('class="flash"') :][:400])

    # Three cases of one terminal.
    with small.write() as transaction:
        for case in (31, 32, 33):
            transaction.add(CaseEntity(case_id=case, column="account", value="A"))
    assert "2 linked open cases have moved" in flash("positive", 31)
    assert "moved" not in flash("undecidable", 32)


def test_all_cases_of_an_entity_can_be_listed(browser: TestClient, small: Store) -> None:
    with small.write() as transaction:
        for case in range(1, 16):
            transaction.add(CaseEntity(case_id=case, column="account", value="B"))
    text = browser.get("/cases/1").text
    assert "6 more cases in the desk" in text
    more = unescape(text[: text.index('#linked">6 more')].rpartition('href="')[2])
    listed = browser.get(f"/cases/1{more}").text
    assert all(f'href="/cases/{case}"' in listed for case in range(2, 16))
    assert "more cases in the desk" not in listed


@pytest.mark.parametrize(
    ("written", "number"), [("12,50", 12.5), ("1,250.5", 1250.5), ("1.250,5", 1250.5), (" ", None)]
)
def test_amounts_of_a_filter_are_read_in_either_notation(written: str, number: float | None) -> None:
    assert _number(written) == number
    if number is not None:
        assert _number(str(number)) == number  # the address of the next page


def test_three_decimals_stay_decimals_from_page_to_page() -> None:
    assert _number("2,1250") == _number(str(2.125)) == 2.125


@pytest.mark.parametrize("written", ["many", "inf", "1e999", "nan"])
def test_an_amount_that_is_none_is_refused(browser: TestClient, written: str) -> None:
    answer = browser.get(f"/?least={written}")
    assert answer.status_code == 422
    assert f"The amount '{written}' is no number" in unescape(answer.text)


def test_the_reference_says_what_to_send_and_what_comes_back(browser: TestClient) -> None:
    text = unescape(browser.get("/docs").text)
    assert "<code>faults</code> names rows, columns and cells" in text
    assert '"kind": "card"' in text
    assert "Somebody else decided the case" in text
    assert "Successful Response" not in text
    assert "`" not in text


def test_the_interface_pages_through_the_queue(client: TestClient, tokens: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {tokens['viewer']}"}
    seen, after = [], ""
    while after is not None:
        answer = client.get("/v1/queue", params={"after": after, "size": 17}, headers=headers).json()
        seen += [case["id"] for case in answer["cases"]]
        after = answer["next"]
    assert len(seen) == len(set(seen)) > 100


def test_a_review_sent_twice_is_stored_once(client: TestClient, tokens: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {tokens['reviewer']}"}
    given = {"verdict": "undecidable", "seen": 0, "request": "0123456789"}
    answers = [client.post("/v1/cases/11/reviews", json=given, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    again = client.post("/v1/cases/11/reviews", json=given | {"request": "9876543210"}, headers=headers)
    assert again.status_code == 409


def test_a_field_that_cannot_be_read_is_a_sentence(client: TestClient, tokens: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {tokens['reviewer']}"}
    wrong = client.post("/v1/cases/40/reviews", json={"verdict": "maybe"}, headers=headers)
    assert wrong.json() == {
        "detail": "Field 'verdict': expected 'positive', 'negative' or 'undecidable', found 'maybe'."
    }
    assert wrong.status_code == 422
    lacks = client.post("/v1/cases/40/reviews", json={}, headers=headers)
    assert lacks.json() == {"detail": "Field 'verdict': field required."}
    unseen = client.post("/v1/cases/40/reviews", json={"verdict": "positive", "seen": 5}, headers=headers)
    assert unseen.status_code == 422
    assert unseen.json()["detail"].startswith("Nobody has decided this case yet")


def test_no_query_of_the_queue_reads_a_table_from_end_to_end(browser: TestClient, small: Store) -> None:
    asked: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        asked.append((statement, parameters))

    event.listen(small.engine, "before_cursor_execute", note)
    assert browser.get("/?text=north&least=100").status_code == 200
    event.remove(small.engine, "before_cursor_execute", note)
    with small.engine.connect() as connection:
        for statement, parameters in [pair for pair in asked if pair[0].startswith("SELECT")]:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            scans = [row[-1] for row in plan if row[-1].startswith("SCAN")]
            assert all("models" in scan for scan in scans), (statement, scans)
