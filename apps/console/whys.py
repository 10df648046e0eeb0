"""Why a result stands where it stands, in sentences."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.memories.schemas import SearchHit, WhyOut

MATCHES: Mapping[str, Promise] = {
    "title": gettext_lazy("The search is its title."),
    "in-a-row": gettext_lazy("It holds all words one behind the other."),
    "code": gettext_lazy("It holds the identifier, path or code as it stands."),
    "all-words": gettext_lazy("It holds all words of the search."),
    "prefix": gettext_lazy("It holds words that begin as asked."),
    "any-word": gettext_lazy("It holds some of the words."),
    "meaning": gettext_lazy("It holds none of the words; its meaning is near."),
}


def why_of(hit: SearchHit) -> list[str]:
    """Sentences, the weightiest first; empty unless the search was asked to explain itself."""
    why = hit.why
    if why is None:
        return []
    return [*_of_words(why), *_of_meaning(why), *_of_shape(why)]


def _of_words(why: WhyOut) -> list[str]:
    words = list(dict.fromkeys(why.words))
    if why.match == "in-a-row" and len(words) == 1:
        said = [_("It holds the word {word}.").format(word=words[0])]
    elif why.match == "meaning" and words:  # Where meaning alone is searched, words tell nothing.
        return [_("Its meaning is near.")]
    else:
        said = [str(MATCHES.get(why.match, why.match))]
        if words:
            said.append(_("Words: {words}.").format(words=", ".join(words)))
    if why.first:
        said.append(_("Exact matches come first."))
    return said


def _of_meaning(why: WhyOut) -> list[str]:
    if why.similarity is None:
        return []
    said = [_("Similarity of meaning: {similarity} of 1.").format(similarity=f"{why.similarity:.2f}")]
    if why.neighbours > 0 or why.thread > 0:
        said.append(_("What was said around it in its thread fits, too."))
    return said


def _of_shape(why: WhyOut) -> list[str]:
    return [_("Very short texts and questions come a little lower.")] if why.shape < 0 else []
