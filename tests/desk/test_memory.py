"""The order of open cases, as verdicts move it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.desk.links import LinkCounts, LinkWeights
from scarce.desk.memory import START, rerank
from scarce.desk.ranking import OpenCase, Seen
from tests.naive_memory import naive_order

WEIGHTS = LinkWeights((1.0, 0.5, 0.25), (-0.5, -0.25, 0.0))
DAY = datetime(2026, 5, 3, 10, 32, tzinfo=UTC)
ENTITIES = [("card", "a"), ("card", "b"), ("terminal", "3156"), ("terminal", "7")]

a_case = st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.lists(st.sampled_from(ENTITIES), max_size=3))
a_verdict = st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 9))
verdicts = st.lists(a_verdict, max_size=8, unique_by=lambda v: v[0])


class Simulated:
    """A desk without a store."""

    def __init__(self, cases, weights=WEIGHTS):
        self.cases = [OpenCase(i, log_odds, tuple(entities)) for i, (log_odds, entities) in enumerate(cases)]
        self.counts = LinkCounts(5)
        self.decided: set[int] = set()
        self.weights = dict.fromkeys(("card", "terminal"), weights)

    def decide(self, case, positive, at):
        if case < len(self.cases):
            self.counts.decide(case, self.cases[case].entities, positive, at)
            self.decided.add(case)

    def undo(self, case):
        self.counts.withdraw(case)
        self.decided.discard(case)

    def live(self):
        seen = {e: Seen(*self.counts.of(e)) for e in ENTITIES if any(self.counts.of(e))}
        still = [case for case in self.cases if case.id not in self.decided]
        return {case.id: place.live for case, place in zip(still, rerank(still, seen, self.weights), strict=True)}

    def order(self):
        live = self.live()
        return sorted(live, key=lambda number: (-live[number], number))


@given(st.lists(a_case, max_size=10), verdicts)
def test_the_order_is_that_of_ordering_anew(cases, given_):
    desk = Simulated(cases)
    known = []
    for case, positive, at in given_:
        desk.decide(case, positive, at)
        if case < len(cases):
            known.append((case, cases[case][1], positive, at))
    desk.counts.advance(9)
    assert desk.order() == naive_order([(i, *case) for i, case in enumerate(cases)], known, WEIGHTS, 9, 5)


@given(st.lists(a_case, min_size=1, max_size=10), verdicts, st.data())
def test_a_confirmation_raises_linked_cases_and_a_clearance_does_not(cases, given_, data):
    desk = Simulated(cases)
    for verdict in given_:
        desk.decide(*verdict)
    if not desk.live():
        return
    case, positive = data.draw(st.sampled_from(sorted(desk.live()))), data.draw(st.booleans())
    before = desk.live()
    desk.decide(case, positive, 3)
    for other, live in desk.live().items():
        shared = set(cases[other][1]) & set(cases[case][1])
        if not shared:
            assert live == before[other]
        elif positive:
            assert live >= before[other]
        else:
            assert live <= before[other]


def test_a_first_confirmation_at_a_terminal_raises_the_open_cases_that_share_it_also_with_start_weights():
    terminal = [("terminal", "3156")]
    desk = Simulated([(0.4, []), (0.0, terminal), (1.0, terminal), (0.2, [("terminal", "7")])], START)
    assert desk.order() == [2, 0, 3, 1]
    desk.decide(2, True, 1)
    assert desk.order() == [1, 0, 3]


@given(st.lists(a_case, min_size=1, max_size=10), verdicts, st.data())
def test_an_undo_restores_the_order_to_the_bit(cases, given_, data):
    desk = Simulated(cases)
    for verdict in given_:
        desk.decide(*verdict)
    if not desk.live():
        return
    before, order = desk.live(), desk.order()
    case = data.draw(st.sampled_from(sorted(before)))
    desk.decide(case, data.draw(st.booleans()), data.draw(st.integers(0, 9)))
    desk.undo(case)
    assert desk.live() == before
    assert desk.order() == order


@given(st.lists(a_case, max_size=10), verdicts, st.randoms())
def test_the_order_does_not_depend_on_the_order_in_which_verdicts_come(cases, given_, random):
    one, other = Simulated(cases), Simulated(cases)
    for verdict in given_:
        one.decide(*verdict)
    random.shuffle(given_)
    for verdict in given_:
        other.decide(*verdict)
    assert one.live() == other.live()


@given(st.permutations([("card", "a"), ("terminal", "7"), ("shop", "x")]))
def test_the_bits_do_not_depend_on_the_order_of_the_entities(entities):
    seen = {entity: Seen(confirmed=1 + i) for i, entity in enumerate(sorted(entities))}
    weights = {name: LinkWeights((w, w / 3, w / 7), (0.0, 0.0, 0.0)) for name, w in (("card", 0.1), ("shop", 0.7))}
    [place] = rerank([OpenCase(1, 0.3, tuple(entities))], seen, weights)
    assert place.live == rerank([OpenCase(1, 0.3, tuple(sorted(entities)))], seen, weights)[0].live


def test_the_badge_names_the_entity_the_case_and_the_moment():
    terminal = ("terminal", "3156")
    case = OpenCase(1, 0.0, (terminal,))
    seen = {terminal: Seen(confirmed=1, latest="case 4711", at=DAY)}
    assert rerank([case], seen)[0].badge == "shares terminal 3156 with case 4711, confirmed at 10:32"
    assert rerank([case], seen, now=DAY + timedelta(hours=2))[0].badge.endswith("confirmed at 10:32")
    assert rerank([case], seen, now=DAY + timedelta(days=1))[0].badge.endswith("confirmed on 3 May at 10:32")
    seen = {terminal: Seen(confirmed=3, latest="case 4711", at=DAY)}
    assert rerank([case], seen)[0].badge == "shares terminal 3156 with case 4711 and 2 others, confirmed at 10:32"


def test_of_two_entities_the_badge_names_the_one_that_raises_more():
    card, terminal = ("card", "a"), ("terminal", "7")
    seen = {card: Seen(confirmed=1, latest="first", at=DAY), terminal: Seen(confirmed=2, latest="second")}
    case = OpenCase(1, 0.0, (card, terminal))
    assert "second" in rerank([case], seen, {"terminal": WEIGHTS, "card": WEIGHTS})[0].badge
    level = {card: Seen(confirmed=1, latest="first", at=DAY), terminal: Seen(confirmed=1, latest="second")}
    assert "first" in rerank([case], level)[0].badge


def test_a_case_without_confirmed_links_has_no_badge_and_its_own_log_odds():
    [place] = rerank([OpenCase(1, 0.25, (("card", "a"),))], {("card", "b"): Seen(confirmed=1)})
    assert place == (0.25, None)


def test_the_badge_of_a_lowered_case_names_the_entity_that_lowers_it_most():
    card, terminal = ("card", "a"), ("terminal", "7")
    case = OpenCase(1, 0.0, (card, terminal))
    seen = {
        card: Seen(cleared=1, latest_cleared="first", cleared_at=DAY),
        terminal: Seen(cleared=2, latest_cleared="second", cleared_at=DAY),
    }
    place = rerank([case], seen, {"terminal": WEIGHTS, "card": WEIGHTS})[0]
    assert place == (-1.25, "shares terminal 7 with second and 1 other, cleared at 10:32")
    # What raises more than it lowers is told as a confirmation, and the other way round.
    seen[card].confirmed, seen[card].latest = 1, "third"
    lowered = rerank([case], seen, {"terminal": WEIGHTS, "card": WEIGHTS})[0]
    assert lowered.live < 0
    assert lowered.badge.endswith("cleared at 10:32")
    seen[card].confirmed = 4
    raised = rerank([case], seen, {"terminal": WEIGHTS, "card": WEIGHTS})[0]
    assert raised.live > 0
    assert raised.badge == "shares card a with third and 3 others, confirmed"


def test_clearances_without_a_weight_move_nothing_and_have_no_badge():
    none = LinkWeights((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    seen = {("card", "a"): Seen(cleared=3, latest_cleared="first")}
    assert rerank([OpenCase(1, 0.25, (("card", "a"),))], seen, {"card": none}) == [(0.25, None)]


@pytest.mark.parametrize("weights", [START])
def test_start_weights_have_the_signs_that_weights_promise(weights):
    assert min(weights.confirmed) >= 0 >= max(weights.cleared)
