"""A process that judges every artifact of its database by what is stored there, and changes nothing; told as JSON: by
the id of the artifact its verdicts."""

from __future__ import annotations

import os
import sys

import django


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "ccmweb.settings"
    django.setup()
    from compaction.models import Artifact
    from efforts.domain.text.canonical import canonical_json
    from tests.compaction.artifacts import judged_now

    sys.stdout.write(canonical_json({row.pk: judged_now(row) for row in Artifact.objects.all()}))


if __name__ == "__main__":
    main()
