from django.db import migrations, models

import efforts.domain.effort.states

# What sounded like a rule, a decision or open work, and nobody has answered.
WAITING = {"Constraint": "suggested", "LedgerEntry": "proposed"}


def forget_what_sounded_like_it(apps, schema_editor):
    """What a sentence was taken for is asked no more; of what was answered, the answer was the person's."""
    for name, waiting in WAITING.items():
        rows = apps.get_model("efforts", name).objects.using(schema_editor.connection.alias).filter(by="cue")
        rows.filter(state=waiting).delete()
        rows.update(by="person")


class Migration(migrations.Migration):
    dependencies = [
        ("efforts", "0015_scopes"),
    ]

    operations = [
        migrations.RunPython(forget_what_sounded_like_it, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="constraint",
            name="by",
            field=models.CharField(
                choices=[("person", "person"), ("model", "model")],
                default=efforts.domain.effort.states.ConstraintBy["PERSON"],
                max_length=6,
            ),
        ),
        migrations.AlterField(
            model_name="ledgerentry",
            name="by",
            field=models.CharField(
                choices=[("person", "person"), ("model", "model")],
                default=efforts.domain.effort.states.EntryBy["PERSON"],
                max_length=6,
            ),
        ),
    ]
