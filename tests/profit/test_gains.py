"""Gains: from columns to a checked table, on every kind of table."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from scarce.profit import Gains, bayes_threshold
from scarce.profit._gains import log_ratio, stakes
from tests import naive_profit

COSTS = Gains(tp=0, fn="-0.8*amount", fp="margin*amount - zeta", tn="margin*amount", zeta=5)
AMOUNTS = np.array([100.0, 20.0, 7.5])
MARGINS = np.array([0.1, 0.2, 0.3])


def expected(amount, margin, zeta=5):
    return np.array([(0, m * a - zeta, m * a, -0.8 * a) for a, m in zip(amount, margin, strict=True)])


@pytest.fixture(params=["pandas", "polars", "pyarrow", "nullable", "array", "positions"])
def table(request):
    columns = {"shop": np.array([1.0, 2.0, 3.0]), "amount": AMOUNTS, "margin": MARGINS}
    if request.param in ("array", "positions"):
        X = np.column_stack(list(columns.values()))
        return X, (list(columns) if request.param == "array" else {"amount": 1, "margin": 2})
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(columns)
    match request.param:
        case "polars":
            return polars.DataFrame(columns), None
        case "pyarrow":
            return pytest.importorskip("pyarrow").Table.from_pandas(frame), None
        case "nullable":
            return frame.astype("Float64"), None
    return frame, None


def test_every_kind_of_table(table):
    X, columns = table
    costs = Gains(**COSTS.outcomes, zeta=5, columns=columns)
    np.testing.assert_allclose(costs(X), expected(AMOUNTS, MARGINS))
    np.testing.assert_allclose(costs.thresholds(X), [5 / 85, 5 / 21, 5 / 11])


def test_columns_of_an_array_have_the_names_of_the_library():
    assert Gains(fn="-x1", fp=-1)(np.array([[1.0, 30.0]])).tolist() == [[0, -1, 0, -30]]


def test_a_column_whose_name_is_no_word():
    frame = pytest.importorskip("pandas").DataFrame({"Amount (EUR)": [30.0]})
    assert Gains(fn="-amount", fp=-1, columns={"amount": "Amount (EUR)"})(frame)[0, 3] == -30


def test_arrays_and_numbers():
    table = Gains(tp=1, fp=-2, tn=[0.0, 1.0], fn=np.array([-5, -6]))(np.zeros((2, 1)))
    assert table.tolist() == [[1, -2, 0, -5], [1, -2, 1, -6]]


def test_functions_and_comparisons():
    costs = Gains(fn="-where(x0 > 50, min(x0, 80), sqrt(abs(x0 - 4)))", fp="-max(1, log(exp(2)), 0)")
    assert costs(np.array([[100.0], [20.0]])).tolist() == [[0, -2, 0, -80], [0, -2, 0, -4]]


OPERATORS = {"+": np.add, "-": np.subtract, "*": np.multiply}


@st.composite
def expressions(draw, depth=4):
    """An expression and the function that it stands for."""
    if depth == 0 or draw(st.booleans()):
        leaf = draw(st.sampled_from(["x0", "x1", "c", "2", "0.5"]))
        return leaf, lambda v: v[leaf] if leaf in v else float(leaf)
    sign = draw(st.sampled_from(list(OPERATORS)))
    (left, f), (right, g) = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    return f"({left} {sign} {right})", lambda v: OPERATORS[sign](f(v), g(v))


@given(expressions(), arrays(np.float64, (4, 2), elements=st.floats(-100, 100)))
def test_an_expression_has_its_value(case, X):
    text, function = case
    constants = {"c": 3.0} if "c" in text else {}
    table = Gains(tp=f"1e9 + ({text})", **constants)(X)
    naive = [1e9 + function({"x0": row[0], "x1": row[1], "c": 3.0}) for row in X]
    np.testing.assert_array_equal(table[:, 0], naive)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "amount.mean()",
        "amount[0]",
        "(lambda: 1)()",
        "[1, 2]",
        "open(amount)",
        "max(*amount)",
        "max(amount, key=abs)",
        "sqrt(1, 2)",
        "where(amount, 1)",
        "1 if amount else 2",
        "1 < amount < 3",
        "amount and 1",
        "amount @ amount",
        "'5'",
        "(a := 3)",
        "amount +",
        "",
        "(" * 300 + "1" + ")" * 300,
        "1+" * 600 + "1",
    ],
)
def test_nothing_but_arithmetic_is_read(text):
    with pytest.raises(ValueError, match=r"not allowed|not an expression|arguments|characters"):
        Gains(fn=text)


def test_powers_have_an_end():
    with pytest.raises(ValueError, match="fn is missing or infinite in row 0"):
        Gains(fn="-9**9**9**9")(np.zeros((1, 1)))


@given(arrays(np.float64, (6, 4), elements=st.floats(-100, 100)), st.floats(0, 1))
def test_the_threshold_is_the_best_decision(gains, p):
    gains[:, 0] = gains[:, 3] + np.abs(gains[:, 0]) + 1  # the right decision pays
    gains[:, 2] = gains[:, 1] + np.abs(gains[:, 2])
    s = bayes_threshold(gains)
    assert ((s >= 0) & (s < 1)).all()
    clear = np.abs(p - s) > 1e-9
    np.testing.assert_array_equal((p > s)[clear], naive_profit.best_decisions([p] * 6, gains)[clear])


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ([[1, 2, 3]], r"four columns \(tp, fp, tn, fn\) and 1 rows"),
        ([[1, 0, 1, np.nan]], "gain fn is missing or infinite in row 0"),
        ([[1, 0, 1, np.inf]], "gain fn is missing or infinite in row 0"),
        ([[0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0]], "in 2 rows, the first of them 0, 2"),
    ],
)
def test_bad_tables(gains, message):
    with pytest.raises(ValueError, match=message):
        bayes_threshold(gains)


def test_rows_where_right_decisions_do_not_pay():
    X = np.array([[-20.0], [3.0], [-30.0], [0.0]])
    costs = Gains(fn="-x0", fp=-1)
    with pytest.raises(ValueError, match="in 2 rows, the first of them 0, 2"):
        costs(X)
    kept = Gains(fn="-x0", fp=-1, on_degenerate="drop")(X)
    assert kept.tolist() == [[0, 0, 0, 0], [0, -1, 0, -3], [0, 0, 0, 0], [0, -1, 0, 0]]
    assert bayes_threshold(kept).tolist() == [1, 0.25, 1, 1]


def test_missing_amounts():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns = {"amount": [1.0, None, 3.0, None], "margin": [0.1] * 4}
    for frame in (pandas.DataFrame(columns), pandas.DataFrame(columns).astype("Float64"), polars.DataFrame(columns)):
        with pytest.raises(ValueError, match=r"'amount' of the gains is missing or infinite in 2 rows, .* 1, 3"):
            COSTS(frame)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"amount": ["a"], "margin": [1.0]}, "'amount' of the gains must be numeric"),
        ({"margin": [1.0]}, "need 'amount', which is neither a constant nor a column: the table has columns margin"),
        ({"amount": [1.0], "margin": [1.0], "zeta": [1.0]}, "'zeta' is a constant of the gains and a column"),
    ],
)
def test_bad_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        COSTS(pytest.importorskip("pandas").DataFrame(columns))


def test_bad_arrays():
    with pytest.raises(ValueError, match="2 columns without names"):
        COSTS(np.ones((3, 2)))
    with pytest.raises(ValueError, match="2 columns without names"):
        Gains(fn="-x2", fp=-1)(np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"rows and columns; got shape \(3,\)"):
        Gains(fn="-x0", fp=-1)(np.ones(3))
    with pytest.raises(ValueError, match="no sparse tables"):
        Gains(fn="-x0", fp=-1)(csr_array(np.ones((3, 2))))
    with pytest.raises(ValueError, match=r"fn has shape \(5,\), and the table 3 rows"):
        Gains(fn=np.ones(5))(np.ones((3, 2)))


def test_scaled_amounts_are_no_money():
    X = np.random.default_rng(0).lognormal(3, 1, (50, 2))
    costs = Gains(fn="-x0", fp=-100)
    costs(X)
    with pytest.raises(ValueError, match="a scaler has changed it"):
        costs(StandardScaler().fit_transform(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fn": "-zeta", "zeta": "5"}, "constant zeta must be a finite number"),
        ({"fn": "-zeta", "zeta": np.nan}, "constant zeta must be a finite number"),
        ({"fn": -1, "zeta": 5}, "No outcome uses the constant zeta"),
        ({"fn": "-max(max, 1)", "max": 5}, "max is a function"),
        ({"fn": -1, "on_degenerate": "skip"}, "on_degenerate must be"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(ValueError, match=message):
        Gains(**given)


def test_replace_and_repr():
    higher = COSTS.replace(zeta=20)
    frame = pytest.importorskip("pandas").DataFrame({"amount": AMOUNTS, "margin": MARGINS})
    np.testing.assert_allclose(higher(frame), expected(AMOUNTS, MARGINS, 20))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(higher))(frame), higher(frame))
    assert repr(higher) == "Gains(tp=0, fp='margin*amount - zeta', tn='margin*amount', fn='-0.8*amount', zeta=20)"
    assert repr(Gains(fn=[1, 2], on_degenerate="drop")).endswith("fn=<2 numbers>, on_degenerate='drop')")
    with pytest.raises(ValueError, match="eta is not a constant"):
        COSTS.replace(eta=3)


@given(arrays(float, (7, 4), elements=st.integers(-9, 9).map(float)))
def test_stakes(gains):
    up, down = stakes(gains)
    np.testing.assert_array_equal(np.column_stack((up, down)), naive_profit.stakes(gains))
    for row in np.flatnonzero((gains[:, 0] > gains[:, 3]) & (gains[:, 2] > gains[:, 1])):
        assert down[row] / (up[row] + down[row]) == pytest.approx(bayes_threshold(gains[row])[0])


def test_ratios_of_stakes_are_bounded():
    found = log_ratio(np.array([1.0, 2.0, 0.0, 1e-300, 5.0, 0.0]), np.array([1.0, 1.0, 3.0, 1e300, 0.0, 0.0]))
    np.testing.assert_allclose(found, [0, np.log(2), -15, -15, 15, 0])
