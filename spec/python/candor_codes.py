# Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.
"""The codes, classes and retry advice of Candor, for programs that read its errors.

It needs Python 3.10 and nothing else. Act on the class and the retry advice, which are closed sets, and on the code
where you know it; never parse the message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, Mapping, Optional, TypedDict, TypeGuard, Union

META_KEY = "dev.candor/error"
"""The member of a result's _meta, and of a JSON-RPC error's data, that holds a CandorError."""


class Class(str, Enum):
    """What a caller should do about a failure. A closed set."""

    BAD_REQUEST = "bad_request"  # fix the call
    NOT_FOUND = "not_found"  # name something that exists
    DENIED = "denied"  # get permission
    CONFLICT = "conflict"  # read again, then redo
    PRECONDITION = "precondition"  # do something else first
    RATE_LIMITED = "rate_limited"  # wait
    UNAVAILABLE = "unavailable"  # the service cannot be reached now
    TIMEOUT = "timeout"  # no answer came in time
    CANCELLED = "cancelled"  # the caller cancelled it
    TOO_LARGE = "too_large"  # send less
    UNSUPPORTED = "unsupported"  # not offered here
    CORRUPT = "corrupt"  # stop, the state is damaged
    INTERNAL = "internal"  # report it


class RetryKind(str, Enum):
    """Whether the same call may be sent again. Exactly three kinds."""

    NOT_RETRYABLE = "not_retryable"
    RETRYABLE_IMMEDIATE = "retryable_immediate"
    RETRYABLE_AFTER_MS = "retryable_after_ms"


class Status(str, Enum):
    """Whether a code may be used."""

    ACTIVE = "active"
    RESERVED = "reserved"
    DEPRECATED = "deprecated"


class Party(str, Enum):
    """The party that failed."""

    TOOL = "tool"
    SERVER = "server"
    GATEWAY = "gateway"
    TRANSPORT = "transport"
    CLIENT = "client"


ClassName = Literal[
    "bad_request",
    "not_found",
    "denied",
    "conflict",
    "precondition",
    "rate_limited",
    "unavailable",
    "timeout",
    "cancelled",
    "too_large",
    "unsupported",
    "corrupt",
    "internal",
]

DomainName = Literal[
    "common",
    "python",
    "playwright",
    "puppeteer",
    "memory-bank",
    "kg",
    "filesystem",
    "sql",
    "notion",
    "tavily",
    "misc",
    "rate-limit",
    "github",
    "kaiza",
    "workrail",
    "blockers",
    "dual",
    "candor",
]

Symbol = Literal[
    "ALREADY_EXISTS",
    "ALREADY_VOTED",
    "AUDIT_LOCK_FAILED",
    "AUDIT_LOG_FAILED",
    "BATCH_UNSUPPORTED",
    "BOOTSTRAP_FAILURE",
    "CALL_TIMEOUT",
    "CANCELLED",
    "CAPABILITY_REQUIRED",
    "CIRCUIT_OPEN",
    "CONFIGURATION_MISSING",
    "CONFIG_INVALID",
    "CONFLICT",
    "CONTEXT_BUDGET_EXCEEDED",
    "DATA_CORRUPT",
    "DB_BUSY",
    "DB_FULL",
    "DEPENDENCY_MISSING",
    "DISK_FULL",
    "DUPLICATE_REQUEST_ID",
    "EMPTY_RESULT",
    "ERR_ALREADY_FINALIZED",
    "ERR_INVALID_TRANSITION",
    "ERR_NOT_FINALIZED",
    "ERR_NOT_FOUND",
    "ERR_NO_RECORDS",
    "ERR_SESSION_EXISTS",
    "ERR_SESSION_NOT_FOUND",
    "ERR_VALIDATION",
    "ERR_WRITEBACK_REQUIRED",
    "E_FS_DENIED",
    "E_FS_NOT_FOUND",
    "E_FS_PATH_ESCAPE",
    "E_FS_WRITE_TOO_LARGE",
    "E_GH_AUTH_FAILED",
    "E_GH_AUTH_MISSING",
    "E_GH_HTTP",
    "E_GH_NETWORK",
    "E_GH_NOT_FOUND",
    "E_GH_PARSE",
    "E_GH_RATE_LIMIT",
    "E_INPUT_TOO_LARGE",
    "E_INVALID_PARAMS",
    "E_KG_FULL",
    "E_KG_INVALID_TRIPLE",
    "E_LIMIT_EXCEEDED",
    "E_MB_FILE_NOT_FOUND",
    "E_MB_READ",
    "E_MISC",
    "E_NOTION_AUTH",
    "E_NOTION_HTTP",
    "E_NOTION_NETWORK",
    "E_NOTION_NOT_FOUND",
    "E_NOTION_PARSE",
    "E_NOTION_RATE",
    "E_NOT_INSTALLED",
    "E_PT_INVALID_SELECTOR",
    "E_PT_LAUNCH",
    "E_PT_NAV",
    "E_PT_TIMEOUT",
    "E_PW_INVALID_SELECTOR",
    "E_PW_LAUNCH",
    "E_PW_NAV",
    "E_PW_TIMEOUT",
    "E_PY_EXEC_FAIL",
    "E_PY_INVALID_PARAMS",
    "E_PY_SCRIPT_NOT_FOUND",
    "E_PY_SECURITY",
    "E_PY_TIMEOUT",
    "E_RL_EXCEEDED",
    "E_SESSION_NOT_FOUND",
    "E_SQL_CONN",
    "E_SQL_QUERY",
    "E_TAVILY_AUTH_FAILED",
    "E_TAVILY_AUTH_MISSING",
    "E_TAVILY_HTTP",
    "E_TAVILY_INVALID_PARAMS",
    "E_TAVILY_NETWORK",
    "E_TAVILY_PARSE",
    "E_TAVILY_RATE",
    "E_TIMEOUT",
    "E_UNSUPPORTED",
    "FALLBACK_CHAIN_EXHAUSTED",
    "FILE_ALREADY_EXISTS",
    "FILE_NOT_FOUND",
    "FILE_READ_FAILED",
    "FILE_WRITE_FAILED",
    "GATEWAY_DRAINING",
    "HANDLER_ERROR",
    "HASH_MISMATCH",
    "HEADER_MISMATCH",
    "HOST_REFUSED",
    "INSUFFICIENT_PERMISSIONS",
    "INTERNAL_ERROR",
    "INVALID_ARGUMENTS",
    "INVALID_CURSOR",
    "INVALID_INPUT_FORMAT",
    "INVALID_INPUT_TYPE",
    "INVALID_INPUT_VALUE",
    "INVALID_KEY",
    "INVALID_PARAMS",
    "INVALID_PATH",
    "INVALID_REQUEST",
    "INVALID_REQUEST_PARAMS",
    "INVALID_REQUIRED_OUTPUT",
    "INVARIANT_VIOLATION",
    "LEDGER_DAMAGED",
    "MALFORMED_MESSAGE",
    "MASKED_FAILURE",
    "MEDIA_TYPE_UNSUPPORTED",
    "MESSAGE_TOO_DEEP",
    "MESSAGE_TOO_LARGE",
    "METHOD_NOT_ALLOWED",
    "METHOD_NOT_FOUND",
    "MISSING_CONTEXT_KEY",
    "MISSING_REQUIRED_FIELD",
    "MISSING_REQUIRED_NOTES",
    "MISSING_REQUIRED_OUTPUT",
    "NOT_FOUND",
    "NOT_INITIALIZED",
    "ORIGIN_REFUSED",
    "OUTPUT_INVALID",
    "OUTSIDE_WORKSPACE",
    "PARSE_ERROR",
    "PATCH_APPLY_FAILED",
    "PATCH_INVALID",
    "PATH_NOT_FOUND",
    "PATH_TRAVERSAL_BLOCKED",
    "PAYMENT_REQUIRED",
    "PERMISSION_DENIED",
    "PLAN_ENFORCEMENT_FAILED",
    "PLAN_NOT_APPROVED",
    "PLAN_NOT_FOUND",
    "PLAN_SCOPE_VIOLATION",
    "POLICY_VIOLATION",
    "PRECONDITION_FAILED",
    "PREFLIGHT_FAILED",
    "PROBE_TARGET_UNREACHABLE",
    "PROBE_UNSAFE_CALL",
    "PROMPT_NOT_FOUND",
    "PROTOCOL_VERSION_UNSUPPORTED",
    "QUOTA_EXCEEDED",
    "RATE_LIMITED",
    "REPEATED_FAILURE",
    "REQUIRED_CAPABILITY_UNAVAILABLE",
    "REQUIRED_CAPABILITY_UNKNOWN",
    "RESOURCE_NOT_FOUND",
    "RESULT_NOT_ENCODABLE",
    "RETRY_EXHAUSTED",
    "ROLE_MISMATCH",
    "ROUND_NOT_FOUND",
    "RUST_POLICY_VIOLATION",
    "SELF_AUDIT_FAILURE",
    "SESSION_INITIALIZATION_FAILED",
    "SESSION_LOCKED",
    "SESSION_NOT_HEALTHY",
    "SESSION_NOT_INITIALIZED",
    "STORAGE_CORRUPTION_DETECTED",
    "STRAY_ANSWER",
    "TIMEOUT",
    "TOKEN_BAD_SIGNATURE",
    "TOKEN_INVALID_FORMAT",
    "TOKEN_REQUIRED",
    "TOKEN_SCOPE_MISMATCH",
    "TOKEN_SESSION_LOCKED",
    "TOKEN_UNKNOWN_NODE",
    "TOKEN_UNSUPPORTED_VERSION",
    "TOKEN_WORKFLOW_HASH_MISMATCH",
    "TOOL_LOCK_TIMEOUT",
    "TOOL_NOT_ADMITTED",
    "TOOL_NOT_FOUND",
    "TOO_LARGE",
    "TOO_MANY_CALLS",
    "TOO_MANY_SESSIONS",
    "UNAUTHENTICATED",
    "UNAUTHORIZED_ACTION",
    "UNAVAILABLE",
    "UNCODED_ERROR",
    "UNIQUE_VIOLATION",
    "UNKNOWN_TOOL_FAILURE",
    "UNSUPPORTED",
    "UPSTREAM_BAD_RESPONSE",
    "UPSTREAM_CONFLICT",
    "UPSTREAM_ERROR",
    "UPSTREAM_FORBIDDEN",
    "UPSTREAM_GONE",
    "UPSTREAM_MALFORMED",
    "UPSTREAM_NOT_FOUND",
    "UPSTREAM_RATE_LIMITED",
    "UPSTREAM_REJECTED",
    "UPSTREAM_TIMEOUT",
    "UPSTREAM_UNAUTHENTICATED",
    "UPSTREAM_UNAVAILABLE",
    "UPSTREAM_UNREACHABLE",
    "USER_ONLY_DEPENDENCY",
    "VALIDATION_ERROR",
]


@dataclass(frozen=True)
class Domain:
    """One vocabulary and its range of numbers, both ends included."""

    name: str
    first: int
    last: int
    title: str


@dataclass(frozen=True)
class Code:
    """One registered failure. Its identity is (domain, symbol)."""

    symbol: str
    domain: str
    number: int
    rpc: int  # the number written in a JSON-RPC error
    failure_class: Class
    retry: RetryKind  # the advice that holds when an error does not say otherwise
    after_ms: Optional[int]
    status: Status
    since: str
    aliases: tuple[str, ...]  # other spellings that servers use
    message: str  # the public sentence
    action: str  # what to do
    effect: Optional[str] = None  # "none": the call was refused before it began, or rolled back

    @property
    def id(self) -> str:
        """The full identity, domain/SYMBOL."""
        return f"{self.domain}/{self.symbol}"


DOMAINS: tuple[Domain, ...] = (
    Domain("common", 1000, 1099, "Common"),
    Domain("python", 2000, 2099, "Python execution"),
    Domain("playwright", 2100, 2199, "Playwright"),
    Domain("puppeteer", 2200, 2299, "Puppeteer"),
    Domain("memory-bank", 2300, 2399, "Memory bank"),
    Domain("kg", 2400, 2499, "Knowledge graph"),
    Domain("filesystem", 2500, 2599, "Filesystem"),
    Domain("sql", 2600, 2699, "SQL"),
    Domain("notion", 2700, 2799, "Notion"),
    Domain("tavily", 2800, 2899, "Tavily"),
    Domain("misc", 2900, 2999, "Miscellaneous"),
    Domain("rate-limit", 3000, 3099, "Rate limit"),
    Domain("github", 3100, 3199, "GitHub"),
    Domain("kaiza", 3200, 3299, "KAIZA"),
    Domain("workrail", 3300, 3399, "WorkRail"),
    Domain("blockers", 3400, 3499, "Blockers"),
    Domain("dual", 3500, 3599, "Dual envelope"),
    Domain("candor", 4000, 4099, "Candor"),
)

CODES: tuple[Code, ...] = (
    Code(
        "E_INVALID_PARAMS", "common", 1000, 1000, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Invalid parameters",
        "Correct the parameters named in this error and send a new call.", effect="none",
    ),
    Code(
        "E_TIMEOUT", "common", 1001, 1001, Class.TIMEOUT,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Operation timed out",
        "Wait a second and send the same call again; if it keeps timing out, request less work per call.",
    ),
    Code(
        "E_LIMIT_EXCEEDED", "common", 1002, 1002, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Limit exceeded",
        "Stay below the limit named in this error: close sessions that are no longer needed, or send less.",
    ),
    Code(
        "E_NOT_INSTALLED", "common", 1003, 1003, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Dependency not installed",
        "Ask the operator to install the dependency named in this error, or use a tool that does not need it.",
    ),
    Code(
        "E_SESSION_NOT_FOUND", "common", 1004, 1004, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Session not found",
        "Open a new session and use the id it returns.",
    ),
    Code(
        "E_INPUT_TOO_LARGE", "common", 1005, 1005, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Input too large",
        "Shorten the input to the size named in this error, or split it into several calls.",
    ),
    Code(
        "E_UNSUPPORTED", "common", 1006, 1006, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Unsupported operation",
        "Use one of the methods that the server lists.",
    ),
    Code(
        "E_PY_EXEC_FAIL", "python", 2000, 2000, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("E_PY_EXEC_FAILED", ),
        "The Python code ended with an error.",
        "Read the error, fix the code and send the corrected version.",
    ),
    Code(
        "E_PY_SECURITY", "python", 2001, 2001, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The Python code uses something the sandbox forbids.",
        "Remove the forbidden import or operation named in this error and send the code again.",
    ),
    Code(
        "E_PY_TIMEOUT", "python", 2002, 2002, Class.TIMEOUT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The Python code ran longer than allowed and was stopped.",
        "Make the code do less work per call, or ask for a longer limit where the tool offers one.",
    ),
    Code(
        "E_PY_SCRIPT_NOT_FOUND", "python", 2003, 2003, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No Python script has this name.",
        "List the scripts the server offers and name one of them.",
    ),
    Code(
        "E_PY_INVALID_PARAMS", "python", 2004, 2004, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The parameters for the Python run are invalid.",
        "Correct the parameters named in this error and send a new call.",
    ),
    Code(
        "E_PW_NAV", "playwright", 2100, 2100, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_IMMEDIATE, None, Status.ACTIVE, "0.1.0", ("E_PW_NAVIGATION", ),
        "Navigation failed",
        "Send the call again; if it fails once more, check that the address is right and reachable.",
    ),
    Code(
        "E_PW_LAUNCH", "playwright", 2101, 2101, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", ("E_PW_BROWSER_LAUNCH", ),
        "Playwright could not start a browser.",
        "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.", effect="none",
    ),
    Code(
        "E_PW_TIMEOUT", "playwright", 2102, 2102, Class.TIMEOUT,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Playwright did not finish the step in time.",
        "Wait a second and send the call again, or wait for something that appears earlier on the page.",
    ),
    Code(
        "E_PW_INVALID_SELECTOR", "playwright", 2103, 2103, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Playwright cannot use this selector.",
        "Correct the selector and send a new call.",
    ),
    Code(
        "E_PT_NAV", "puppeteer", 2200, 2200, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_IMMEDIATE, None, Status.ACTIVE, "0.1.0", ("E_PT_NAVIGATION", ),
        "Navigation failed",
        "Send the call again; if it fails once more, check that the address is right and reachable.",
    ),
    Code(
        "E_PT_LAUNCH", "puppeteer", 2201, 2201, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", ("E_PT_BROWSER_LAUNCH", ),
        "Puppeteer could not start a browser.",
        "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.", effect="none",
    ),
    Code(
        "E_PT_TIMEOUT", "puppeteer", 2202, 2202, Class.TIMEOUT,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Puppeteer did not finish the step in time.",
        "Wait a second and send the call again, or wait for something that appears earlier on the page.",
    ),
    Code(
        "E_PT_INVALID_SELECTOR", "puppeteer", 2203, 2203, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Puppeteer cannot use this selector.",
        "Correct the selector and send a new call.",
    ),
    Code(
        "E_MB_FILE_NOT_FOUND", "memory-bank", 2300, 2300, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The memory bank has no such file.",
        "List the files of the memory bank and name one of them.",
    ),
    Code(
        "E_MB_READ", "memory-bank", 2301, 2301, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A file of the memory bank could not be read.",
        "Report it to the operator with the reference; read another file meanwhile.",
    ),
    Code(
        "E_KG_FULL", "kg", 2400, 2400, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_IMMEDIATE, None, Status.ACTIVE, "0.1.0", (),
        "The knowledge graph is full.",
        "Send the call again, because other callers remove triples too; if it stays full, remove some yourself.", effect="none",
    ),
    Code(
        "E_KG_INVALID_TRIPLE", "kg", 2401, 2401, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The triple has a part that cannot be stored.",
        "Give subject, predicate and object as non-empty texts and send a new call.",
    ),
    Code(
        "E_FS_PATH_ESCAPE", "filesystem", 2500, 2500, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The path leads outside the permitted folder.",
        "Name a path below the root folder, without leaving it through \"..\", an absolute path or a link.",
    ),
    Code(
        "E_FS_DENIED", "filesystem", 2501, 2501, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The policy does not allow this file operation.",
        "Choose a path the write policy allows, or ask the operator to widen it.",
    ),
    Code(
        "E_FS_NOT_FOUND", "filesystem", 2502, 2502, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No file or folder exists at this path.",
        "List the parent folder and name something that exists.",
    ),
    Code(
        "E_FS_WRITE_TOO_LARGE", "filesystem", 2503, 2503, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The content to write is larger than allowed.",
        "Shorten the content to the size named in this error, or split it into several files.", effect="none",
    ),
    Code(
        "E_SQL_CONN", "sql", 2600, 2600, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The database could not be reached.",
        "Wait a second and send the call again; if it persists, tell the operator.",
    ),
    Code(
        "E_SQL_QUERY", "sql", 2601, 2601, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The database rejected the query.",
        "Read why the database rejected it, correct the query and send the new one.",
    ),
    Code(
        "E_NOTION_AUTH", "notion", 2700, 2700, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Notion did not accept the credentials.",
        "Ask the operator for a valid Notion token and for access to the page.",
    ),
    Code(
        "E_NOTION_RATE", "notion", 2701, 2701, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Notion limits the rate of calls.",
        "Wait as long as the retry advice says, then send the same call again.",
    ),
    Code(
        "E_NOTION_NOT_FOUND", "notion", 2702, 2702, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Notion has nothing under this id, or the integration may not see it.",
        "Correct the id, or ask the operator to share the page or database with the integration.",
    ),
    Code(
        "E_NOTION_NETWORK", "notion", 2703, 2703, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Notion could not be reached.",
        "Wait a second and send the call again.",
    ),
    Code(
        "E_NOTION_HTTP", "notion", 2704, 2704, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Notion answered with an error.",
        "Wait a second and send the call again; if it persists, tell the operator.",
    ),
    Code(
        "E_NOTION_PARSE", "notion", 2705, 2705, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The answer from Notion could not be read.",
        "Wait a second and send the call again; if it persists, tell the operator.",
    ),
    Code(
        "E_TAVILY_HTTP", "tavily", 2800, 2800, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", ("E_TV_HTTP", ),
        "Tavily answered with an error.",
        "Wait a second and send the call again; if it persists, tell the operator.",
    ),
    Code(
        "E_TAVILY_RATE", "tavily", 2801, 2801, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", ("E_TV_QUOTA", ),
        "Tavily limits the rate of searches.",
        "Wait as long as the retry advice says, then send the same search again.",
    ),
    Code(
        "E_TAVILY_AUTH_MISSING", "tavily", 2802, 2802, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("E_TV_AUTH_MISSING", ),
        "No Tavily key is configured.",
        "Ask the operator to configure a Tavily key for this server.",
    ),
    Code(
        "E_TAVILY_AUTH_FAILED", "tavily", 2803, 2803, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("E_TV_AUTH_FAILED", ),
        "Tavily did not accept the key.",
        "Ask the operator to replace the Tavily key.",
    ),
    Code(
        "E_TAVILY_NETWORK", "tavily", 2804, 2804, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", ("E_TV_NETWORK", ),
        "Tavily could not be reached.",
        "Wait a second and send the same search again.",
    ),
    Code(
        "E_TAVILY_INVALID_PARAMS", "tavily", 2805, 2805, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("E_TV_INVALID_PARAMS", ),
        "The search parameters are invalid.",
        "Correct the parameters named in this error and send a new search.",
    ),
    Code(
        "E_TAVILY_PARSE", "tavily", 2806, 2806, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", ("E_TV_PARSE", ),
        "The answer from Tavily could not be read.",
        "Wait a second and send the same search again; if it persists, tell the operator.",
    ),
    Code(
        "E_MISC", "misc", 2900, 2900, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.RESERVED, "0.1.0", (),
        "The failure does not have its own code yet.",
        "Report it with the reference, so that it can be given a code.",
    ),
    Code(
        "E_RL_EXCEEDED", "rate-limit", 3000, 3000, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Too many calls arrived in a short time.",
        "Wait as long as the retry advice says, then send the same call again, and space later calls out.", effect="none",
    ),
    Code(
        "E_GH_AUTH_MISSING", "github", 3100, 3100, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No GitHub token is configured.",
        "Ask the operator to configure a GitHub token for this server.",
    ),
    Code(
        "E_GH_AUTH_FAILED", "github", 3101, 3101, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "GitHub did not accept the token.",
        "Ask the operator for a token that is valid and has the needed scopes.",
    ),
    Code(
        "E_GH_NETWORK", "github", 3102, 3102, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "GitHub could not be reached.",
        "Wait a second and send the call again.",
    ),
    Code(
        "E_GH_HTTP", "github", 3103, 3103, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "GitHub answered with an error.",
        "Wait a second and send the call again; if it persists, tell the operator.",
    ),
    Code(
        "E_GH_RATE_LIMIT", "github", 3104, 3104, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 60000, Status.ACTIVE, "0.1.0", (),
        "GitHub limits the rate of calls.",
        "Wait as long as the retry advice says, then send the same call again.",
    ),
    Code(
        "E_GH_NOT_FOUND", "github", 3105, 3105, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "GitHub has nothing under this name, or the token may not see it.",
        "Correct the owner, repository or number, or ask for a token that can see it.",
    ),
    Code(
        "E_GH_PARSE", "github", 3106, 3106, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The answer from GitHub could not be read.",
        "Wait a second and send the call again; if it persists, tell the operator.",
    ),
    Code(
        "SESSION_NOT_INITIALIZED", "kaiza", 3200, 3200, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No session has been started.",
        "Call begin_session with the absolute path of the workspace first, then make this call.",
    ),
    Code(
        "SESSION_LOCKED", "kaiza", 3201, 3201, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The session is locked because an earlier call failed.",
        "Write a failure report below docs/reports/ with write_file; that unlocks the session. If you cannot, ask the operator to run candor workbench unlock.",
    ),
    Code(
        "SESSION_INITIALIZATION_FAILED", "kaiza", 3202, 3202, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The session could not be set up.",
        "Tell the operator, with the reference; the server itself stays usable for a new begin_session.",
    ),
    Code(
        "INVALID_INPUT_TYPE", "kaiza", 3203, 3203, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "An argument has the wrong type.",
        "Change the argument named in this error to the expected type and make a new call.",
    ),
    Code(
        "INVALID_INPUT_FORMAT", "kaiza", 3204, 3204, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("INVALID_JSON", ),
        "An argument is malformed.",
        "Send the arguments as one JSON object in the form the tool describes.",
    ),
    Code(
        "INVALID_INPUT_VALUE", "kaiza", 3205, 3205, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "An argument has a value that is not allowed.",
        "Choose an allowed value for the argument named in this error and make a new call.",
    ),
    Code(
        "MISSING_REQUIRED_FIELD", "kaiza", 3206, 3206, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A required argument is missing.",
        "Add the argument named in this error and make a new call.",
    ),
    Code(
        "UNAUTHORIZED_ACTION", "kaiza", 3207, 3207, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The current role may not do this.",
        "Check the role and permissions of the session; use a tool meant for this role, or have a session with the right role do it.",
    ),
    Code(
        "INSUFFICIENT_PERMISSIONS", "kaiza", 3208, 3208, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The caller lacks a permission that this action needs.",
        "Ask for the permission named in this error, or choose an action that needs less.",
    ),
    Code(
        "ROLE_MISMATCH", "kaiza", 3209, 3209, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The role named in the call is not the role of the session.",
        "Omit the role, or begin a session with the role you need.",
    ),
    Code(
        "INVALID_PATH", "kaiza", 3210, 3210, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The path is malformed.",
        "Use a path that this tool accepts: list the folder first, and name a path from that list.",
    ),
    Code(
        "PATH_NOT_FOUND", "kaiza", 3211, 3211, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A folder of this path does not exist.",
        "List the parent folder and name a path that exists, or create the folder before using it.",
    ),
    Code(
        "PATH_TRAVERSAL_BLOCKED", "kaiza", 3212, 3212, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The path leaves its folder through \"..\".",
        "Name the path without \"..\" segments.",
    ),
    Code(
        "OUTSIDE_WORKSPACE", "kaiza", 3213, 3213, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("PATH_ESCAPE", ),
        "The path lies outside the workspace.",
        "Name a path inside the workspace, or begin a session in the workspace that holds it.",
    ),
    Code(
        "FILE_NOT_FOUND", "kaiza", 3214, 3214, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The file does not exist.",
        "List the folder and name a file that exists.",
    ),
    Code(
        "FILE_ALREADY_EXISTS", "kaiza", 3215, 3215, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The file already exists.",
        "Read the file, then change it by a patch, or choose another name.",
    ),
    Code(
        "FILE_READ_FAILED", "kaiza", 3216, 3216, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The file could not be read.",
        "Tell the operator, with the reference; continue with other files.",
    ),
    Code(
        "FILE_WRITE_FAILED", "kaiza", 3217, 3217, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The file could not be written.",
        "Tell the operator, with the reference; the old content is still in place.",
    ),
    Code(
        "PATCH_INVALID", "kaiza", 3218, 3218, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The patch is malformed.",
        "Create the patch again as a unified diff against the current file.",
    ),
    Code(
        "PATCH_APPLY_FAILED", "kaiza", 3219, 3219, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The patch does not fit the current file.",
        "Read the file again and create the patch against its current content.",
    ),
    Code(
        "HASH_MISMATCH", "kaiza", 3220, 3220, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The file has changed since it was read.",
        "Read the file again, redo the change on the new content and give its hash.",
    ),
    Code(
        "PLAN_NOT_FOUND", "kaiza", 3221, 3221, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No plan has this hash.",
        "List the plans and use the hash of one of them, or have a plan written.",
    ),
    Code(
        "PLAN_NOT_APPROVED", "kaiza", 3222, 3222, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The plan is not approved.",
        "Verify that the plan is approved: its header must carry the approved status and its hash. If it does not, ask for approval.",
    ),
    Code(
        "PLAN_ENFORCEMENT_FAILED", "kaiza", 3223, 3223, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("SIGNATURE_MISMATCH", ),
        "The plan does not match its own hash.",
        "Use the plan as it was approved, or have the changed plan approved under its new hash.",
    ),
    Code(
        "PLAN_SCOPE_VIOLATION", "kaiza", 3224, 3224, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The plan does not cover this file.",
        "Stay within the scope of the plan, or have a plan approved that covers the file.",
    ),
    Code(
        "POLICY_VIOLATION", "kaiza", 3225, 3225, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The change breaks a policy of the workspace.",
        "Change the content so that it keeps the rule named in this error, then write it.",
    ),
    Code(
        "RUST_POLICY_VIOLATION", "kaiza", 3226, 3226, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The Rust code breaks a policy of the workspace.",
        "Replace the forbidden construct named in this error, then write the file.",
    ),
    Code(
        "PREFLIGHT_FAILED", "kaiza", 3227, 3227, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The checks failed after the change, and it was undone.",
        "Read the output of the checks, fix what they found and write the corrected content.",
    ),
    Code(
        "INVARIANT_VIOLATION", "kaiza", 3228, 3228, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A rule that must always hold was broken.",
        "Stop, and report the invariant that this error names, with the reference.",
    ),
    Code(
        "BOOTSTRAP_FAILURE", "kaiza", 3229, 3229, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The workspace could not be opened.",
        "Call begin_session with the absolute path of an existing folder that no other session holds.",
    ),
    Code(
        "SELF_AUDIT_FAILURE", "kaiza", 3230, 3230, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The server failed its self-check and refuses all calls.",
        "Tell the operator; the fault must be repaired and the server restarted.",
    ),
    Code(
        "AUDIT_LOG_FAILED", "kaiza", 3231, 3231, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", ("AUDIT_APPEND_FAILED", ),
        "The audit trail could not be written, so nothing was done.",
        "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
    ),
    Code(
        "AUDIT_LOCK_FAILED", "kaiza", 3232, 3232, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The audit trail is locked by another writer, so nothing was done.",
        "Wait a second and send the same call again; if it persists, tell the operator.",
    ),
    Code(
        "INTERNAL_ERROR", "kaiza", 3233, 3233, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The workspace server met an unexpected error.",
        "Report it with the reference; the ledger holds what happened.",
    ),
    Code(
        "UNKNOWN_TOOL_FAILURE", "kaiza", 3234, 3234, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The workspace tool failed without saying why.",
        "Report it with the reference, and check the state before you continue.",
    ),
    Code(
        "VALIDATION_ERROR", "workrail", 3300, 3300, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The input of the workflow tool is not valid.",
        "Correct all fields listed in this error and make a new call.", effect="none",
    ),
    Code(
        "NOT_FOUND", "workrail", 3301, 3301, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No workflow or session has this id.",
        "Call list_workflows and use an id from its answer.",
    ),
    Code(
        "PRECONDITION_FAILED", "workrail", 3302, 3302, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The workflow is not in a state that allows this.",
        "Do what this error asks for, or start the workflow again with start_workflow.",
    ),
    Code(
        "TIMEOUT", "workrail", 3303, 3303, Class.TIMEOUT,
        RetryKind.RETRYABLE_IMMEDIATE, None, Status.ACTIVE, "0.1.0", (),
        "The workflow took too long to load.",
        "Send the same call again.", effect="none",
    ),
    Code(
        "INTERNAL_ERROR", "workrail", 3304, 3304, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The workflow engine met an unexpected error.",
        "Report it with the reference; the workflow is unchanged.",
    ),
    Code(
        "TOKEN_INVALID_FORMAT", "workrail", 3305, 3305, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The token is malformed.",
        "Copy the token exactly as it was returned; tokens are opaque and cannot be edited or made up.",
    ),
    Code(
        "TOKEN_UNSUPPORTED_VERSION", "workrail", 3306, 3306, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The version of the token is not supported.",
        "Start the workflow again with start_workflow to receive a current token.",
    ),
    Code(
        "TOKEN_BAD_SIGNATURE", "workrail", 3307, 3307, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The signature of the token is wrong.",
        "Copy the token exactly as it was returned; if it is old, start the workflow again with start_workflow.",
    ),
    Code(
        "TOKEN_SCOPE_MISMATCH", "workrail", 3308, 3308, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The token cannot be used for this call.",
        "Use the token that the last answer gave for this kind of call and this session.",
    ),
    Code(
        "TOKEN_UNKNOWN_NODE", "workrail", 3309, 3309, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No stored workflow state belongs to this token.",
        "Start the workflow again with start_workflow.",
    ),
    Code(
        "TOKEN_WORKFLOW_HASH_MISMATCH", "workrail", 3310, 3310, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The workflow has changed since the token was issued.",
        "Start the workflow again with start_workflow, which pins the current version.",
    ),
    Code(
        "TOKEN_SESSION_LOCKED", "workrail", 3311, 3311, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Another operation is changing this session.",
        "Wait a second and send the same call again.", effect="none",
    ),
    Code(
        "SESSION_NOT_HEALTHY", "workrail", 3312, 3312, Class.CORRUPT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The stored data of this session is damaged.",
        "Stop using the session: export a read-only view of what is left, and start the workflow again.",
    ),
    Code(
        "USER_ONLY_DEPENDENCY", "blockers", 3400, 3400, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The step waits for something only a person can provide.",
        "Let the user answer, in the client or with the command that the blocker names, and continue with the retry token.",
    ),
    Code(
        "MISSING_REQUIRED_OUTPUT", "blockers", 3401, 3401, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The step requires an output that was not given.",
        "Add the required output and continue with the retry token from the answer.",
    ),
    Code(
        "INVALID_REQUIRED_OUTPUT", "blockers", 3402, 3402, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The output does not meet the contract of the step.",
        "Correct the output as the blocker says and continue with the retry token from the answer.",
    ),
    Code(
        "MISSING_REQUIRED_NOTES", "blockers", 3403, 3403, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The step requires notes that were not given.",
        "Write the notes for the step and continue with the retry token from the answer.",
    ),
    Code(
        "MISSING_CONTEXT_KEY", "blockers", 3404, 3404, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The context lacks a key that the step needs.",
        "Add the named key to the context and continue with the retry token from the answer.",
    ),
    Code(
        "CONTEXT_BUDGET_EXCEEDED", "blockers", 3405, 3405, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The context is larger than the workflow allows.",
        "Shorten the context below the limit named in the blocker and continue with the retry token.",
    ),
    Code(
        "REQUIRED_CAPABILITY_UNKNOWN", "blockers", 3406, 3406, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "It is unknown whether a capability that the step needs is available.",
        "Find out whether the capability is available and state it in the context.",
    ),
    Code(
        "REQUIRED_CAPABILITY_UNAVAILABLE", "blockers", 3407, 3407, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A capability the step needs is not available here.",
        "Choose a workflow that does not need the capability, or run this one where it is available.",
    ),
    Code(
        "INVARIANT_VIOLATION", "blockers", 3408, 3408, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The step would break a rule of the workflow engine.",
        "Report it with the reference; the workflow is unchanged.",
    ),
    Code(
        "STORAGE_CORRUPTION_DETECTED", "blockers", 3409, 3409, Class.CORRUPT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The stored state of this step is damaged.",
        "Stop using this run, export what is left and start the workflow again.",
    ),
    Code(
        "INVALID_PARAMS", "dual", 3500, 3500, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The parameters of the tool are not valid.",
        "Correct the fields listed in this error and make a new call.", effect="none",
    ),
    Code(
        "HANDLER_ERROR", "dual", 3501, 3501, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The tool failed while handling the call.",
        "Report it with the reference; if this error names a more exact code, act on that one.",
    ),
    Code(
        "ERR_VALIDATION", "dual", 3502, 3502, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The task is not valid.",
        "Correct the fields named in this error and send the call again.",
    ),
    Code(
        "ERR_NOT_FOUND", "dual", 3503, 3503, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No task has this id.",
        "List the tasks with task_list and use the id of one of them, or create one with task_create.",
    ),
    Code(
        "ERR_WRITEBACK_REQUIRED", "dual", 3504, 3504, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The task cannot be finished before its thoughts are recorded.",
        "Record at least one thought for the task with thought_record first, then set it to DONE.", effect="none",
    ),
    Code(
        "ERR_INVALID_TRANSITION", "dual", 3505, 3505, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The task cannot change from its current status to this one.",
        "Choose one of the allowed statuses listed in this error.", effect="none",
    ),
    Code(
        "ERR_SESSION_EXISTS", "dual", 3506, 3506, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A session with this id already exists.",
        "Use another session id, or omit it to get a new one.",
    ),
    Code(
        "ERR_SESSION_NOT_FOUND", "dual", 3507, 3507, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No recorded session has this id.",
        "Start a session with audit_session_start and use the id it returns.",
    ),
    Code(
        "ERR_ALREADY_FINALIZED", "dual", 3508, 3508, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The session is already finalized.",
        "Read its root with merkle_root; a finalized session takes no more records.",
    ),
    Code(
        "ERR_NO_RECORDS", "dual", 3509, 3509, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The session holds no records to finalize.",
        "Record at least one thought with the id of this session and finalize it then, or abandon the empty session.",
    ),
    Code(
        "ERR_NOT_FINALIZED", "dual", 3510, 3510, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The session is not finalized yet.",
        "Finalize the session with merkle_finalize before asking for its root; if it does not exist, start one with audit_session_start.",
    ),
    Code(
        "ROUND_NOT_FOUND", "dual", 3511, 3511, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No round of votes has this id.",
        "List the rounds with consensus_gossip and use the id of one of them, or propose one with consensus_propose.",
    ),
    Code(
        "ALREADY_VOTED", "dual", 3512, 3512, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "This voter has already voted in this round.",
        "Read the state of the round with consensus_finality; the first vote counts.",
    ),
    Code(
        "INVALID_KEY", "dual", 3513, 3513, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The key is not valid.",
        "Give the key as hexadecimal text of the length the tool describes.",
    ),
    Code(
        "FALLBACK_CHAIN_EXHAUSTED", "dual", 3514, 3514, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", ("FallbackChainExhaustedError", ),
        "Every route of the fallback chain failed.",
        "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
    ),
    Code(
        "TOOL_NOT_ADMITTED", "dual", 3515, 3515, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", ("ToolNotAdmittedError", ),
        "The mode of the server does not permit this tool.",
        "Use a tool that the current mode permits, or ask the operator to change the mode.", effect="none",
    ),
    Code(
        "TOOL_LOCK_TIMEOUT", "dual", 3516, 3516, Class.TIMEOUT,
        RetryKind.RETRYABLE_AFTER_MS, 500, Status.ACTIVE, "0.1.0", (),
        "The tool was busy with another call for too long.",
        "Wait as long as the retry advice says, then send the same call again.", effect="none",
    ),
    Code(
        "DB_BUSY", "dual", 3517, 3517, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 250, Status.ACTIVE, "0.1.0", (),
        "The database is busy.",
        "Wait as long as the retry advice says, then send the same call again.", effect="none",
    ),
    Code(
        "DB_FULL", "dual", 3518, 3518, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", (),
        "The database is full.",
        "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.", effect="none",
    ),
    Code(
        "UNIQUE_VIOLATION", "dual", 3519, 3519, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A record with this identity already exists.",
        "Read the existing record, or use another identity.",
    ),
    Code(
        "INTERNAL_ERROR", "candor", 4000, -32603, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "An unexpected error occurred.",
        "Report it with the reference; the ledger holds what happened.",
    ),
    Code(
        "UNKNOWN_TOOL_FAILURE", "candor", 4001, 4001, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The tool reported a failure without saying why.",
        "Read the tool's own message, and report it with the reference.",
    ),
    Code(
        "UNCODED_ERROR", "candor", 4002, 4002, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The server reported an error without a registered code.",
        "Report it to the author of the server, with the reference.",
    ),
    Code(
        "MASKED_FAILURE", "candor", 4003, 4003, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The answer was marked as a success but describes a failure.",
        "Treat the call as failed and read the answer for its reason; report the tool to its author.",
    ),
    Code(
        "PARSE_ERROR", "candor", 4005, -32700, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The message is not valid JSON.",
        "Send one complete JSON-RPC message in UTF-8 JSON.",
    ),
    Code(
        "INVALID_REQUEST", "candor", 4006, -32600, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The message is not a valid JSON-RPC request.",
        "Send an object with jsonrpc \"2.0\", a method name and an id that is a text or a whole number.",
    ),
    Code(
        "METHOD_NOT_FOUND", "candor", 4007, -32601, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The server does not offer this method.",
        "Use only methods of the capabilities that the server announced.", effect="none",
    ),
    Code(
        "INVALID_REQUEST_PARAMS", "candor", 4008, -32602, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The parameters of the request are invalid for its method.",
        "Correct the parameters named in this error and send a new request.", effect="none",
    ),
    Code(
        "TOOL_NOT_FOUND", "candor", 4009, -32602, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No tool has this name.",
        "Call tools/list and use a name from its answer.", effect="none",
    ),
    Code(
        "RESOURCE_NOT_FOUND", "candor", 4010, -32602, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No resource has this URI.",
        "Call resources/list and use a URI from its answer.",
    ),
    Code(
        "PROMPT_NOT_FOUND", "candor", 4011, -32602, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "No prompt has this name.",
        "Call prompts/list and use a name from its answer.",
    ),
    Code(
        "INVALID_CURSOR", "candor", 4012, -32602, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The page cursor is not valid.",
        "Start the list again without a cursor.",
    ),
    Code(
        "INVALID_ARGUMENTS", "candor", 4013, 4013, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The arguments do not match the input schema of the tool.",
        "Correct the arguments and make a new call.", effect="none",
    ),
    Code(
        "OUTPUT_INVALID", "candor", 4014, 4014, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The result of the tool does not match its output schema.",
        "Report it to the author of the server; the tool may have had its effect already.",
    ),
    Code(
        "RESULT_NOT_ENCODABLE", "candor", 4015, 4015, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The result of the tool cannot be written as JSON.",
        "Report it to the author of the server; the tool may have had its effect already.",
    ),
    Code(
        "EMPTY_RESULT", "candor", 4016, 4016, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The tool returned neither a result nor an error.",
        "Check whether the tool took effect, and report it to the author of the server.",
    ),
    Code(
        "MESSAGE_TOO_LARGE", "candor", 4017, -32600, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The message is larger than the receiver accepts.",
        "Send less in one message.",
    ),
    Code(
        "MESSAGE_TOO_DEEP", "candor", 4018, -32600, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The message is nested too deeply.",
        "Send a flatter structure.",
    ),
    Code(
        "BATCH_UNSUPPORTED", "candor", 4019, -32600, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Batches are not supported.",
        "Send each request as its own message.", effect="none",
    ),
    Code(
        "DUPLICATE_REQUEST_ID", "candor", 4020, -32600, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A request with this id is still open.",
        "Use an id that no open request of this connection has.", effect="none",
    ),
    Code(
        "NOT_INITIALIZED", "candor", 4021, -32600, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The connection has not been initialized.",
        "Send initialize first, and notifications/initialized after its answer.", effect="none",
    ),
    Code(
        "HEADER_MISMATCH", "candor", 4022, -32020, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A header does not agree with the body of the request.",
        "Send the same method, name and protocol version in the headers as in the body.", effect="none",
    ),
    Code(
        "CAPABILITY_REQUIRED", "candor", 4023, -32021, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The request needs a client capability that was not declared.",
        "Declare the capability named in this error, if the client has it, and send a new request.",
    ),
    Code(
        "PROTOCOL_VERSION_UNSUPPORTED", "candor", 4024, -32022, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The protocol version is not supported.",
        "Use one of the supported versions listed in this error.", effect="none",
    ),
    Code(
        "MALFORMED_MESSAGE", "candor", 4025, -32600, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The message is not a request, a notification or a response.",
        "Send a request, a notification or a response, with only the members it may have.",
    ),
    Code(
        "STRAY_ANSWER", "candor", 4026, 4026, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The answer does not belong to an open call.",
        "Report it to the author of the server, with the reference; the call is still open.",
    ),
    Code(
        "UNAUTHENTICATED", "candor", 4030, 4030, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The caller is not signed in.",
        "Sign in, or ask the user for valid credentials.",
    ),
    Code(
        "PERMISSION_DENIED", "candor", 4031, 4031, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The caller may not do this.",
        "Ask the user or the operator for the permission, or choose something that is allowed.",
    ),
    Code(
        "NOT_FOUND", "candor", 4032, 4032, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The requested object does not exist.",
        "List the existing objects and name one of them.",
    ),
    Code(
        "ALREADY_EXISTS", "candor", 4033, 4033, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The object to create already exists.",
        "Use the existing object, or choose another name.",
    ),
    Code(
        "CONFLICT", "candor", 4034, 4034, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The state has changed since it was read.",
        "Read the current state and apply the change to it again.",
    ),
    Code(
        "PRECONDITION_FAILED", "candor", 4035, 4035, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Something else has to happen first.",
        "Do what this error names first, then make this call.",
    ),
    Code(
        "CONFIGURATION_MISSING", "candor", 4036, 4036, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The server lacks a setting that it needs.",
        "Ask the operator to configure the key, token or setting named in the message.",
    ),
    Code(
        "DEPENDENCY_MISSING", "candor", 4037, 4037, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "A program or library that the tool needs is not installed.",
        "Ask the operator to install it, or use a tool that does not need it.",
    ),
    Code(
        "PAYMENT_REQUIRED", "candor", 4038, 4038, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The service asks for payment first.",
        "Tell the user that a payment or a larger plan is needed.",
    ),
    Code(
        "RATE_LIMITED", "candor", 4039, 4039, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Too many calls in a short time.",
        "Wait as long as the retry advice says, then send the same call again.", effect="none",
    ),
    Code(
        "QUOTA_EXCEEDED", "candor", 4040, 4040, Class.RATE_LIMITED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The quota is used up.",
        "Tell the user that the quota is used up; raise it, or wait for the next period.",
    ),
    Code(
        "TIMEOUT", "candor", 4041, 4041, Class.TIMEOUT,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "No answer came in time.",
        "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
    ),
    Code(
        "CANCELLED", "candor", 4042, 4042, Class.CANCELLED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The call was cancelled.",
        "Continue without the result; make a new call only if it is still needed.",
    ),
    Code(
        "TOO_LARGE", "candor", 4043, 4043, Class.TOO_LARGE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The input or the result is too large.",
        "Ask for less or send less: fewer items, a smaller range, a shorter text.",
    ),
    Code(
        "UNSUPPORTED", "candor", 4044, 4044, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "This is not supported here.",
        "Use another approach; the tool's description lists what is supported.",
    ),
    Code(
        "UNAVAILABLE", "candor", 4045, 4045, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service is not available at the moment.",
        "Wait as long as the retry advice says, then send the same call again.",
    ),
    Code(
        "DATA_CORRUPT", "candor", 4046, 4046, Class.CORRUPT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Stored data is damaged.",
        "Stop changing this data and tell the operator.",
    ),
    Code(
        "DISK_FULL", "candor", 4047, 4047, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", (),
        "There is no space left to store the data.",
        "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
    ),
    Code(
        "UPSTREAM_UNREACHABLE", "candor", 4050, 4050, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool could not be reached.",
        "Wait as long as the retry advice says, then send the same call again; if it persists, tell the operator.",
    ),
    Code(
        "UPSTREAM_TIMEOUT", "candor", 4051, 4051, Class.TIMEOUT,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool did not answer in time.",
        "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
    ),
    Code(
        "UPSTREAM_UNAUTHENTICATED", "candor", 4052, 4052, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool did not accept the credentials.",
        "Ask the operator to renew the key or token that the server uses.",
    ),
    Code(
        "UPSTREAM_FORBIDDEN", "candor", 4053, 4053, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool does not permit this.",
        "Ask the operator to widen the access of the server, or choose something that is allowed.",
    ),
    Code(
        "UPSTREAM_NOT_FOUND", "candor", 4054, 4054, Class.NOT_FOUND,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool did not find this.",
        "List the objects that exist there and name one of them.",
    ),
    Code(
        "UPSTREAM_CONFLICT", "candor", 4055, 4055, Class.CONFLICT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool reports a conflict.",
        "Read the current state from the service and apply the change to it again.",
    ),
    Code(
        "UPSTREAM_REJECTED", "candor", 4056, 4056, Class.BAD_REQUEST,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool rejected the request.",
        "Read the reason, correct the arguments and make a new call.",
    ),
    Code(
        "UPSTREAM_RATE_LIMITED", "candor", 4057, 4057, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool limits the rate of calls.",
        "Wait as long as the retry advice says, then send the same call again.",
    ),
    Code(
        "UPSTREAM_ERROR", "candor", 4058, 4058, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool failed.",
        "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
    ),
    Code(
        "UPSTREAM_UNAVAILABLE", "candor", 4059, 4059, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool is not available.",
        "Wait as long as the retry advice says, then send the same call again.",
    ),
    Code(
        "UPSTREAM_BAD_RESPONSE", "candor", 4060, 4060, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The service behind the tool sent an unreadable answer.",
        "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
    ),
    Code(
        "UPSTREAM_GONE", "candor", 4065, 4065, Class.UNAVAILABLE,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The server exited or disconnected during the call.",
        "Check whether the call took effect before making a new one.",
    ),
    Code(
        "UPSTREAM_MALFORMED", "candor", 4066, 4066, Class.INTERNAL,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The server answered with an invalid message.",
        "Check whether the call took effect before making a new one; report the server to its author.",
    ),
    Code(
        "CALL_TIMEOUT", "candor", 4067, 4067, Class.TIMEOUT,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The call did not finish before its deadline.",
        "Check whether the call took effect before making a new one; request less work per call.",
    ),
    Code(
        "CIRCUIT_OPEN", "candor", 4068, 4068, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", (),
        "The server failed too often and is not called for a while.",
        "Wait as long as the retry advice says, then send the same call again, or use another tool meanwhile.", effect="none",
    ),
    Code(
        "RETRY_EXHAUSTED", "candor", 4069, 4069, Class.UNAVAILABLE,
        RetryKind.NOT_RETRYABLE, None, Status.RESERVED, "0.1.0", (),
        "All permitted attempts of the call failed.",
        "Stop calling for now, and tell the operator.",
    ),
    Code(
        "REPEATED_FAILURE", "candor", 4070, 4070, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "This call keeps failing in the same way.",
        "Change the approach: read the earlier error and act on it, or use another tool.", effect="none",
    ),
    Code(
        "TOO_MANY_CALLS", "candor", 4071, 4071, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "Too many calls are open.",
        "Wait as long as the retry advice says, then send the same call again; keep fewer calls open.", effect="none",
    ),
    Code(
        "TOO_MANY_SESSIONS", "candor", 4072, 4072, Class.RATE_LIMITED,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", (),
        "Too many sessions are open.",
        "Wait as long as the retry advice says, then send the same call again; close sessions that are not needed.", effect="none",
    ),
    Code(
        "GATEWAY_DRAINING", "candor", 4073, 4073, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 2000, Status.ACTIVE, "0.1.0", (),
        "The gateway is shutting down.",
        "Wait as long as the retry advice says, then connect again and send the same call.", effect="none",
    ),
    Code(
        "HOST_REFUSED", "candor", 4074, 4074, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "This server does not accept the Host header.",
        "Connect by a name on the list of allowed hosts, or ask the operator to add this one.", effect="none",
    ),
    Code(
        "ORIGIN_REFUSED", "candor", 4075, 4075, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "Requests from this origin are not allowed.",
        "Ask the operator to add the origin to the list of allowed ones.", effect="none",
    ),
    Code(
        "TOKEN_REQUIRED", "candor", 4076, 4076, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "An access token is required.",
        "Send the token in the Authorization header; ask the operator for one.", effect="none",
    ),
    Code(
        "METHOD_NOT_ALLOWED", "candor", 4077, 4077, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The HTTP method is not allowed here.",
        "Use a method listed in the Allow header.", effect="none",
    ),
    Code(
        "MEDIA_TYPE_UNSUPPORTED", "candor", 4078, 4078, Class.UNSUPPORTED,
        RetryKind.NOT_RETRYABLE, None, Status.ACTIVE, "0.1.0", (),
        "The content type is not supported.",
        "Send application/json, and accept both application/json and text/event-stream.", effect="none",
    ),
    Code(
        "CONFIG_INVALID", "candor", 4079, 4079, Class.PRECONDITION,
        RetryKind.NOT_RETRYABLE, None, Status.RESERVED, "0.1.0", (),
        "The configuration is not valid.",
        "Correct the setting that this error names.",
    ),
    Code(
        "PROBE_TARGET_UNREACHABLE", "candor", 4085, 4085, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.RESERVED, "0.1.0", (),
        "The server to be probed does not answer.",
        "Wait as long as the retry advice says and start the probe again; if it persists, check the command or address.",
    ),
    Code(
        "PROBE_UNSAFE_CALL", "candor", 4086, 4086, Class.DENIED,
        RetryKind.NOT_RETRYABLE, None, Status.RESERVED, "0.1.0", (),
        "The probe does not make calls that could change something.",
        "Permit the tool by name if it may be called, or exclude it.", effect="none",
    ),
    Code(
        "LEDGER_DAMAGED", "candor", 4090, 4090, Class.CORRUPT,
        RetryKind.NOT_RETRYABLE, None, Status.RESERVED, "0.1.0", (),
        "The ledger is damaged.",
        "Stop writing to this chain, keep the file as evidence and tell the operator.",
    ),
    Code(
        "AUDIT_LOG_FAILED", "candor", 4091, 4091, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 5000, Status.ACTIVE, "0.1.0", (),
        "The ledger could not be written, so the call was not made.",
        "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
    ),
    Code(
        "AUDIT_LOCK_FAILED", "candor", 4092, 4092, Class.UNAVAILABLE,
        RetryKind.RETRYABLE_AFTER_MS, 1000, Status.ACTIVE, "0.1.0", (),
        "The ledger is held by another writer, so the call was not made.",
        "Wait a second and send the same call again; if it persists, tell the operator.",
    ),
)
"""Every registered code, in the order of numbers."""

BY_ID: Mapping[str, Code] = MappingProxyType(
    {f"{c.domain}/{name}": c for c in CODES for name in (c.symbol, *c.aliases)}
)
"""Codes by domain/SYMBOL, aliases included."""

BY_NUMBER: Mapping[int, Code] = MappingProxyType({c.number: c for c in CODES})
"""Codes by their own number."""


class NotRetryable(TypedDict):
    """The same call would fail again."""

    kind: Literal["not_retryable"]


class RetryableImmediate(TypedDict):
    """The same call may be sent again at once."""

    kind: Literal["retryable_immediate"]


class RetryableAfterMs(TypedDict):
    """The same call may be sent again after a delay."""

    kind: Literal["retryable_after_ms"]
    afterMs: int


Retry = Union[NotRetryable, RetryableImmediate, RetryableAfterMs]


class Origin(TypedDict):
    """The party that failed, and whether the code was inferred."""

    by: Literal["tool", "server", "gateway", "transport", "client"]
    inferred: bool


# The functional form, because "class" is a keyword of the language.
_Required = TypedDict(
    "_Required",
    {
        "code": Symbol,
        "class": ClassName,
        "retry": Retry,
        "ref": str,
    },
)


class CandorError(_Required, total=False):
    """The canonical error as a JSON object. A gateway leaves out what the reader knows."""

    message: str
    suggestion: str
    details: Any
    domain: DomainName
    number: int
    origin: Origin
    tool: Optional[str]
    role: Optional[str]
    session_id: Optional[str]
    workspace_root: Optional[str]
    invariant_id: Optional[str]
    phase_id: Optional[str]
    plan_hash: Optional[str]
    cause: Any
    timestamp: str
    stack: str


def find_code(domain: str, symbol: str) -> Optional[Code]:
    """Return the code with this domain and this symbol or alias, or None."""
    return BY_ID.get(f"{domain}/{symbol}")


def is_retry(value: object) -> TypeGuard[Retry]:
    """Report whether a value is one of the three forms of retry advice."""
    if not isinstance(value, dict):
        return False
    kind = value.get("kind")
    if kind == "retryable_after_ms":
        after = value.get("afterMs")
        return len(value) == 2 and isinstance(after, int) and not isinstance(after, bool) and after > 0
    return len(value) == 1 and kind in ("not_retryable", "retryable_immediate")


def is_candor_error(value: object) -> TypeGuard[CandorError]:
    """Report whether a value is a canonical error: all required members, and a registered code with its class and number."""
    if not isinstance(value, dict) or not isinstance(value.get("origin"), dict):
        return False
    code = find_code(str(value.get("domain")), str(value.get("code")))
    return (
        code is not None
        and code.symbol == value.get("code")
        and code.number == value.get("number")
        and code.failure_class.value == value.get("class")
        and isinstance(value.get("message"), str)
        and is_retry(value.get("retry"))
        and isinstance(value.get("ref"), str)
        and value["origin"].get("by") in {p.value for p in Party}
        and isinstance(value["origin"].get("inferred"), bool)
    )


def read_candor_error(value: object) -> Optional[dict[str, Any]]:
    """Read a canonical error, also one of a later version of the contract.

    A code that is not registered is kept as it is: its class and its retry advice are what to act on. A class that is not known is
    read as "internal". In the brief form, which has only code, class, retry and ref, the message is that of the code. Anything else is
    None, and so is a registered code with another class or number than the catalogue's.
    """
    if is_candor_error(value):
        return dict(value)
    if not isinstance(value, dict):
        return None
    code, failure_class = value.get("code"), value.get("class")
    known_code = find_code(str(value.get("domain", "candor")), str(code))
    if known_code and (known_code.failure_class.value != failure_class or value.get("number", known_code.number) != known_code.number):
        return None
    message = value.get("message", known_code and known_code.message)
    if not isinstance(code, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", code):
        return None
    if not isinstance(message, str) or not message or not isinstance(failure_class, str) or not is_retry(value.get("retry")):
        return None
    known = failure_class in {c.value for c in Class}
    return {**value, "message": message, "class": failure_class if known else Class.INTERNAL.value}


def retry_delay(retry: Retry) -> Optional[float]:
    """Return how long to wait before the same call may be sent again, in seconds, or None if it may not."""
    if retry["kind"] == "not_retryable":
        return None
    if retry["kind"] == "retryable_immediate":
        return 0.0
    return retry["afterMs"] / 1000
