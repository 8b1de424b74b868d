from itertools import islice
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from efforts.retrieval.vectors import OF_A_ROW, coded


def write(apps: Any, schema_editor: Any) -> None:
    """Of the vectors that are there."""
    vectors, codes = apps.get_model("efforts", "PassageVector"), apps.get_model("efforts", "VectorCodes")
    for session, model in vectors.objects.order_by("session", "model").values_list("session", "model").distinct():
        rows = vectors.objects.filter(session=session, model=model).order_by("passage")
        read = rows.values_list("passage", "vector").iterator(chunk_size=OF_A_ROW)
        while some := list(islice(read, OF_A_ROW)):
            passages, signs = coded(some)
            codes.objects.create(session_id=session, model=model, last=some[-1][0], passages=passages, codes=signs)


class Migration(migrations.Migration):
    dependencies = [("efforts", "0030_titles")]

    operations = [
        migrations.CreateModel(
            name="VectorCodes",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(max_length=300)),
                ("last", models.BigIntegerField(help_text="Id of the last of the passages.")),
                ("passages", models.BinaryField(help_text="Their ids, 64-bit integers.")),
                (
                    "codes",
                    models.BinaryField(
                        help_text="A bit for each number of a vector, 1 above zero; as many 64-bit words as needed."
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="efforts.session",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "vector codes",
                "constraints": [models.UniqueConstraint(fields=("session", "model", "last"), name="codes_of_session")],
            },
        ),
        migrations.RunPython(write, migrations.RunPython.noop),
    ]
