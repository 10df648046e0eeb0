"""The model server of the tests speaks so that the genuine client understands it: the port is tested against nothing else."""

import openai
import pytest
from pydantic import BaseModel

from tests.doubles.model import ModelDouble


class Answer(BaseModel):
    word: str
    source_ids: list[str]


@pytest.fixture
def client(model_process: ModelDouble):
    model_process.reset()
    with openai.OpenAI(base_url=model_process.base_url, api_key="sk-anything", max_retries=0) as client:
        yield client


QUESTION = "Sum up mem_01jzzzzzzzzzzzzzzzzzzzzzzz and mem_02jzzzzzzzzzzzzzzzzzzzzzzz."
IDS = ["mem_01jzzzzzzzzzzzzzzzzzzzzzzz", "mem_02jzzzzzzzzzzzzzzzzzzzzzzz"]


def test_the_clients_own_helpers_read_both_protocols(model_process, client):
    model_process.scenario(otherwise={"echo": True})
    parsed = client.responses.parse(model="double-text", input=QUESTION, text_format=Answer)
    assert parsed.output_parsed.source_ids == IDS and parsed.usage.total_tokens > 0
    with client.responses.stream(model="double-text", input=QUESTION, text_format=Answer) as stream:
        kinds = [event.type for event in stream]
        assert stream.get_final_response().output_parsed == parsed.output_parsed
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    messages = [{"role": "user", "content": QUESTION}]
    chat = client.chat.completions.parse(model="double-text", messages=messages, response_format=Answer)
    assert chat.choices[0].message.parsed == parsed.output_parsed
    with client.chat.completions.stream(model="double-text", messages=messages, response_format=Answer) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == parsed.output_parsed


def test_the_client_meets_the_failures_it_knows(model_process, client):
    def ask():
        return client.responses.create(model="double-text", input="Hello.")

    model_process.answer({"status": 429, "retry_after": 7}, {"status": 500}, {"status": 400}, {"cut": "before"})
    with pytest.raises(openai.RateLimitError) as limited:
        ask()
    assert limited.value.response.headers["retry-after"] == "7"
    for kind in (openai.InternalServerError, openai.BadRequestError, openai.APIConnectionError):
        with pytest.raises(kind):
            ask()
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="no-such-model", input="Hello.")
    assert [entry["status"] for entry in model_process.log()] == [429, 500, 400, None, 404]


def test_a_template_is_filled_from_the_request(model_process, client):
    model_process.answer({"template": {"word": "About $first_id.", "source_ids": "$ids"}, "for": "Sum up"})
    assert client.responses.create(model="double-text", input="Something else.").output_text == "{}"
    told = client.responses.create(model="double-text", input=QUESTION).output_text
    assert Answer.model_validate_json(told) == Answer(word=f"About {IDS[0]}.", source_ids=IDS)
