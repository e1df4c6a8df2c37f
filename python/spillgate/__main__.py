"""`python -m spillgate`."""

import sys

from spillgate.cli import main

sys.exit(main())
