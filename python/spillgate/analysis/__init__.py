"""Analysis beside simulation: models that predict what a run should show.

They need SciPy: `pip install 'spillgate[analysis]'`.
"""

from spillgate.errors import MissingDependencyError

try:
    import scipy  # noqa: F401
except ImportError as error:
    msg = "SciPy, which the analysis needs, is not installed: pip install 'spillgate[analysis]'"
    raise MissingDependencyError(msg, name="scipy") from error
