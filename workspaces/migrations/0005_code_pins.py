import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('efforts', '0025_exclusions'),
        ('workspaces', '0004_commands'),
    ]

    operations = [
        migrations.CreateModel(
            name='CodePin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('suggested', 'suggested'), ('standing', 'standing'), ('ended', 'ended'), ('dismissed', 'dismissed')], default='standing', max_length=9)),
                ('why', models.TextField(blank=True, help_text='As the model says.')),
                ('qualified', models.CharField(blank=True, help_text='Of a symbol; empty: the lines are pinned.', max_length=1024)),
                ('kind', models.CharField(blank=True, max_length=8)),
                ('path', models.CharField(max_length=1024)),
                ('first_line', models.PositiveIntegerField()),
                ('last_line', models.PositiveIntegerField()),
                ('text', models.TextField(help_text='Its lines as they were pinned.')),
                ('number', models.PositiveIntegerField(help_text='Of the snapshot in which it was pinned.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('run', models.ForeignKey(blank=True, help_text='That suggested it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='efforts.run')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='code_pins', to='efforts.session')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pins', to='workspaces.workspace')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
    ]
