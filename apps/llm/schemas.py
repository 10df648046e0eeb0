"""Words of the model connection and what is answered about it."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from apps.operations.words import Moment


class ConnectionState(StrEnum):
    UNCONFIGURED = "unconfigured"
    CHECKING = "checking"
    AVAILABLE = "available"
    WAITING_DEPENDENCY = "waiting_dependency"
    CONFIGURATION_ERROR = "configuration_error"


class CapabilityState(StrEnum):
    UNKNOWN = "unknown"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


ProtocolChoice = Literal["auto", "responses", "chat_completions"]
StreamingChoice = Literal["auto", "off"]

ConnectionName = Annotated[str, Field(min_length=1, max_length=120, description="What you call it. Default: its host.")]
BaseUrl = Annotated[
    str,
    Field(min_length=1, max_length=500, description="Base URL of the OpenAI-compatible endpoint; often ends in /v1."),
]
Token = Annotated[
    str,
    Field(
        max_length=4000,
        description="Its bearer token; null or empty: none is sent. Left out: the stored one stays. Never shown again.",
    ),
]
TextModel = Annotated[
    str,
    Field(max_length=200, description="Name of the model that writes. Empty: chosen later from curation_model_list."),
]
VisionModel = Annotated[str, Field(max_length=200, description="Name of the model that looks at images; empty: none.")]
ProtocolArgument = Annotated[
    ProtocolChoice, Field(description="auto tries Responses first, then Chat Completions; the others pin one.")
]
StreamingArgument = Annotated[
    StreamingChoice, Field(description="auto streams answers where the endpoint can; off never does.")
]
RequestTimeout = Annotated[
    int, Field(ge=1, le=3600, description="Seconds without a byte after which a request has failed.")
]
ProbeInterval = Annotated[
    int, Field(ge=0, le=86_400, description="Seconds between two looks at the endpoint's health; 0: only when needed.")
]
MaxInputTokens = Annotated[int, Field(ge=500, le=2_000_000, description="Most tokens of one request.")]
MaxOutputTokens = Annotated[int, Field(ge=64, le=1_000_000, description="Most tokens of one answer.")]
ContextTokens = Annotated[
    int, Field(ge=1000, le=4_000_000, description="Most tokens of request and answer together, as the model has it.")
]
AdminUrl = Annotated[
    str, Field(max_length=500, description="Page of the service where its administrator works; only shown as a link.")
]
Enabled = Annotated[bool, Field(description="Whether it is used. Off: nothing is probed and no model is called.")]
TestNow = Annotated[bool, Field(description="Whether to test it right away, as curation_model_connection_test does.")]
ExpectedRevision = Annotated[
    int,
    Field(
        ge=0,
        le=2**53,
        description="The revision you read; refused if it is another now. 0: there was none. Default: any.",
    ),
]
ModelQuery = Annotated[str, Field(max_length=200, description="Only models whose name contains this.")]
ProjectArgument = Annotated[
    str, Field(max_length=40, description="Id of the workspace; left out: all that you may see.")
]


class CapabilityOut(BaseModel):
    state: CapabilityState
    detail: str = Field("", description="How it was found, such as json_schema or in_words.")
    code: str = Field("", description="The stable code of what went wrong.")
    message: str = ""
    http_status: int | None = Field(None, description="None: the request did not get an answer.")
    milliseconds: int | None = None


class ErrorOfModel(BaseModel):
    code: str
    message: str
    hint: str
    http_status: int | None


class ModelConnectionOut(BaseModel):
    state: ConnectionState
    configured: bool
    enabled: bool
    verified: bool = Field(description="Whether this revision has passed its test.")
    revision: int = Field(description="0: there is none.")
    name: str
    base_url: str | None = Field(description="Told to administrators only.")
    has_token: bool
    text_model: str
    vision_model: str
    protocol: ProtocolChoice
    effective_protocol: Literal["responses", "chat_completions"] | None
    streaming: StreamingChoice
    effective_streaming: bool | None
    structured_output: str | None = Field(
        description="How answers get their structure: json_schema, json_object, in_words."
    )
    request_timeout_seconds: int
    probe_interval_seconds: int
    max_input_tokens: int
    max_output_tokens: int
    context_tokens: int
    admin_url: str
    capabilities: dict[str, CapabilityOut]
    error: ErrorOfModel | None
    failures: int = Field(description="In a row, since the last success.")
    last_check_at: Moment | None
    last_success_at: Moment | None
    last_failure_at: Moment | None
    next_probe_at: Moment | None
    waiting_jobs: int


class ModelOut(BaseModel):
    model: str
    name: str
    owned_by: str = ""
    context_tokens: int | None = None
    is_text_model: bool = False
    is_vision_model: bool = False


class ModelList(BaseModel):
    state: CapabilityState = Field(description="unsupported: the endpoint has no list; type the name by hand.")
    models: list[ModelOut]
    total: int


class UsageOut(BaseModel):
    """Tokens of one scope; ``cap`` 0 is no cap."""

    scope_key: str
    tokens_today: int
    tokens_this_month: int
    calls_today: int
    calls_this_month: int


class UsageList(BaseModel):
    day_cap: int = Field(description="Tokens a workspace may use in a day; 0: no cap.")
    month_cap: int = Field(description="Tokens a workspace may use in a month; 0: no cap.")
    day_begins: Moment
    month_begins: Moment
    scopes: list[UsageOut]


class ModelCallOut(BaseModel):
    call_id: str
    purpose: str
    scope_key: str
    job_id: str
    connection_name: str
    connection_revision: int
    protocol: str
    streamed: bool
    model: str
    response_model: str
    service_request_id: str
    started_at: Moment
    duration_ms: int
    requests: int
    tokens_in: int
    tokens_out: int
    is_estimate: bool
    outcome: str


class ModelCallPage(BaseModel):
    calls: list[ModelCallOut]
    next_cursor: str
