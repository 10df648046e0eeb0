"""A folder of Markdown as people keep one: the notes of ``workload.py`` with and without frontmatter, tags and links.

Folders follow the notes' numbers and are full, so that an import, which goes by path, has brought in whole folders in order.
"""

from pathlib import Path

from bench.workload import Note, note

FOLDER_NOTES = 500


def write_vault(root: Path, size: int) -> None:
    """Write notes 0 to ``size`` into an empty folder."""
    before = note(0)
    for number in range(size):
        one = note(number)
        folder = root / folder_of(number)
        if number % FOLDER_NOTES == 0:
            folder.mkdir(parents=True)
        (folder / f"{one.title}.md").write_text(as_markdown(one, number, before), encoding="utf-8")
        before = one


def folder_of(number: int) -> str:
    return f"{number // FOLDER_NOTES:04d} notes"


def is_in(number: int, done: int) -> bool:
    """Whether an import that is through with so many files has brought in the note with this number."""
    return (number // FOLDER_NOTES + 1) * FOLDER_NOTES <= done


def as_markdown(one: Note, number: int, before: Note) -> str:
    tags = ", ".join(one.tags)
    match number % 4:
        case 0:  # As Obsidian's properties write it.
            return f"---\ntitle: {one.title}\ntags: [{tags}]\ncreated: 2025-03-0{number % 9 + 1}\n---\n\n{one.body}\n"
        case 1:  # Nothing but a text.
            return f"# {one.title}\n\n{' '.join(f'#{tag}' for tag in one.tags)}\n\n{one.body}\n"
        case 2:  # Links and a list.
            return f"{one.body}\n\n## See\n\n- [[{before.title}]]\n- **{one.tags[0]}**\n"
        case _:
            listed = "".join(f"\n  - {tag}" for tag in one.tags)
            return f"---\naliases:\n  - {one.title} too\ntags:{listed}\nstate: open\n---\n# {one.title}\n\n{one.body}\n"
