"""The review desk and the scoring service: cases, verdicts, live memory, pages and an interface for programs.

`store` and `schema` keep the cases and verdicts, `queue` finds them, `verdicts` appends entries and moves linked cases
by `memory`. `pages`, `api` and `scoring` answer requests; `auth` and `tokens` say whose these are,
and `app` joins them.
"""
