
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('efforts', '0004_records'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='prefer_cache',
            field=models.BooleanField(default=False, help_text='Cut the window in blocks, so that prompts keep their beginning.'),
        ),
    ]
