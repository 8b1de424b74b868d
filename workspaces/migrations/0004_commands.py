import django.db.models.deletion
import workspaces.domain.states
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('efforts', '0023_vectors'),
        ('workspaces', '0003_proposed_edits'),
    ]

    operations = [
        migrations.CreateModel(
            name='CommandRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('argv', models.JSONField(help_text='All words of it; no shell ever reads them.')),
                ('why', models.TextField(blank=True, help_text='As the model says.')),
                ('state', models.CharField(choices=[('proposed', 'proposed'), ('declined', 'declined'), ('running', 'running'), ('ended', 'ended')], default=workspaces.domain.states.CommandState['PROPOSED'], max_length=8)),
                ('end', models.CharField(blank=True, choices=[('exit', 'exit'), ('time', 'time'), ('output', 'output'), ('memory', 'memory'), ('processes', 'processes'), ('person', 'person'), ('server', 'server'), ('unstarted', 'unstarted'), ('lost', 'lost')], max_length=9)),
                ('exit_code', models.IntegerField(blank=True, help_text='Below 0: the number of a signal.', null=True)),
                ('output', models.TextField(blank=True, help_text='As far as it is kept, without what only a terminal reads.')),
                ('output_bytes', models.PositiveBigIntegerField(default=0)),
                ('problem', models.TextField(blank=True, help_text='Why it did not end by itself, for people.')),
                ('runner', models.CharField(blank=True, help_text='Who runs it.', max_length=100)),
                ('alive_at', models.DateTimeField(blank=True, help_text='When whoever runs it last showed life.', null=True)),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                ('result', models.TextField(blank=True, help_text='What the model is told of it, once.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('branch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='efforts.branch')),
                ('run', models.ForeignKey(blank=True, help_text='That proposed it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='efforts.run')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='efforts.session')),
                ('told_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='efforts.run')),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='efforts.turn')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='workspaces.workspace')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
    ]
