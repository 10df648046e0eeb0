"""The shape of the model's answer. Its words are a stranger's until ``checking`` has looked at them."""

from pydantic import BaseModel, Field

SCHEMA_VERSION = "curation-1"


class Section(BaseModel):
    heading: str = Field(description="Short heading of the section, without a number.")
    body: str = Field(description="The section's text in Markdown.")
    source_ids: list[str] = Field(description="Ids of the sources this section is made of.")


class Document(BaseModel):
    document_type: str = Field(description="One of the types you were told to write.")
    title: str = Field(description="Title of the document, at most 80 characters.")
    sections: list[Section] = Field(description="The sections in their order.")
    source_ids: list[str] = Field(description="Ids of all sources of the document.")


class Conflict(BaseModel):
    statement: str = Field(description="What the sources contradict each other in, one sentence.")
    source_ids: list[str] = Field(description="Ids of the sources that contradict each other.")


class Curation(BaseModel):
    documents: list[Document] = Field(description="The documents that change; empty if none does.")
    conflicts: list[Conflict] = Field(description="Contradictions that time does not decide; empty if there are none.")
    change_summary: list[str] = Field(description="What is new, changed or gone, one line each; empty if nothing is.")
