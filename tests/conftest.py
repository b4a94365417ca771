"""What every test may use."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # the factory of records
settings.register_profile("suite", deadline=None)  # a first import inside an example is slow, and no failure
settings.load_profile("suite")
