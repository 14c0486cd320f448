"""Balls: the value at a far higher precision lies inside, at branch points and under cancellation too."""

import random
import threading
from fractions import Fraction

import pytest

from curate.verify.nodes import Node, TooLargeError, num
from curate.verify.values.balls import UndefinedError, error, working
from curate.verify.values.evaluator import evaluate

FUNCTIONS = "sin cos tan arcsin arccos arctan sinh cosh tanh ln exp abs cot sec csc".split()


def tree(rng: random.Random, depth: int) -> Node:
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return rng.choice([num(rng.randint(1, 9)), num(Fraction(rng.randint(1, 9), rng.randint(2, 9))), PI, E])
    if kind < 0.55:
        return Node(rng.choice(["add", "mul", "div", "pow"]), (tree(rng, depth - 1), tree(rng, depth - 1)))
    if kind < 0.65:
        return Node("root", (num(rng.randint(2, 5)), tree(rng, depth - 1)))
    return Node("fn", (tree(rng, depth - 1),), None, rng.choice(FUNCTIONS))


PI, E = Node("const", (), None, "pi"), Node("const", (), None, "e")


def near_one(power: int) -> Node:
    """1 - 10^-power, where the derivative of arcsin is large."""
    return Node("add", (num(1), Node("neg", (Node("pow", (num(10), num(-power))),))))


def is_inside(node: Node) -> bool | None:
    """Whether the value at 2,000 bits overlaps the ball at 160 bits; None if there is no value."""
    try:
        with working(160):
            low = evaluate(node, {})
        with working(2000):
            return bool(evaluate(node, {}).overlaps(low))
    except (UndefinedError, TooLargeError):
        return None


def test_the_value_lies_inside_its_ball() -> None:
    rng = random.Random(3)
    seen = [is_inside(tree(rng, 4)) for _ in range(1500)]
    assert seen.count(True) > 1000
    assert False not in seen


@pytest.mark.parametrize("name", ["arcsin", "arccos"])
def test_the_value_lies_inside_its_ball_beside_a_branch_point(name: str) -> None:
    assert all(is_inside(Node("fn", (near_one(power),), None, name)) for power in range(5, 60))


def test_an_error_of_cancellation_is_in_the_bound() -> None:
    root = Node("root", (num(2), num(2)))
    nothing = Node("add", (Node("mul", (root, root)), num(-2)))
    with working(160):
        ball = evaluate(nothing, {})
        assert ball.contains(0)
        assert -160 < error(ball) < -140


def test_threads_do_not_change_each_others_precision() -> None:
    root, errors = Node("root", (num(2), num(2))), {}

    def one(bits: int) -> None:
        found = set()
        for _ in range(200):
            with working(bits):
                found.add(error(evaluate(root, {})))
        errors[bits] = found

    threads = [threading.Thread(target=one, args=(bits,)) for bits in (100, 400, 1600)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(found) == 1 and max(found) < 4 - bits for bits, found in errors.items())
