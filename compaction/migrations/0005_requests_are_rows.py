from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("compaction", "0004_frozen_texts"),
    ]

    operations = [
        migrations.RemoveField(
            model_name='draftrun',
            name='attempts',
        ),
        migrations.RemoveField(
            model_name='gaterun',
            name='findings',
        ),
    ]
