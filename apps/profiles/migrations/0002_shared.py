from django.db import migrations


def make_shared(apps, schema_editor):
    apps.get_model("profiles", "Profile").objects.get_or_create(id="shared", defaults={"name": "Shared"})


class Migration(migrations.Migration):
    dependencies = [("profiles", "0001_initial")]
    operations = [migrations.RunPython(make_shared, migrations.RunPython.noop)]
