"""`python -m spillgate.cli`."""

import sys

from spillgate.cli import main

sys.exit(main())
