"""Suites of scenarios that documents of the IETF, and users of smart queue management, describe.

>>> import spillgate
>>> sorted(suites())
['bufferbloat', 'l4s', 'rfc7928', 'rfc9743']
>>> named("rfc7928").document
'RFC 7928'
"""

from spillgate.suites.index import Section, Suite, named, suites
from spillgate.suites.measures import Measure, Term
from spillgate.suites.runner import Done, SuiteResults, suite

__all__ = [
    "Done",
    "Measure",
    "Section",
    "Suite",
    "SuiteResults",
    "Term",
    "named",
    "suite",
    "suites",
]
