"""Keys by which a text saved twice and the links to a memory are found; computed for what is stored already."""

from typing import Any

from django.db import migrations, models

from apps.memories.documents import text_key
from apps.memories.links import key_of

BATCH = 500


def compute(apps: Any, schema_editor: Any) -> None:
    Memory, Revision, Link = (apps.get_model("memories", name) for name in ("Memory", "MemoryRevision", "MemoryLink"))
    some = []
    for memory in Memory.objects.only("id", "revision").iterator(chunk_size=BATCH):
        newest = Revision.objects.filter(memory_id=memory.pk, number=memory.revision).first()
        if newest is not None:
            body = bytes(newest.document)[newest.body_at :].decode("utf-8", "replace")
            some.append(Memory(pk=memory.pk, text_key=text_key(body)))
        if len(some) == BATCH:
            Memory.objects.bulk_update(some, ["text_key"])
            some = []
    Memory.objects.bulk_update(some, ["text_key"])
    links = []
    for link in Link.objects.iterator(chunk_size=BATCH):
        link.target_key = key_of(link.target)
        links.append(link)
    Link.objects.bulk_update(links, ["target_key"], batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("memories", "0002_scope_jobs")]

    operations = [
        migrations.AddField("memory", "text_key", models.BigIntegerField(default=0)),
        migrations.RunPython(compute, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex("memory", models.Index(fields=["text_key"], name="memory_text")),
        migrations.AddIndex("alias", models.Index(fields=["slug_key"], name="alias_slug")),
    ]
