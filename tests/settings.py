"""Settings of the suite: a state folder of its own, nothing of the developer's but the two servers."""

import atexit
import os
import shutil
import tempfile

KEPT = ("CCM_DATA", "CCM_SHOTS", "CCM_EXPORT", "CCM_ANSWERS", "CCM_BY")
for name in [name for name in os.environ if name.startswith("CCM_") and name not in KEPT]:
    del os.environ[name]
os.environ["CCM_HOME"] = tempfile.mkdtemp(prefix="ccmweb-tests-")
atexit.register(shutil.rmtree, os.environ["CCM_HOME"], ignore_errors=True)

from ccmweb.settings import *  # noqa: E402, F403
from ccmweb.settings import CCM_HOME, DATABASES  # noqa: E402

if "sqlite3" in DATABASES["default"]["ENGINE"]:
    # A file: live servers and consumers reach the database from other threads.
    DATABASES["default"]["TEST"] = {"NAME": str(CCM_HOME / "test.sqlite3")}
    # Nothing of it has to outlive a loss of power. The processes that are killed have databases of their own.
    safe = DATABASES["default"]["OPTIONS"]["init_command"]
    DATABASES["default"]["OPTIONS"] |= {"init_command": safe.replace("synchronous=FULL", "synchronous=OFF")}
else:
    # A lock that nobody lets go of is an error after this time, and no test that never ends.
    DATABASES["default"]["OPTIONS"]["options"] = "-c synchronous_commit=off -c lock_timeout=60s"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CCM_BUILTIN_PACE = 0.0
# Each first reply would be followed by a call that no script has.
CCM_MODEL_TITLES = False
