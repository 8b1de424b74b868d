"""What a draft of an effort's summary is to keep in view."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("efforts", "0023_vectors")]

    operations = [
        migrations.AddField(
            model_name="effortstate",
            name="focus",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="What the draft that is due is to keep in view, in the person's words.",
                max_length=500,
            ),
        ),
    ]
