// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

package candor

// The codes of the domain candor.
const (
	// CodeInternalError is candor/INTERNAL_ERROR. An unexpected error occurred.
	CodeInternalError Code = 4000
	// CodeUnknownToolFailure is candor/UNKNOWN_TOOL_FAILURE. The tool reported a failure without saying why.
	CodeUnknownToolFailure Code = 4001
	// CodeUncodedError is candor/UNCODED_ERROR. The server reported an error without a registered code.
	CodeUncodedError Code = 4002
	// CodeMaskedFailure is candor/MASKED_FAILURE. The answer was marked as a success but describes a failure.
	CodeMaskedFailure Code = 4003
	// CodeParseError is candor/PARSE_ERROR. The message is not valid JSON.
	CodeParseError Code = 4005
	// CodeInvalidRequest is candor/INVALID_REQUEST. The message is not a valid JSON-RPC request.
	CodeInvalidRequest Code = 4006
	// CodeMethodNotFound is candor/METHOD_NOT_FOUND. The server does not offer this method.
	CodeMethodNotFound Code = 4007
	// CodeInvalidRequestParams is candor/INVALID_REQUEST_PARAMS. The parameters of the request are invalid for its method.
	CodeInvalidRequestParams Code = 4008
	// CodeToolNotFound is candor/TOOL_NOT_FOUND. No tool has this name.
	CodeToolNotFound Code = 4009
	// CodeResourceNotFound is candor/RESOURCE_NOT_FOUND. No resource has this URI.
	CodeResourceNotFound Code = 4010
	// CodePromptNotFound is candor/PROMPT_NOT_FOUND. No prompt has this name.
	CodePromptNotFound Code = 4011
	// CodeInvalidCursor is candor/INVALID_CURSOR. The page cursor is not valid.
	CodeInvalidCursor Code = 4012
	// CodeInvalidArguments is candor/INVALID_ARGUMENTS. The arguments do not match the input schema of the tool.
	CodeInvalidArguments Code = 4013
	// CodeOutputInvalid is candor/OUTPUT_INVALID. The result of the tool does not match its output schema.
	CodeOutputInvalid Code = 4014
	// CodeResultNotEncodable is candor/RESULT_NOT_ENCODABLE. The result of the tool cannot be written as JSON.
	CodeResultNotEncodable Code = 4015
	// CodeEmptyResult is candor/EMPTY_RESULT. The tool returned neither a result nor an error.
	CodeEmptyResult Code = 4016
	// CodeMessageTooLarge is candor/MESSAGE_TOO_LARGE. The message is larger than the receiver accepts.
	CodeMessageTooLarge Code = 4017
	// CodeMessageTooDeep is candor/MESSAGE_TOO_DEEP. The message is nested too deeply.
	CodeMessageTooDeep Code = 4018
	// CodeBatchUnsupported is candor/BATCH_UNSUPPORTED. Batches are not supported.
	CodeBatchUnsupported Code = 4019
	// CodeDuplicateRequestID is candor/DUPLICATE_REQUEST_ID. A request with this id is still open.
	CodeDuplicateRequestID Code = 4020
	// CodeNotInitialized is candor/NOT_INITIALIZED. The connection has not been initialized.
	CodeNotInitialized Code = 4021
	// CodeHeaderMismatch is candor/HEADER_MISMATCH. A header does not agree with the body of the request.
	CodeHeaderMismatch Code = 4022
	// CodeCapabilityRequired is candor/CAPABILITY_REQUIRED. The request needs a client capability that was not declared.
	CodeCapabilityRequired Code = 4023
	// CodeProtocolVersionUnsupported is candor/PROTOCOL_VERSION_UNSUPPORTED. The protocol version is not supported.
	CodeProtocolVersionUnsupported Code = 4024
	// CodeMalformedMessage is candor/MALFORMED_MESSAGE. The message is not a request, a notification or a response.
	CodeMalformedMessage Code = 4025
	// CodeStrayAnswer is candor/STRAY_ANSWER. The answer does not belong to an open call.
	CodeStrayAnswer Code = 4026
	// CodeUnauthenticated is candor/UNAUTHENTICATED. The caller is not signed in.
	CodeUnauthenticated Code = 4030
	// CodePermissionDenied is candor/PERMISSION_DENIED. The caller may not do this.
	CodePermissionDenied Code = 4031
	// CodeNotFound is candor/NOT_FOUND. The requested object does not exist.
	CodeNotFound Code = 4032
	// CodeAlreadyExists is candor/ALREADY_EXISTS. The object to create already exists.
	CodeAlreadyExists Code = 4033
	// CodeConflict is candor/CONFLICT. The state has changed since it was read.
	CodeConflict Code = 4034
	// CodePreconditionFailed is candor/PRECONDITION_FAILED. Something else has to happen first.
	CodePreconditionFailed Code = 4035
	// CodeConfigurationMissing is candor/CONFIGURATION_MISSING. The server lacks a setting that it needs.
	CodeConfigurationMissing Code = 4036
	// CodeDependencyMissing is candor/DEPENDENCY_MISSING. A program or library that the tool needs is not installed.
	CodeDependencyMissing Code = 4037
	// CodePaymentRequired is candor/PAYMENT_REQUIRED. The service asks for payment first.
	CodePaymentRequired Code = 4038
	// CodeRateLimited is candor/RATE_LIMITED. Too many calls in a short time.
	CodeRateLimited Code = 4039
	// CodeQuotaExceeded is candor/QUOTA_EXCEEDED. The quota is used up.
	CodeQuotaExceeded Code = 4040
	// CodeTimeout is candor/TIMEOUT. No answer came in time.
	CodeTimeout Code = 4041
	// CodeCancelled is candor/CANCELLED. The call was cancelled.
	CodeCancelled Code = 4042
	// CodeTooLarge is candor/TOO_LARGE. The input or the result is too large.
	CodeTooLarge Code = 4043
	// CodeUnsupported is candor/UNSUPPORTED. This is not supported here.
	CodeUnsupported Code = 4044
	// CodeUnavailable is candor/UNAVAILABLE. The service is not available at the moment.
	CodeUnavailable Code = 4045
	// CodeDataCorrupt is candor/DATA_CORRUPT. Stored data is damaged.
	CodeDataCorrupt Code = 4046
	// CodeDiskFull is candor/DISK_FULL. There is no space left to store the data.
	CodeDiskFull Code = 4047
	// CodeUpstreamUnreachable is candor/UPSTREAM_UNREACHABLE. The service behind the tool could not be reached.
	CodeUpstreamUnreachable Code = 4050
	// CodeUpstreamTimeout is candor/UPSTREAM_TIMEOUT. The service behind the tool did not answer in time.
	CodeUpstreamTimeout Code = 4051
	// CodeUpstreamUnauthenticated is candor/UPSTREAM_UNAUTHENTICATED. The service behind the tool did not accept the credentials.
	CodeUpstreamUnauthenticated Code = 4052
	// CodeUpstreamForbidden is candor/UPSTREAM_FORBIDDEN. The service behind the tool does not permit this.
	CodeUpstreamForbidden Code = 4053
	// CodeUpstreamNotFound is candor/UPSTREAM_NOT_FOUND. The service behind the tool did not find this.
	CodeUpstreamNotFound Code = 4054
	// CodeUpstreamConflict is candor/UPSTREAM_CONFLICT. The service behind the tool reports a conflict.
	CodeUpstreamConflict Code = 4055
	// CodeUpstreamRejected is candor/UPSTREAM_REJECTED. The service behind the tool rejected the request.
	CodeUpstreamRejected Code = 4056
	// CodeUpstreamRateLimited is candor/UPSTREAM_RATE_LIMITED. The service behind the tool limits the rate of calls.
	CodeUpstreamRateLimited Code = 4057
	// CodeUpstreamError is candor/UPSTREAM_ERROR. The service behind the tool failed.
	CodeUpstreamError Code = 4058
	// CodeUpstreamUnavailable is candor/UPSTREAM_UNAVAILABLE. The service behind the tool is not available.
	CodeUpstreamUnavailable Code = 4059
	// CodeUpstreamBadResponse is candor/UPSTREAM_BAD_RESPONSE. The service behind the tool sent an unreadable answer.
	CodeUpstreamBadResponse Code = 4060
	// CodeUpstreamGone is candor/UPSTREAM_GONE. The server exited or disconnected during the call.
	CodeUpstreamGone Code = 4065
	// CodeUpstreamMalformed is candor/UPSTREAM_MALFORMED. The server answered with an invalid message.
	CodeUpstreamMalformed Code = 4066
	// CodeCallTimeout is candor/CALL_TIMEOUT. The call did not finish before its deadline.
	CodeCallTimeout Code = 4067
	// CodeCircuitOpen is candor/CIRCUIT_OPEN. The server failed too often and is not called for a while.
	CodeCircuitOpen Code = 4068
	// CodeRetryExhausted is candor/RETRY_EXHAUSTED. All permitted attempts of the call failed.
	CodeRetryExhausted Code = 4069
	// CodeRepeatedFailure is candor/REPEATED_FAILURE. This call keeps failing in the same way.
	CodeRepeatedFailure Code = 4070
	// CodeTooManyCalls is candor/TOO_MANY_CALLS. Too many calls are open.
	CodeTooManyCalls Code = 4071
	// CodeTooManySessions is candor/TOO_MANY_SESSIONS. Too many sessions are open.
	CodeTooManySessions Code = 4072
	// CodeGatewayDraining is candor/GATEWAY_DRAINING. The gateway is shutting down.
	CodeGatewayDraining Code = 4073
	// CodeHostRefused is candor/HOST_REFUSED. This server does not accept the Host header.
	CodeHostRefused Code = 4074
	// CodeOriginRefused is candor/ORIGIN_REFUSED. Requests from this origin are not allowed.
	CodeOriginRefused Code = 4075
	// CodeTokenRequired is candor/TOKEN_REQUIRED. An access token is required.
	CodeTokenRequired Code = 4076
	// CodeMethodNotAllowed is candor/METHOD_NOT_ALLOWED. The HTTP method is not allowed here.
	CodeMethodNotAllowed Code = 4077
	// CodeMediaTypeUnsupported is candor/MEDIA_TYPE_UNSUPPORTED. The content type is not supported.
	CodeMediaTypeUnsupported Code = 4078
	// CodeConfigInvalid is candor/CONFIG_INVALID. The configuration is not valid.
	CodeConfigInvalid Code = 4079
	// CodeProbeTargetUnreachable is candor/PROBE_TARGET_UNREACHABLE. The server to be probed does not answer.
	CodeProbeTargetUnreachable Code = 4085
	// CodeProbeUnsafeCall is candor/PROBE_UNSAFE_CALL. The probe does not make calls that could change something.
	CodeProbeUnsafeCall Code = 4086
	// CodeLedgerDamaged is candor/LEDGER_DAMAGED. The ledger is damaged.
	CodeLedgerDamaged Code = 4090
	// CodeLedgerFailed is candor/AUDIT_LOG_FAILED. The ledger could not be written, so the call was not made.
	CodeLedgerFailed Code = 4091
	// CodeLedgerLocked is candor/AUDIT_LOCK_FAILED. The ledger is held by another writer, so the call was not made.
	CodeLedgerLocked Code = 4092
)

// Codes of other domains that this package uses.
const (
	// codeFileNotFound is kaiza/FILE_NOT_FOUND. The file does not exist.
	codeFileNotFound Code = 3214
	// codeFileAlreadyExists is kaiza/FILE_ALREADY_EXISTS. The file already exists.
	codeFileAlreadyExists Code = 3215
	// codeInvalidPath is kaiza/INVALID_PATH. The path is malformed.
	codeInvalidPath Code = 3210
	// codeInsufficientPermissions is kaiza/INSUFFICIENT_PERMISSIONS. The caller lacks a permission that this action needs.
	codeInsufficientPermissions Code = 3208
	// codeInvalidInputType is kaiza/INVALID_INPUT_TYPE. An argument has the wrong type.
	codeInvalidInputType Code = 3203
	// codeInvalidInputFormat is kaiza/INVALID_INPUT_FORMAT. An argument is malformed.
	codeInvalidInputFormat Code = 3204
)

// catalogue has a row per code, in the order of numbers. Row 0 belongs to all codes that are not registered.
var catalogue = [...]codeInfo{
	{},
	{
		symbol: "E_INVALID_PARAMS", domain: "common", number: 1000,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Invalid parameters",
		action:  "Correct the parameters named in this error and send a new call.",
	},
	{
		symbol: "E_TIMEOUT", domain: "common", number: 1001,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "Operation timed out",
		action:  "Wait a second and send the same call again; if it keeps timing out, request less work per call.",
	},
	{
		symbol: "E_LIMIT_EXCEEDED", domain: "common", number: 1002,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Limit exceeded",
		action:  "Stay below the limit named in this error: close sessions that are no longer needed, or send less.",
	},
	{
		symbol: "E_NOT_INSTALLED", domain: "common", number: 1003,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Dependency not installed",
		action:  "Ask the operator to install the dependency named in this error, or use a tool that does not need it.",
	},
	{
		symbol: "E_SESSION_NOT_FOUND", domain: "common", number: 1004,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Session not found",
		action:  "Open a new session and use the id it returns.",
	},
	{
		symbol: "E_INPUT_TOO_LARGE", domain: "common", number: 1005,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Input too large",
		action:  "Shorten the input to the size named in this error, or split it into several calls.",
	},
	{
		symbol: "E_UNSUPPORTED", domain: "common", number: 1006,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Unsupported operation",
		action:  "Use one of the methods that the server lists.",
	},
	{
		symbol: "E_PY_EXEC_FAIL", domain: "python", number: 2000,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_PY_EXEC_FAILED"},
		message: "The Python code ended with an error.",
		action:  "Read the error, fix the code and send the corrected version.",
	},
	{
		symbol: "E_PY_SECURITY", domain: "python", number: 2001,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The Python code uses something the sandbox forbids.",
		action:  "Remove the forbidden import or operation named in this error and send the code again.",
	},
	{
		symbol: "E_PY_TIMEOUT", domain: "python", number: 2002,
		class: ClassTimeout, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The Python code ran longer than allowed and was stopped.",
		action:  "Make the code do less work per call, or ask for a longer limit where the tool offers one.",
	},
	{
		symbol: "E_PY_SCRIPT_NOT_FOUND", domain: "python", number: 2003,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No Python script has this name.",
		action:  "List the scripts the server offers and name one of them.",
	},
	{
		symbol: "E_PY_INVALID_PARAMS", domain: "python", number: 2004,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The parameters for the Python run are invalid.",
		action:  "Correct the parameters named in this error and send a new call.",
	},
	{
		symbol: "E_PW_NAV", domain: "playwright", number: 2100,
		class: ClassUnavailable, retry: Retry{kind: 1}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_PW_NAVIGATION"},
		message: "Navigation failed",
		action:  "Send the call again; if it fails once more, check that the address is right and reachable.",
	},
	{
		symbol: "E_PW_LAUNCH", domain: "playwright", number: 2101,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		aliases: []string{"E_PW_BROWSER_LAUNCH"},
		message: "Playwright could not start a browser.",
		action:  "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.",
	},
	{
		symbol: "E_PW_TIMEOUT", domain: "playwright", number: 2102,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "Playwright did not finish the step in time.",
		action:  "Wait a second and send the call again, or wait for something that appears earlier on the page.",
	},
	{
		symbol: "E_PW_INVALID_SELECTOR", domain: "playwright", number: 2103,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Playwright cannot use this selector.",
		action:  "Correct the selector and send a new call.",
	},
	{
		symbol: "E_PT_NAV", domain: "puppeteer", number: 2200,
		class: ClassUnavailable, retry: Retry{kind: 1}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_PT_NAVIGATION"},
		message: "Navigation failed",
		action:  "Send the call again; if it fails once more, check that the address is right and reachable.",
	},
	{
		symbol: "E_PT_LAUNCH", domain: "puppeteer", number: 2201,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		aliases: []string{"E_PT_BROWSER_LAUNCH"},
		message: "Puppeteer could not start a browser.",
		action:  "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.",
	},
	{
		symbol: "E_PT_TIMEOUT", domain: "puppeteer", number: 2202,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "Puppeteer did not finish the step in time.",
		action:  "Wait a second and send the call again, or wait for something that appears earlier on the page.",
	},
	{
		symbol: "E_PT_INVALID_SELECTOR", domain: "puppeteer", number: 2203,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Puppeteer cannot use this selector.",
		action:  "Correct the selector and send a new call.",
	},
	{
		symbol: "E_MB_FILE_NOT_FOUND", domain: "memory-bank", number: 2300,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The memory bank has no such file.",
		action:  "List the files of the memory bank and name one of them.",
	},
	{
		symbol: "E_MB_READ", domain: "memory-bank", number: 2301,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A file of the memory bank could not be read.",
		action:  "Report it to the operator with the reference; read another file meanwhile.",
	},
	{
		symbol: "E_KG_FULL", domain: "kg", number: 2400,
		class: ClassUnavailable, retry: Retry{kind: 1}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The knowledge graph is full.",
		action:  "Send the call again, because other callers remove triples too; if it stays full, remove some yourself.",
	},
	{
		symbol: "E_KG_INVALID_TRIPLE", domain: "kg", number: 2401,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The triple has a part that cannot be stored.",
		action:  "Give subject, predicate and object as non-empty texts and send a new call.",
	},
	{
		symbol: "E_FS_PATH_ESCAPE", domain: "filesystem", number: 2500,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The path leads outside the permitted folder.",
		action:  "Name a path below the root folder, without leaving it through \"..\", an absolute path or a link.",
	},
	{
		symbol: "E_FS_DENIED", domain: "filesystem", number: 2501,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The policy does not allow this file operation.",
		action:  "Choose a path the write policy allows, or ask the operator to widen it.",
	},
	{
		symbol: "E_FS_NOT_FOUND", domain: "filesystem", number: 2502,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No file or folder exists at this path.",
		action:  "List the parent folder and name something that exists.",
	},
	{
		symbol: "E_FS_WRITE_TOO_LARGE", domain: "filesystem", number: 2503,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The content to write is larger than allowed.",
		action:  "Shorten the content to the size named in this error, or split it into several files.",
	},
	{
		symbol: "E_SQL_CONN", domain: "sql", number: 2600,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The database could not be reached.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_SQL_QUERY", domain: "sql", number: 2601,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The database rejected the query.",
		action:  "Read why the database rejected it, correct the query and send the new one.",
	},
	{
		symbol: "E_NOTION_AUTH", domain: "notion", number: 2700,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Notion did not accept the credentials.",
		action:  "Ask the operator for a valid Notion token and for access to the page.",
	},
	{
		symbol: "E_NOTION_RATE", domain: "notion", number: 2701,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "Notion limits the rate of calls.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "E_NOTION_NOT_FOUND", domain: "notion", number: 2702,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Notion has nothing under this id, or the integration may not see it.",
		action:  "Correct the id, or ask the operator to share the page or database with the integration.",
	},
	{
		symbol: "E_NOTION_NETWORK", domain: "notion", number: 2703,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "Notion could not be reached.",
		action:  "Wait a second and send the call again.",
	},
	{
		symbol: "E_NOTION_HTTP", domain: "notion", number: 2704,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "Notion answered with an error.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_NOTION_PARSE", domain: "notion", number: 2705,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The answer from Notion could not be read.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_TAVILY_HTTP", domain: "tavily", number: 2800,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_HTTP"},
		message: "Tavily answered with an error.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_TAVILY_RATE", domain: "tavily", number: 2801,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_QUOTA"},
		message: "Tavily limits the rate of searches.",
		action:  "Wait as long as the retry advice says, then send the same search again.",
	},
	{
		symbol: "E_TAVILY_AUTH_MISSING", domain: "tavily", number: 2802,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_AUTH_MISSING"},
		message: "No Tavily key is configured.",
		action:  "Ask the operator to configure a Tavily key for this server.",
	},
	{
		symbol: "E_TAVILY_AUTH_FAILED", domain: "tavily", number: 2803,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_AUTH_FAILED"},
		message: "Tavily did not accept the key.",
		action:  "Ask the operator to replace the Tavily key.",
	},
	{
		symbol: "E_TAVILY_NETWORK", domain: "tavily", number: 2804,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_NETWORK"},
		message: "Tavily could not be reached.",
		action:  "Wait a second and send the same search again.",
	},
	{
		symbol: "E_TAVILY_INVALID_PARAMS", domain: "tavily", number: 2805,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_INVALID_PARAMS"},
		message: "The search parameters are invalid.",
		action:  "Correct the parameters named in this error and send a new search.",
	},
	{
		symbol: "E_TAVILY_PARSE", domain: "tavily", number: 2806,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		aliases: []string{"E_TV_PARSE"},
		message: "The answer from Tavily could not be read.",
		action:  "Wait a second and send the same search again; if it persists, tell the operator.",
	},
	{
		symbol: "E_MISC", domain: "misc", number: 2900,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusReserved,
		message: "The failure does not have its own code yet.",
		action:  "Report it with the reference, so that it can be given a code.",
	},
	{
		symbol: "E_RL_EXCEEDED", domain: "rate-limit", number: 3000,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Too many calls arrived in a short time.",
		action:  "Wait as long as the retry advice says, then send the same call again, and space later calls out.",
	},
	{
		symbol: "E_GH_AUTH_MISSING", domain: "github", number: 3100,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No GitHub token is configured.",
		action:  "Ask the operator to configure a GitHub token for this server.",
	},
	{
		symbol: "E_GH_AUTH_FAILED", domain: "github", number: 3101,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "GitHub did not accept the token.",
		action:  "Ask the operator for a token that is valid and has the needed scopes.",
	},
	{
		symbol: "E_GH_NETWORK", domain: "github", number: 3102,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "GitHub could not be reached.",
		action:  "Wait a second and send the call again.",
	},
	{
		symbol: "E_GH_HTTP", domain: "github", number: 3103,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "GitHub answered with an error.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_GH_RATE_LIMIT", domain: "github", number: 3104,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 60000}, since: "0.1.0", status: statusActive,
		message: "GitHub limits the rate of calls.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "E_GH_NOT_FOUND", domain: "github", number: 3105,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "GitHub has nothing under this name, or the token may not see it.",
		action:  "Correct the owner, repository or number, or ask for a token that can see it.",
	},
	{
		symbol: "E_GH_PARSE", domain: "github", number: 3106,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The answer from GitHub could not be read.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "SESSION_NOT_INITIALIZED", domain: "kaiza", number: 3200,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No session has been started.",
		action:  "Call begin_session with the absolute path of the workspace first, then make this call.",
	},
	{
		symbol: "SESSION_LOCKED", domain: "kaiza", number: 3201,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The session is locked because an earlier call failed.",
		action:  "Write a failure report below docs/reports/ with write_file; that unlocks the session. If you cannot, ask the operator to run candor workbench unlock.",
	},
	{
		symbol: "SESSION_INITIALIZATION_FAILED", domain: "kaiza", number: 3202,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The session could not be set up.",
		action:  "Tell the operator, with the reference; the server itself stays usable for a new begin_session.",
	},
	{
		symbol: "INVALID_INPUT_TYPE", domain: "kaiza", number: 3203,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "An argument has the wrong type.",
		action:  "Change the argument named in this error to the expected type and make a new call.",
	},
	{
		symbol: "INVALID_INPUT_FORMAT", domain: "kaiza", number: 3204,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"INVALID_JSON"},
		message: "An argument is malformed.",
		action:  "Send the arguments as one JSON object in the form the tool describes.",
	},
	{
		symbol: "INVALID_INPUT_VALUE", domain: "kaiza", number: 3205,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "An argument has a value that is not allowed.",
		action:  "Choose an allowed value for the argument named in this error and make a new call.",
	},
	{
		symbol: "MISSING_REQUIRED_FIELD", domain: "kaiza", number: 3206,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A required argument is missing.",
		action:  "Add the argument named in this error and make a new call.",
	},
	{
		symbol: "UNAUTHORIZED_ACTION", domain: "kaiza", number: 3207,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The current role may not do this.",
		action:  "Check the role and permissions of the session; use a tool meant for this role, or have a session with the right role do it.",
	},
	{
		symbol: "INSUFFICIENT_PERMISSIONS", domain: "kaiza", number: 3208,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The caller lacks a permission that this action needs.",
		action:  "Ask for the permission named in this error, or choose an action that needs less.",
	},
	{
		symbol: "ROLE_MISMATCH", domain: "kaiza", number: 3209,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The role named in the call is not the role of the session.",
		action:  "Omit the role, or begin a session with the role you need.",
	},
	{
		symbol: "INVALID_PATH", domain: "kaiza", number: 3210,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The path is malformed.",
		action:  "Use a path that this tool accepts: list the folder first, and name a path from that list.",
	},
	{
		symbol: "PATH_NOT_FOUND", domain: "kaiza", number: 3211,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A folder of this path does not exist.",
		action:  "List the parent folder and name a path that exists, or create the folder before using it.",
	},
	{
		symbol: "PATH_TRAVERSAL_BLOCKED", domain: "kaiza", number: 3212,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The path leaves its folder through \"..\".",
		action:  "Name the path without \"..\" segments.",
	},
	{
		symbol: "OUTSIDE_WORKSPACE", domain: "kaiza", number: 3213,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"PATH_ESCAPE"},
		message: "The path lies outside the workspace.",
		action:  "Name a path inside the workspace, or begin a session in the workspace that holds it.",
	},
	{
		symbol: "FILE_NOT_FOUND", domain: "kaiza", number: 3214,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The file does not exist.",
		action:  "List the folder and name a file that exists.",
	},
	{
		symbol: "FILE_ALREADY_EXISTS", domain: "kaiza", number: 3215,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The file already exists.",
		action:  "Read the file, then change it by a patch, or choose another name.",
	},
	{
		symbol: "FILE_READ_FAILED", domain: "kaiza", number: 3216,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The file could not be read.",
		action:  "Tell the operator, with the reference; continue with other files.",
	},
	{
		symbol: "FILE_WRITE_FAILED", domain: "kaiza", number: 3217,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The file could not be written.",
		action:  "Tell the operator, with the reference; the old content is still in place.",
	},
	{
		symbol: "PATCH_INVALID", domain: "kaiza", number: 3218,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The patch is malformed.",
		action:  "Create the patch again as a unified diff against the current file.",
	},
	{
		symbol: "PATCH_APPLY_FAILED", domain: "kaiza", number: 3219,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The patch does not fit the current file.",
		action:  "Read the file again and create the patch against its current content.",
	},
	{
		symbol: "HASH_MISMATCH", domain: "kaiza", number: 3220,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The file has changed since it was read.",
		action:  "Read the file again, redo the change on the new content and give its hash.",
	},
	{
		symbol: "PLAN_NOT_FOUND", domain: "kaiza", number: 3221,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No plan has this hash.",
		action:  "List the plans and use the hash of one of them, or have a plan written.",
	},
	{
		symbol: "PLAN_NOT_APPROVED", domain: "kaiza", number: 3222,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The plan is not approved.",
		action:  "Verify that the plan is approved: its header must carry the approved status and its hash. If it does not, ask for approval.",
	},
	{
		symbol: "PLAN_ENFORCEMENT_FAILED", domain: "kaiza", number: 3223,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		aliases: []string{"SIGNATURE_MISMATCH"},
		message: "The plan does not match its own hash.",
		action:  "Use the plan as it was approved, or have the changed plan approved under its new hash.",
	},
	{
		symbol: "PLAN_SCOPE_VIOLATION", domain: "kaiza", number: 3224,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The plan does not cover this file.",
		action:  "Stay within the scope of the plan, or have a plan approved that covers the file.",
	},
	{
		symbol: "POLICY_VIOLATION", domain: "kaiza", number: 3225,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The change breaks a policy of the workspace.",
		action:  "Change the content so that it keeps the rule named in this error, then write it.",
	},
	{
		symbol: "RUST_POLICY_VIOLATION", domain: "kaiza", number: 3226,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The Rust code breaks a policy of the workspace.",
		action:  "Replace the forbidden construct named in this error, then write the file.",
	},
	{
		symbol: "PREFLIGHT_FAILED", domain: "kaiza", number: 3227,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The checks failed after the change, and it was undone.",
		action:  "Read the output of the checks, fix what they found and write the corrected content.",
	},
	{
		symbol: "INVARIANT_VIOLATION", domain: "kaiza", number: 3228,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A rule that must always hold was broken.",
		action:  "Stop, and report the invariant that this error names, with the reference.",
	},
	{
		symbol: "BOOTSTRAP_FAILURE", domain: "kaiza", number: 3229,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The workspace could not be opened.",
		action:  "Call begin_session with the absolute path of an existing folder that no other session holds.",
	},
	{
		symbol: "SELF_AUDIT_FAILURE", domain: "kaiza", number: 3230,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The server failed its self-check and refuses all calls.",
		action:  "Tell the operator; the fault must be repaired and the server restarted.",
	},
	{
		symbol: "AUDIT_LOG_FAILED", domain: "kaiza", number: 3231,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		aliases: []string{"AUDIT_APPEND_FAILED"},
		message: "The audit trail could not be written, so nothing was done.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "AUDIT_LOCK_FAILED", domain: "kaiza", number: 3232,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The audit trail is locked by another writer, so nothing was done.",
		action:  "Wait a second and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "INTERNAL_ERROR", domain: "kaiza", number: 3233,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The workspace server met an unexpected error.",
		action:  "Report it with the reference; the ledger holds what happened.",
	},
	{
		symbol: "UNKNOWN_TOOL_FAILURE", domain: "kaiza", number: 3234,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The workspace tool failed without saying why.",
		action:  "Report it with the reference, and check the state before you continue.",
	},
	{
		symbol: "VALIDATION_ERROR", domain: "workrail", number: 3300,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The input of the workflow tool is not valid.",
		action:  "Correct all fields listed in this error and make a new call.",
	},
	{
		symbol: "NOT_FOUND", domain: "workrail", number: 3301,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No workflow or session has this id.",
		action:  "Call list_workflows and use an id from its answer.",
	},
	{
		symbol: "PRECONDITION_FAILED", domain: "workrail", number: 3302,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The workflow is not in a state that allows this.",
		action:  "Do what this error asks for, or start the workflow again with start_workflow.",
	},
	{
		symbol: "TIMEOUT", domain: "workrail", number: 3303,
		class: ClassTimeout, retry: Retry{kind: 1}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The workflow took too long to load.",
		action:  "Send the same call again.",
	},
	{
		symbol: "INTERNAL_ERROR", domain: "workrail", number: 3304,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The workflow engine met an unexpected error.",
		action:  "Report it with the reference; the workflow is unchanged.",
	},
	{
		symbol: "TOKEN_INVALID_FORMAT", domain: "workrail", number: 3305,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The token is malformed.",
		action:  "Copy the token exactly as it was returned; tokens are opaque and cannot be edited or made up.",
	},
	{
		symbol: "TOKEN_UNSUPPORTED_VERSION", domain: "workrail", number: 3306,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The version of the token is not supported.",
		action:  "Start the workflow again with start_workflow to receive a current token.",
	},
	{
		symbol: "TOKEN_BAD_SIGNATURE", domain: "workrail", number: 3307,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The signature of the token is wrong.",
		action:  "Copy the token exactly as it was returned; if it is old, start the workflow again with start_workflow.",
	},
	{
		symbol: "TOKEN_SCOPE_MISMATCH", domain: "workrail", number: 3308,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The token cannot be used for this call.",
		action:  "Use the token that the last answer gave for this kind of call and this session.",
	},
	{
		symbol: "TOKEN_UNKNOWN_NODE", domain: "workrail", number: 3309,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No stored workflow state belongs to this token.",
		action:  "Start the workflow again with start_workflow.",
	},
	{
		symbol: "TOKEN_WORKFLOW_HASH_MISMATCH", domain: "workrail", number: 3310,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The workflow has changed since the token was issued.",
		action:  "Start the workflow again with start_workflow, which pins the current version.",
	},
	{
		symbol: "TOKEN_SESSION_LOCKED", domain: "workrail", number: 3311,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Another operation is changing this session.",
		action:  "Wait a second and send the same call again.",
	},
	{
		symbol: "SESSION_NOT_HEALTHY", domain: "workrail", number: 3312,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The stored data of this session is damaged.",
		action:  "Stop using the session: export a read-only view of what is left, and start the workflow again.",
	},
	{
		symbol: "USER_ONLY_DEPENDENCY", domain: "blockers", number: 3400,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The step waits for something only a person can provide.",
		action:  "Let the user answer, in the client or with the command that the blocker names, and continue with the retry token.",
	},
	{
		symbol: "MISSING_REQUIRED_OUTPUT", domain: "blockers", number: 3401,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The step requires an output that was not given.",
		action:  "Add the required output and continue with the retry token from the answer.",
	},
	{
		symbol: "INVALID_REQUIRED_OUTPUT", domain: "blockers", number: 3402,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The output does not meet the contract of the step.",
		action:  "Correct the output as the blocker says and continue with the retry token from the answer.",
	},
	{
		symbol: "MISSING_REQUIRED_NOTES", domain: "blockers", number: 3403,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The step requires notes that were not given.",
		action:  "Write the notes for the step and continue with the retry token from the answer.",
	},
	{
		symbol: "MISSING_CONTEXT_KEY", domain: "blockers", number: 3404,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The context lacks a key that the step needs.",
		action:  "Add the named key to the context and continue with the retry token from the answer.",
	},
	{
		symbol: "CONTEXT_BUDGET_EXCEEDED", domain: "blockers", number: 3405,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The context is larger than the workflow allows.",
		action:  "Shorten the context below the limit named in the blocker and continue with the retry token.",
	},
	{
		symbol: "REQUIRED_CAPABILITY_UNKNOWN", domain: "blockers", number: 3406,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "It is unknown whether a capability that the step needs is available.",
		action:  "Find out whether the capability is available and state it in the context.",
	},
	{
		symbol: "REQUIRED_CAPABILITY_UNAVAILABLE", domain: "blockers", number: 3407,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A capability the step needs is not available here.",
		action:  "Choose a workflow that does not need the capability, or run this one where it is available.",
	},
	{
		symbol: "INVARIANT_VIOLATION", domain: "blockers", number: 3408,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The step would break a rule of the workflow engine.",
		action:  "Report it with the reference; the workflow is unchanged.",
	},
	{
		symbol: "STORAGE_CORRUPTION_DETECTED", domain: "blockers", number: 3409,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The stored state of this step is damaged.",
		action:  "Stop using this run, export what is left and start the workflow again.",
	},
	{
		symbol: "INVALID_PARAMS", domain: "dual", number: 3500,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The parameters of the tool are not valid.",
		action:  "Correct the fields listed in this error and make a new call.",
	},
	{
		symbol: "HANDLER_ERROR", domain: "dual", number: 3501,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The tool failed while handling the call.",
		action:  "Report it with the reference; if this error names a more exact code, act on that one.",
	},
	{
		symbol: "ERR_VALIDATION", domain: "dual", number: 3502,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The task is not valid.",
		action:  "Correct the fields named in this error and send the call again.",
	},
	{
		symbol: "ERR_NOT_FOUND", domain: "dual", number: 3503,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No task has this id.",
		action:  "List the tasks with task_list and use the id of one of them, or create one with task_create.",
	},
	{
		symbol: "ERR_WRITEBACK_REQUIRED", domain: "dual", number: 3504,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The task cannot be finished before its thoughts are recorded.",
		action:  "Record at least one thought for the task with thought_record first, then set it to DONE.",
	},
	{
		symbol: "ERR_INVALID_TRANSITION", domain: "dual", number: 3505,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The task cannot change from its current status to this one.",
		action:  "Choose one of the allowed statuses listed in this error.",
	},
	{
		symbol: "ERR_SESSION_EXISTS", domain: "dual", number: 3506,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A session with this id already exists.",
		action:  "Use another session id, or omit it to get a new one.",
	},
	{
		symbol: "ERR_SESSION_NOT_FOUND", domain: "dual", number: 3507,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No recorded session has this id.",
		action:  "Start a session with audit_session_start and use the id it returns.",
	},
	{
		symbol: "ERR_ALREADY_FINALIZED", domain: "dual", number: 3508,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The session is already finalized.",
		action:  "Read its root with merkle_root; a finalized session takes no more records.",
	},
	{
		symbol: "ERR_NO_RECORDS", domain: "dual", number: 3509,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The session holds no records to finalize.",
		action:  "Record at least one thought with the id of this session and finalize it then, or abandon the empty session.",
	},
	{
		symbol: "ERR_NOT_FINALIZED", domain: "dual", number: 3510,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The session is not finalized yet.",
		action:  "Finalize the session with merkle_finalize before asking for its root; if it does not exist, start one with audit_session_start.",
	},
	{
		symbol: "ROUND_NOT_FOUND", domain: "dual", number: 3511,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No round of votes has this id.",
		action:  "List the rounds with consensus_gossip and use the id of one of them, or propose one with consensus_propose.",
	},
	{
		symbol: "ALREADY_VOTED", domain: "dual", number: 3512,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "This voter has already voted in this round.",
		action:  "Read the state of the round with consensus_finality; the first vote counts.",
	},
	{
		symbol: "INVALID_KEY", domain: "dual", number: 3513,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The key is not valid.",
		action:  "Give the key as hexadecimal text of the length the tool describes.",
	},
	{
		symbol: "FALLBACK_CHAIN_EXHAUSTED", domain: "dual", number: 3514,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		aliases: []string{"FallbackChainExhaustedError"},
		message: "Every route of the fallback chain failed.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "TOOL_NOT_ADMITTED", domain: "dual", number: 3515,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		aliases: []string{"ToolNotAdmittedError"},
		message: "The mode of the server does not permit this tool.",
		action:  "Use a tool that the current mode permits, or ask the operator to change the mode.",
	},
	{
		symbol: "TOOL_LOCK_TIMEOUT", domain: "dual", number: 3516,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 500}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The tool was busy with another call for too long.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "DB_BUSY", domain: "dual", number: 3517,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 250}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The database is busy.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "DB_FULL", domain: "dual", number: 3518,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The database is full.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
	},
	{
		symbol: "UNIQUE_VIOLATION", domain: "dual", number: 3519,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A record with this identity already exists.",
		action:  "Read the existing record, or use another identity.",
	},
	{
		symbol: "INTERNAL_ERROR", domain: "candor", number: 4000, rpc: -32603,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "An unexpected error occurred.",
		action:  "Report it with the reference; the ledger holds what happened.",
	},
	{
		symbol: "UNKNOWN_TOOL_FAILURE", domain: "candor", number: 4001,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The tool reported a failure without saying why.",
		action:  "Read the tool's own message, and report it with the reference.",
	},
	{
		symbol: "UNCODED_ERROR", domain: "candor", number: 4002,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The server reported an error without a registered code.",
		action:  "Report it to the author of the server, with the reference.",
	},
	{
		symbol: "MASKED_FAILURE", domain: "candor", number: 4003,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The answer was marked as a success but describes a failure.",
		action:  "Treat the call as failed and read the answer for its reason; report the tool to its author.",
	},
	{
		symbol: "PARSE_ERROR", domain: "candor", number: 4005, rpc: -32700,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The message is not valid JSON.",
		action:  "Send one complete JSON-RPC message in UTF-8 JSON.",
	},
	{
		symbol: "INVALID_REQUEST", domain: "candor", number: 4006, rpc: -32600,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The message is not a valid JSON-RPC request.",
		action:  "Send an object with jsonrpc \"2.0\", a method name and an id that is a text or a whole number.",
	},
	{
		symbol: "METHOD_NOT_FOUND", domain: "candor", number: 4007, rpc: -32601,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The server does not offer this method.",
		action:  "Use only methods of the capabilities that the server announced.",
	},
	{
		symbol: "INVALID_REQUEST_PARAMS", domain: "candor", number: 4008, rpc: -32602,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The parameters of the request are invalid for its method.",
		action:  "Correct the parameters named in this error and send a new request.",
	},
	{
		symbol: "TOOL_NOT_FOUND", domain: "candor", number: 4009, rpc: -32602,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "No tool has this name.",
		action:  "Call tools/list and use a name from its answer.",
	},
	{
		symbol: "RESOURCE_NOT_FOUND", domain: "candor", number: 4010, rpc: -32602,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No resource has this URI.",
		action:  "Call resources/list and use a URI from its answer.",
	},
	{
		symbol: "PROMPT_NOT_FOUND", domain: "candor", number: 4011, rpc: -32602,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "No prompt has this name.",
		action:  "Call prompts/list and use a name from its answer.",
	},
	{
		symbol: "INVALID_CURSOR", domain: "candor", number: 4012, rpc: -32602,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The page cursor is not valid.",
		action:  "Start the list again without a cursor.",
	},
	{
		symbol: "INVALID_ARGUMENTS", domain: "candor", number: 4013,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The arguments do not match the input schema of the tool.",
		action:  "Correct the arguments and make a new call.",
	},
	{
		symbol: "OUTPUT_INVALID", domain: "candor", number: 4014,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The result of the tool does not match its output schema.",
		action:  "Report it to the author of the server; the tool may have had its effect already.",
	},
	{
		symbol: "RESULT_NOT_ENCODABLE", domain: "candor", number: 4015,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The result of the tool cannot be written as JSON.",
		action:  "Report it to the author of the server; the tool may have had its effect already.",
	},
	{
		symbol: "EMPTY_RESULT", domain: "candor", number: 4016,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The tool returned neither a result nor an error.",
		action:  "Check whether the tool took effect, and report it to the author of the server.",
	},
	{
		symbol: "MESSAGE_TOO_LARGE", domain: "candor", number: 4017, rpc: -32600,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The message is larger than the receiver accepts.",
		action:  "Send less in one message.",
	},
	{
		symbol: "MESSAGE_TOO_DEEP", domain: "candor", number: 4018, rpc: -32600,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The message is nested too deeply.",
		action:  "Send a flatter structure.",
	},
	{
		symbol: "BATCH_UNSUPPORTED", domain: "candor", number: 4019, rpc: -32600,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Batches are not supported.",
		action:  "Send each request as its own message.",
	},
	{
		symbol: "DUPLICATE_REQUEST_ID", domain: "candor", number: 4020, rpc: -32600,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "A request with this id is still open.",
		action:  "Use an id that no open request of this connection has.",
	},
	{
		symbol: "NOT_INITIALIZED", domain: "candor", number: 4021, rpc: -32600,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The connection has not been initialized.",
		action:  "Send initialize first, and notifications/initialized after its answer.",
	},
	{
		symbol: "HEADER_MISMATCH", domain: "candor", number: 4022, rpc: -32020,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "A header does not agree with the body of the request.",
		action:  "Send the same method, name and protocol version in the headers as in the body.",
	},
	{
		symbol: "CAPABILITY_REQUIRED", domain: "candor", number: 4023, rpc: -32021,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The request needs a client capability that was not declared.",
		action:  "Declare the capability named in this error, if the client has it, and send a new request.",
	},
	{
		symbol: "PROTOCOL_VERSION_UNSUPPORTED", domain: "candor", number: 4024, rpc: -32022,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The protocol version is not supported.",
		action:  "Use one of the supported versions listed in this error.",
	},
	{
		symbol: "MALFORMED_MESSAGE", domain: "candor", number: 4025, rpc: -32600,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The message is not a request, a notification or a response.",
		action:  "Send a request, a notification or a response, with only the members it may have.",
	},
	{
		symbol: "STRAY_ANSWER", domain: "candor", number: 4026,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The answer does not belong to an open call.",
		action:  "Report it to the author of the server, with the reference; the call is still open.",
	},
	{
		symbol: "UNAUTHENTICATED", domain: "candor", number: 4030,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The caller is not signed in.",
		action:  "Sign in, or ask the user for valid credentials.",
	},
	{
		symbol: "PERMISSION_DENIED", domain: "candor", number: 4031,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The caller may not do this.",
		action:  "Ask the user or the operator for the permission, or choose something that is allowed.",
	},
	{
		symbol: "NOT_FOUND", domain: "candor", number: 4032,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The requested object does not exist.",
		action:  "List the existing objects and name one of them.",
	},
	{
		symbol: "ALREADY_EXISTS", domain: "candor", number: 4033,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The object to create already exists.",
		action:  "Use the existing object, or choose another name.",
	},
	{
		symbol: "CONFLICT", domain: "candor", number: 4034,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The state has changed since it was read.",
		action:  "Read the current state and apply the change to it again.",
	},
	{
		symbol: "PRECONDITION_FAILED", domain: "candor", number: 4035,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Something else has to happen first.",
		action:  "Do what this error names first, then make this call.",
	},
	{
		symbol: "CONFIGURATION_MISSING", domain: "candor", number: 4036,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The server lacks a setting that it needs.",
		action:  "Ask the operator to configure the key, token or setting named in the message.",
	},
	{
		symbol: "DEPENDENCY_MISSING", domain: "candor", number: 4037,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "A program or library that the tool needs is not installed.",
		action:  "Ask the operator to install it, or use a tool that does not need it.",
	},
	{
		symbol: "PAYMENT_REQUIRED", domain: "candor", number: 4038,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The service asks for payment first.",
		action:  "Tell the user that a payment or a larger plan is needed.",
	},
	{
		symbol: "RATE_LIMITED", domain: "candor", number: 4039,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Too many calls in a short time.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "QUOTA_EXCEEDED", domain: "candor", number: 4040,
		class: ClassRateLimited, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The quota is used up.",
		action:  "Tell the user that the quota is used up; raise it, or wait for the next period.",
	},
	{
		symbol: "TIMEOUT", domain: "candor", number: 4041,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "No answer came in time.",
		action:  "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
	},
	{
		symbol: "CANCELLED", domain: "candor", number: 4042,
		class: ClassCancelled, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The call was cancelled.",
		action:  "Continue without the result; make a new call only if it is still needed.",
	},
	{
		symbol: "TOO_LARGE", domain: "candor", number: 4043,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The input or the result is too large.",
		action:  "Ask for less or send less: fewer items, a smaller range, a shorter text.",
	},
	{
		symbol: "UNSUPPORTED", domain: "candor", number: 4044,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "This is not supported here.",
		action:  "Use another approach; the tool's description lists what is supported.",
	},
	{
		symbol: "UNAVAILABLE", domain: "candor", number: 4045,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service is not available at the moment.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "DATA_CORRUPT", domain: "candor", number: 4046,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "Stored data is damaged.",
		action:  "Stop changing this data and tell the operator.",
	},
	{
		symbol: "DISK_FULL", domain: "candor", number: 4047,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		message: "There is no space left to store the data.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
	},
	{
		symbol: "UPSTREAM_UNREACHABLE", domain: "candor", number: 4050,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool could not be reached.",
		action:  "Wait as long as the retry advice says, then send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "UPSTREAM_TIMEOUT", domain: "candor", number: 4051,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool did not answer in time.",
		action:  "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
	},
	{
		symbol: "UPSTREAM_UNAUTHENTICATED", domain: "candor", number: 4052,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool did not accept the credentials.",
		action:  "Ask the operator to renew the key or token that the server uses.",
	},
	{
		symbol: "UPSTREAM_FORBIDDEN", domain: "candor", number: 4053,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool does not permit this.",
		action:  "Ask the operator to widen the access of the server, or choose something that is allowed.",
	},
	{
		symbol: "UPSTREAM_NOT_FOUND", domain: "candor", number: 4054,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool did not find this.",
		action:  "List the objects that exist there and name one of them.",
	},
	{
		symbol: "UPSTREAM_CONFLICT", domain: "candor", number: 4055,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool reports a conflict.",
		action:  "Read the current state from the service and apply the change to it again.",
	},
	{
		symbol: "UPSTREAM_REJECTED", domain: "candor", number: 4056,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool rejected the request.",
		action:  "Read the reason, correct the arguments and make a new call.",
	},
	{
		symbol: "UPSTREAM_RATE_LIMITED", domain: "candor", number: 4057,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool limits the rate of calls.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "UPSTREAM_ERROR", domain: "candor", number: 4058,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool failed.",
		action:  "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
	},
	{
		symbol: "UPSTREAM_UNAVAILABLE", domain: "candor", number: 4059,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool is not available.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "UPSTREAM_BAD_RESPONSE", domain: "candor", number: 4060,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The service behind the tool sent an unreadable answer.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "UPSTREAM_GONE", domain: "candor", number: 4065,
		class: ClassUnavailable, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The server exited or disconnected during the call.",
		action:  "Check whether the call took effect before making a new one.",
	},
	{
		symbol: "UPSTREAM_MALFORMED", domain: "candor", number: 4066,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The server answered with an invalid message.",
		action:  "Check whether the call took effect before making a new one; report the server to its author.",
	},
	{
		symbol: "CALL_TIMEOUT", domain: "candor", number: 4067,
		class: ClassTimeout, retry: Retry{}, since: "0.1.0", status: statusActive,
		message: "The call did not finish before its deadline.",
		action:  "Check whether the call took effect before making a new one; request less work per call.",
	},
	{
		symbol: "CIRCUIT_OPEN", domain: "candor", number: 4068,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The server failed too often and is not called for a while.",
		action:  "Wait as long as the retry advice says, then send the same call again, or use another tool meanwhile.",
	},
	{
		symbol: "RETRY_EXHAUSTED", domain: "candor", number: 4069,
		class: ClassUnavailable, retry: Retry{}, since: "0.1.0", status: statusReserved,
		message: "All permitted attempts of the call failed.",
		action:  "Stop calling for now, and tell the operator.",
	},
	{
		symbol: "REPEATED_FAILURE", domain: "candor", number: 4070,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "This call keeps failing in the same way.",
		action:  "Change the approach: read the earlier error and act on it, or use another tool.",
	},
	{
		symbol: "TOO_MANY_CALLS", domain: "candor", number: 4071,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Too many calls are open.",
		action:  "Wait as long as the retry advice says, then send the same call again; keep fewer calls open.",
	},
	{
		symbol: "TOO_MANY_SESSIONS", domain: "candor", number: 4072,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Too many sessions are open.",
		action:  "Wait as long as the retry advice says, then send the same call again; close sessions that are not needed.",
	},
	{
		symbol: "GATEWAY_DRAINING", domain: "candor", number: 4073,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 2000}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The gateway is shutting down.",
		action:  "Wait as long as the retry advice says, then connect again and send the same call.",
	},
	{
		symbol: "HOST_REFUSED", domain: "candor", number: 4074,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "This server does not accept the Host header.",
		action:  "Connect by a name on the list of allowed hosts, or ask the operator to add this one.",
	},
	{
		symbol: "ORIGIN_REFUSED", domain: "candor", number: 4075,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "Requests from this origin are not allowed.",
		action:  "Ask the operator to add the origin to the list of allowed ones.",
	},
	{
		symbol: "TOKEN_REQUIRED", domain: "candor", number: 4076,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "An access token is required.",
		action:  "Send the token in the Authorization header; ask the operator for one.",
	},
	{
		symbol: "METHOD_NOT_ALLOWED", domain: "candor", number: 4077,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The HTTP method is not allowed here.",
		action:  "Use a method listed in the Allow header.",
	},
	{
		symbol: "MEDIA_TYPE_UNSUPPORTED", domain: "candor", number: 4078,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: statusActive,
		effect:  "none",
		message: "The content type is not supported.",
		action:  "Send application/json, and accept both application/json and text/event-stream.",
	},
	{
		symbol: "CONFIG_INVALID", domain: "candor", number: 4079,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: statusReserved,
		message: "The configuration is not valid.",
		action:  "Correct the setting that this error names.",
	},
	{
		symbol: "PROBE_TARGET_UNREACHABLE", domain: "candor", number: 4085,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusReserved,
		message: "The server to be probed does not answer.",
		action:  "Wait as long as the retry advice says and start the probe again; if it persists, check the command or address.",
	},
	{
		symbol: "PROBE_UNSAFE_CALL", domain: "candor", number: 4086,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: statusReserved,
		effect:  "none",
		message: "The probe does not make calls that could change something.",
		action:  "Permit the tool by name if it may be called, or exclude it.",
	},
	{
		symbol: "LEDGER_DAMAGED", domain: "candor", number: 4090,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: statusReserved,
		message: "The ledger is damaged.",
		action:  "Stop writing to this chain, keep the file as evidence and tell the operator.",
	},
	{
		symbol: "AUDIT_LOG_FAILED", domain: "candor", number: 4091,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: statusActive,
		message: "The ledger could not be written, so the call was not made.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "AUDIT_LOCK_FAILED", domain: "candor", number: 4092,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: statusActive,
		message: "The ledger is held by another writer, so the call was not made.",
		action:  "Wait a second and send the same call again; if it persists, tell the operator.",
	},
}

// domains has a row per domain, in the order of numbers.
var domains = [...]Domain{
	{Name: "common", From: 1000, To: 1099, Title: "Common"},
	{Name: "python", From: 2000, To: 2099, Title: "Python execution"},
	{Name: "playwright", From: 2100, To: 2199, Title: "Playwright"},
	{Name: "puppeteer", From: 2200, To: 2299, Title: "Puppeteer"},
	{Name: "memory-bank", From: 2300, To: 2399, Title: "Memory bank"},
	{Name: "kg", From: 2400, To: 2499, Title: "Knowledge graph"},
	{Name: "filesystem", From: 2500, To: 2599, Title: "Filesystem"},
	{Name: "sql", From: 2600, To: 2699, Title: "SQL"},
	{Name: "notion", From: 2700, To: 2799, Title: "Notion"},
	{Name: "tavily", From: 2800, To: 2899, Title: "Tavily"},
	{Name: "misc", From: 2900, To: 2999, Title: "Miscellaneous"},
	{Name: "rate-limit", From: 3000, To: 3099, Title: "Rate limit"},
	{Name: "github", From: 3100, To: 3199, Title: "GitHub"},
	{Name: "kaiza", From: 3200, To: 3299, Title: "KAIZA"},
	{Name: "workrail", From: 3300, To: 3399, Title: "WorkRail"},
	{Name: "blockers", From: 3400, To: 3499, Title: "Blockers"},
	{Name: "dual", From: 3500, To: 3599, Title: "Dual envelope"},
	{Name: "candor", From: 4000, To: 4099, Title: "Candor"},
}
