"""A run of a turn that was only written down; no column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("efforts", "0018_focus")]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "Waiting"),
                    ("running", "Running"),
                    ("completed", "Done"),
                    ("stopped", "Stopped"),
                    ("failed", "Failed"),
                    ("interrupted", "Interrupted"),
                    ("cancelled", "Cancelled"),
                    ("noted", "Noted"),
                ],
                default="queued",
                max_length=12,
            ),
        ),
    ]
