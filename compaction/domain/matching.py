"""Who is paired with whom: each at most once, and all together as good as can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def best_pairs(weights: Mapping[tuple[str, str], int]) -> dict[str, str]:
    """As many pairs as possible, and of all ways to make so many the one with the greatest sum of weights.

    `weights` are above 0; a pair that is not among them is never made. Equal sums are decided by the ids.
    """
    return {row: column for group in groups(weights) for row, column in pairs_in(group).items()}


def groups(weights: Mapping[tuple[str, str], int]) -> list[dict[tuple[str, str], int]]:
    """Apart from each other: no row and no column of one is in another."""
    belongs: dict[tuple[str, str], tuple[str, str]] = {}
    for row, column in sorted(weights):
        first, second = root(belongs, ("row", row)), root(belongs, ("column", column))
        belongs[second] = first
    found: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for pair in sorted(weights):
        found.setdefault(root(belongs, ("row", pair[0])), {})[pair] = weights[pair]
    return list(found.values())


def root(belongs: dict[tuple[str, str], tuple[str, str]], node: tuple[str, str]) -> tuple[str, str]:
    while (above := belongs.setdefault(node, node)) != node:
        belongs[node] = belongs.setdefault(above, above)
        node = above
    return node


def pairs_in(weights: Mapping[tuple[str, str], int]) -> dict[str, str]:
    rows = sorted({row for row, _ in weights})
    columns = sorted({column for _, column in weights})
    size = max(len(rows), len(columns))
    # One pair more is worth more than all weights together.
    each = sum(weights.values()) + 1
    gains = [[gain(weights, rows, columns, row, column, each) for column in range(size)] for row in range(size)]
    chosen = assignment([[-value for value in row] for row in gains])
    return {
        rows[row]: columns[column]
        for row, column in enumerate(chosen)
        if row < len(rows) and column < len(columns) and (rows[row], columns[column]) in weights
    }


def gain(
    weights: Mapping[tuple[str, str], int],
    rows: Sequence[str],
    columns: Sequence[str],
    row: int,
    column: int,
    each: int,
) -> int:
    if row >= len(rows) or column >= len(columns):
        return 0
    weight = weights.get((rows[row], columns[column]))
    return 0 if weight is None else weight + each


def assignment(costs: Sequence[Sequence[int]]) -> list[int]:
    """For each row of a square matrix its column, with the smallest sum of costs (Kuhn and Munkres)."""
    size = len(costs)
    search = Search(costs)
    for row in range(size):
        search.place(row)
    columns = [0] * size
    for column, row in enumerate(search.row_of):
        columns[row] = column
    return columns


class Search:
    """Rows are placed one by one; prices keep what is placed optimal."""

    def __init__(self, costs: Sequence[Sequence[int]]) -> None:
        self.costs = costs
        self.size = len(costs)
        self.row_prices = [0] * self.size
        self.column_prices = [0] * self.size
        self.row_of = [-1] * self.size

    def place(self, row: int) -> None:
        """Along the cheapest chain of moves that ends at a free column."""
        came_from = [-1] * self.size
        slack: list[int | None] = [None] * self.size
        visited: list[int] = []
        here, column = row, -1
        while True:
            self.reach(here, column, slack, came_from, visited)
            column = min((c for c in range(self.size) if c not in visited), key=lambda c: (slack[c] or 0, c))
            self.pay(row, slack[column] or 0, slack, visited)
            visited.append(column)
            if self.row_of[column] < 0:
                break
            here = self.row_of[column]
        self.move(row, column, came_from)

    def reach(self, row: int, via: int, slack: list[int | None], came_from: list[int], visited: Sequence[int]) -> None:
        for column in range(self.size):
            if column in visited:
                continue
            reduced = self.costs[row][column] - self.row_prices[row] - self.column_prices[column]
            known = slack[column]
            if known is None or reduced < known:
                slack[column], came_from[column] = reduced, via

    def pay(self, row: int, step: int, slack: list[int | None], visited: Sequence[int]) -> None:
        self.row_prices[row] += step
        for column in range(self.size):
            if column in visited:
                self.row_prices[self.row_of[column]] += step
                self.column_prices[column] -= step
            else:
                slack[column] = (slack[column] or 0) - step

    def move(self, row: int, column: int, came_from: Sequence[int]) -> None:
        while came_from[column] >= 0:
            self.row_of[column] = self.row_of[came_from[column]]
            column = came_from[column]
        self.row_of[column] = row
