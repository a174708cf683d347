"""What a test of a full disk needs."""

import os

import pytest

full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
