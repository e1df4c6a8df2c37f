"""Papers reproduced: their systems, their claims as predicates, what they leave silent.

A paper's module turns its statements into claims that are judged from runs: reproduced, shape
only, or not reproduced, with the reason. What the paper leaves silent is in a ledger, and each
line of it is varied to see which claims depend on it.
"""
