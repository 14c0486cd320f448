"""Slips, units, chemistry, floats and constants of integration: what is read, and what stays wrong."""

import pytest

from curate.verify import verify

EQUAL = [
    # units whose signs are those of mathematics, prefixes, derived units
    ("10", r"10\,\mu\mathrm{F}"), (r"10\ \mathrm{mT}", "0.01 T"), (r"1\ \mathrm{atm}", "101.325 kPa"),
    ("5 nF", "5 nanofarads"), (r"5\ \mu F", r"5\times10^{-6}\ \mathrm{F}"), ("12 V", "12 volts"),
    (r"2\ \mathrm{kWh}", "7.2 MJ"), ("3 Å", r"3\times10^{-10}\text{ m}"), ("25", "25{cm}^2"),
    ("7", r"7 \mathrm{ft-lb}"),
    ("1 M", "1 mol/L"), ("6 Wb", "6000 mWb"),
    # chemistry
    (r"\ce{H2SO4}", "H_2SO_4"), ("CO_2", r"\text{CO}_2"), (r"\ce{SO4^2-}", "SO_4^{2-}"), ("Na^+", r"\mathrm{Na}^{+}"),
    ("1s^2 2s^2", "1s^22s^2"), (r"_{92}^{238}U", r"^{238}_{92}U"), ("sp^3", "sp3"),
    # floats that a program printed
    ("0.30000000000000004", r"\frac{3}{10}"), ("66.66666666666667", r"\frac{200}{3}"), ("1.1500000000000001", "1.15"),
    # slips
    (r"10,\! 000", "10000"), ("1{,} 234", "1234"), (r"5 \sinx", r"5\sin x"), (r"\\frac{3}{4}", "0.75"),
    ("1999", "in 1999"), ("50000", r"\$50K"), ("3", r"R\$ 3"), ("-300", r"\$-300"), (r"3\pir", r"3\pi r"),
    # constants of integration
    (r"-\frac12\cos 2x+C", r"\sin^2x+C"), ("x^2+C", "x^2+5+C"), (r"\ln x+c", r"\ln 2x+c"),
]  # fmt: skip
DIFFERENT = [
    ("10 T", "10 mT"), (r"10\ \mu F", "10 F"), (r"10\ \mathrm{nF}", r"10\ \mu\mathrm{F}"), ("1 atm", "1 Pa"),
    ("2 kWh", "2 J"), ("3 Å", "3 m"), ("6 J", "6 N"), ("9 V", "9 A"), ("4 T", "4 Wb"), ("25{cm}^2", "25{cm}^3"),
    ("10", "10 x"), ("12", "12 M + 1"), (r"\sqrt{2GM/R}", r"\sqrt{2G/R}"),
    (r"\ce{H2O}", "H_2O_2"), ("CO_2", "CO"), ("CO_2", "SO_2"), ("Fe^{3+}", "Fe^{2+}"), ("Fe^{3+}", "Fe^{3-}"),
    (r"_{92}^{238}U", r"_{92}^{235}U"), (r"_{92}^{238}U", r"_{90}^{238}U"), ("1s^22s^2", "1s^22s^1"), ("2H_2O", "H_2O"),
    ("V_1V_2", "V_2V_3"), ("C_2", "C_3"), ("0xFF", "FE_{16}"),
    ("0.7000000000000001", "0.71"), ("0.7", "0.70000000001"), (r"\frac{1}{3}", "0.3333333333333333"),
    (r"10,\!000", "1000"), ("50000", r"\$50M"), ("50", r"\$50K"), ("-300", r"\$300"), ("6", "6 in 1914"),
    ("x^2+C", "x^3+C"), (r"\sin^2x+C", r"\cos^2x+C"), ("x^2+C", "x^2"), ("A+B+C", "A+B+2+C"), ("x+y+C", "x+y+1+C"),
    ("x^2+C", "x^2+5"), ("x^2", "x^2+5"),
    # a letter with figures is a name
    ("T1", "T"), ("T", "T1"), ("x", "x1"), ("x1", "x"), ("B12", "12B"), ("x1+x2", "x+2x"), ("a2", "2a"),
]  # fmt: skip


@pytest.mark.parametrize(("truth", "answer"), EQUAL)
def test_two_spellings_are_equal_either_way_in_a_box_and_in_dollars(truth: str, answer: str) -> None:
    is_formula = "$" not in answer and not answer.startswith("in ")
    for form in ("\\boxed{%s}", *(("The answer is $%s$.",) if is_formula else ())):
        assert verify(form % answer, truth).verdict == "correct", form
    assert verify(f"\\boxed{{{truth}}}", truth).verdict == "correct"


@pytest.mark.parametrize(
    ("truth", "answer", "is_equal"),
    [
        # a side that only names the value
        (r"\sin\alpha=\frac{3}{5}", r"\frac{3}{5}", True),
        (r"\sin\alpha=\frac{3}{5}", r"\cos\alpha=\frac{3}{5}", False),
        (r"\sin\alpha=\frac{3}{5}", r"\sin\beta=\frac{3}{5}", False), (r"\sin x=\cos x", r"\cos x", False),
        ("a:b=2:3", "2:3", True), ("a:b=2:3", "3:2", False), ("a:b=2:3", "b:a=3:2", True),
        ("a:b=2:3", "b:a=2:3", False),
        ("a:b=2:3", "a/b=2/3", True), ("AB:BC:CD=1:2:3", "1:2:3", True), (r"\frac{AB}{CD}=\frac12", r"\frac12", True),
        (r"\frac{AB}{CD}=\frac12", "2", False), (r"\frac{ab}{cd}=2", "2", False), ("x^2+y^2=4", "4", False),
        ("P(A)=0.3", "P(B)=0.3", False), ("P(A)=0.3", "0.3", True), ("f(x)=x^2", "f(t)=t^2", True),
        # temperatures have offsets
        (r"100^\circ\mathrm{C}", r"373.15\ \mathrm{K}", True), (r"77^\circ F", r"25^\circ C", True),
        (r"25^\circ C", "25 K", False), (r"25^\circ C", r"25^\circ F", False), ("300 K", r"26.85^\circ C", True),
        ("373 K", r"100^\circ C", False),
    ],
)  # fmt: skip
def test_named_sides_and_temperatures(truth: str, answer: str, is_equal: bool) -> None:
    assert (verify(f"\\boxed{{{answer}}}", truth).verdict == "correct") == is_equal


@pytest.mark.parametrize(("truth", "answer"), DIFFERENT)
def test_another_value_stays_wrong(truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth).verdict != "correct"
    assert verify(f"\\boxed{{{truth}}}", truth).verdict == "correct"


@pytest.mark.parametrize(
    ("truth", "answer"),
    [(r"\ce{H2O}", "H_2O_2"), (r"\ce{H2O}", "5"), ("^{14}_{6}C", "^{12}_{6}C"), ("1s^22s^2", "1s^1")],
)
def test_another_formula_is_wrong_and_not_undecided(truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth).verdict == "wrong"


def test_a_truth_whose_sides_are_not_near_one_another_accepts_neither() -> None:
    for side in ("4", "7919"):
        assert verify(f"\\boxed{{{side}}}", r"7919\approx 4").verdict == "undecided"
        assert verify(f"\\boxed{{{side}}}", r"x\approx 4").verdict == ("correct" if side == "4" else "wrong")


def test_a_float_is_read_so_in_the_ground_truth_alone() -> None:
    assert verify(r"\boxed{0.6666666666666666}", r"\frac{2}{3}").verdict == "wrong"
