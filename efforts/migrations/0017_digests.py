import efforts.domain.effort.states
from django.db import migrations, models
from django.db.models import F


def text_is_headline(apps, schema_editor):
    """What stood so far was one line."""
    apps.get_model("efforts", "ContextPointer").objects.update(headline=F("text"))


class Migration(migrations.Migration):

    dependencies = [
        ('efforts', '0016_proposals_by_model'),
    ]

    operations = [
        migrations.AddField(
            model_name='contextpointer',
            name='headline',
            field=models.TextField(blank=True, default='', help_text='One line for lists, notices and references.'),
        ),
        migrations.AddField(
            model_name='contextpointer',
            name='digest',
            field=models.BooleanField(default=False, help_text='It is of quotations: nothing was summarised.'),
        ),
        migrations.AddField(
            model_name='effortstate',
            name='said',
            field=models.TextField(blank=True, help_text="The person's own words by which the model concluded it; empty: by none."),
        ),
        migrations.AlterField(
            model_name='contextpointer',
            name='evicted_clock',
            field=models.PositiveIntegerField(blank=True, help_text='Of chosen turns: when its short form left the prompt.', null=True),
        ),
        migrations.AlterField(
            model_name='contextpointer',
            name='shortened_clock',
            field=models.PositiveIntegerField(blank=True, help_text='Of chosen turns: when its body gave way to its short form.', null=True),
        ),
        migrations.AlterField(
            model_name='effortstate',
            name='artifact',
            field=models.CharField(blank=True, help_text='The summary that stands or waits; of a digest the draft beside it.', max_length=68),
        ),
        migrations.AlterField(
            model_name='effortstate',
            name='draft',
            field=models.TextField(blank=True, help_text="One line of a summary that waits for the person's yes, or why none stands."),
        ),
        migrations.AlterField(
            model_name='effortstate',
            name='summary',
            field=models.CharField(choices=[('none', 'none'), ('due', 'due'), ('drafting', 'drafting'), ('waiting', 'waiting'), ('stands', 'stands'), ('digest', 'digest'), ('failed', 'failed'), ('rolled back', 'rolled back'), ('covered', 'covered')], default=efforts.domain.effort.states.SummaryState['NONE'], max_length=11),
        ),
        migrations.AlterField(
            model_name='session',
            name='review_mode',
            field=models.CharField(choices=[('automatic', 'automatic'), ('take', 'take'), ('always', 'always'), ('never', 'never')], default=efforts.domain.effort.states.ReviewMode['AUTOMATIC'], help_text='Which summaries stand by themselves.', max_length=9),
        ),
        migrations.RunPython(text_is_headline, migrations.RunPython.noop),
    ]
