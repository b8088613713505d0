"""The words of users and for users: yes and no in columns, and probabilities as people write them."""

__all__ = ["NO", "YES", "percent"]

YES = frozenset({"1", "1.0", "true", "yes", "y", "t"})
NO = frozenset({"0", "0.0", "false", "no", "n", "f"})


def percent(probability: float) -> str:
    """Write a probability for people, small and large ones with the digits that they need."""
    if probability < 0.001:
        return "under 0.1 %"
    if probability > 0.999:
        return "over 99.9 %"
    near_an_end = min(probability, 1 - probability) < 0.0095
    return f"{probability:.1%}".replace("%", " %") if near_an_end else f"{probability:.0%}".replace("%", " %")
