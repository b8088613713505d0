"""Arithmetic over columns, as text: parsed with a list of allowed nodes, never run as Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache, reduce

import numpy as np

from scarce._typing import Number

__all__ = ["FUNCTIONS", "evaluate", "names_in"]

FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
    "sqrt": np.sqrt,
    "where": np.where,
}
_OPERATORS: dict[type, Callable[..., Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARGUMENTS = {"where": (3, 3), "max": (1, 99), "min": (1, 99)}
_MOST_CHARACTERS = 1000  # also bounds how deep the parser can go


def evaluate(expression: str, values: Mapping[str, Number]) -> Number:
    """Return the value of an expression, given the values of its names."""
    with np.errstate(all="ignore"):  # the caller reports what is not finite, with its row
        return _value(_parse(expression), values)


def names_in(expression: str) -> set[str]:
    """Return the names of an expression that are not functions."""
    tree = _parse(expression)
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions}


@cache
def _parse(expression: str) -> ast.expr:
    if len(expression) > _MOST_CHARACTERS:
        raise ValueError(f"An expression may have {_MOST_CHARACTERS} characters; this one has {len(expression)}.")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{expression!r} is not an expression such as '-0.8 * amount'.") from error
    _check(tree, expression)
    return tree


def _check(node: ast.expr, expression: str) -> None:
    parts: list[ast.expr]
    match node:
        case ast.Constant(value=bool() | int() | float()):
            parts = []
        case ast.Name():
            parts = []
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            parts = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            parts = [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            parts = [left, right]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            fewest, most = _ARGUMENTS.get(name, (1, 1))
            if not fewest <= len(args) <= most:
                takes = fewest if fewest == most else f"at least {fewest}"
                raise ValueError(f"{name} takes {takes} arguments; got {len(args)} in {expression!r}.")
            parts = args
        case _:
            raise ValueError(
                f"{ast.unparse(node)!r} is not allowed in {expression!r}: use numbers, names of columns and "
                f"constants, + - * / **, one comparison at a time, and the functions {', '.join(FUNCTIONS)}."
            )
    for part in parts:
        _check(part, expression)


def _value(node: ast.expr, values: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=value):
            return np.float64(value)  # type: ignore[arg-type]  # not int: powers of integers have no end
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name](*(_value(argument, values) for argument in args))
    raise AssertionError(node)  # _check lets nothing else pass
