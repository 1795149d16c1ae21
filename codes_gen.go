// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

package candor

// The codes of the domain candor.
var (
	// CodeInternalError is candor/INTERNAL_ERROR, number 4000. An unexpected error occurred.
	CodeInternalError = Code{131}
	// CodeUnknownToolFailure is candor/UNKNOWN_TOOL_FAILURE, number 4001. The tool reported a failure without saying why.
	CodeUnknownToolFailure = Code{132}
	// CodeUncodedError is candor/UNCODED_ERROR, number 4002. The server reported an error without a registered code.
	CodeUncodedError = Code{133}
	// CodeMaskedFailure is candor/MASKED_FAILURE, number 4003. The answer was marked as a success but describes a failure.
	CodeMaskedFailure = Code{134}
	// CodeParseError is candor/PARSE_ERROR, number 4005. The message is not valid JSON.
	CodeParseError = Code{135}
	// CodeInvalidRequest is candor/INVALID_REQUEST, number 4006. The message is not a valid JSON-RPC request.
	CodeInvalidRequest = Code{136}
	// CodeMethodNotFound is candor/METHOD_NOT_FOUND, number 4007. The server does not offer this method.
	CodeMethodNotFound = Code{137}
	// CodeInvalidRequestParams is candor/INVALID_REQUEST_PARAMS, number 4008. The parameters of the request do not fit its method.
	CodeInvalidRequestParams = Code{138}
	// CodeToolNotFound is candor/TOOL_NOT_FOUND, number 4009. No tool has this name.
	CodeToolNotFound = Code{139}
	// CodeResourceNotFound is candor/RESOURCE_NOT_FOUND, number 4010. No resource has this URI.
	CodeResourceNotFound = Code{140}
	// CodePromptNotFound is candor/PROMPT_NOT_FOUND, number 4011. No prompt has this name.
	CodePromptNotFound = Code{141}
	// CodeInvalidCursor is candor/INVALID_CURSOR, number 4012. The page cursor is not valid.
	CodeInvalidCursor = Code{142}
	// CodeInvalidArguments is candor/INVALID_ARGUMENTS, number 4013. The arguments do not fit the tool.
	CodeInvalidArguments = Code{143}
	// CodeOutputInvalid is candor/OUTPUT_INVALID, number 4014. The result of the tool breaks its own output schema.
	CodeOutputInvalid = Code{144}
	// CodeResultNotEncodable is candor/RESULT_NOT_ENCODABLE, number 4015. The result of the tool cannot be written as JSON.
	CodeResultNotEncodable = Code{145}
	// CodeEmptyResult is candor/EMPTY_RESULT, number 4016. The tool returned neither a result nor an error.
	CodeEmptyResult = Code{146}
	// CodeMessageTooLarge is candor/MESSAGE_TOO_LARGE, number 4017. The message is larger than the receiver accepts.
	CodeMessageTooLarge = Code{147}
	// CodeMessageTooDeep is candor/MESSAGE_TOO_DEEP, number 4018. The message is nested too deeply.
	CodeMessageTooDeep = Code{148}
	// CodeBatchUnsupported is candor/BATCH_UNSUPPORTED, number 4019. Batches are not supported.
	CodeBatchUnsupported = Code{149}
	// CodeDuplicateRequestID is candor/DUPLICATE_REQUEST_ID, number 4020. A request with this id is still open.
	CodeDuplicateRequestID = Code{150}
	// CodeNotInitialized is candor/NOT_INITIALIZED, number 4021. The connection has not been initialized.
	CodeNotInitialized = Code{151}
	// CodeHeaderMismatch is candor/HEADER_MISMATCH, number 4022. A header does not agree with the body of the request.
	CodeHeaderMismatch = Code{152}
	// CodeCapabilityRequired is candor/CAPABILITY_REQUIRED, number 4023. The request needs a client capability that was not declared.
	CodeCapabilityRequired = Code{153}
	// CodeProtocolVersionUnsupported is candor/PROTOCOL_VERSION_UNSUPPORTED, number 4024. The protocol version is not supported.
	CodeProtocolVersionUnsupported = Code{154}
	// CodeMalformedMessage is candor/MALFORMED_MESSAGE, number 4025. The message follows no form the protocol knows.
	CodeMalformedMessage = Code{155}
	// CodeStrayAnswer is candor/STRAY_ANSWER, number 4026. The answer belongs to no call that is open.
	CodeStrayAnswer = Code{156}
	// CodeUnauthenticated is candor/UNAUTHENTICATED, number 4030. The caller is not signed in.
	CodeUnauthenticated = Code{157}
	// CodePermissionDenied is candor/PERMISSION_DENIED, number 4031. The caller may not do this.
	CodePermissionDenied = Code{158}
	// CodeNotFound is candor/NOT_FOUND, number 4032. The requested object does not exist.
	CodeNotFound = Code{159}
	// CodeAlreadyExists is candor/ALREADY_EXISTS, number 4033. The object to create exists already.
	CodeAlreadyExists = Code{160}
	// CodeConflict is candor/CONFLICT, number 4034. The state has changed in the meantime.
	CodeConflict = Code{161}
	// CodePreconditionFailed is candor/PRECONDITION_FAILED, number 4035. Something else has to happen first.
	CodePreconditionFailed = Code{162}
	// CodeConfigurationMissing is candor/CONFIGURATION_MISSING, number 4036. The server lacks a setting that it needs.
	CodeConfigurationMissing = Code{163}
	// CodeDependencyMissing is candor/DEPENDENCY_MISSING, number 4037. A program or library that the tool needs is not installed.
	CodeDependencyMissing = Code{164}
	// CodePaymentRequired is candor/PAYMENT_REQUIRED, number 4038. The service asks for payment first.
	CodePaymentRequired = Code{165}
	// CodeRateLimited is candor/RATE_LIMITED, number 4039. Too many calls in a short time.
	CodeRateLimited = Code{166}
	// CodeQuotaExceeded is candor/QUOTA_EXCEEDED, number 4040. The quota is used up.
	CodeQuotaExceeded = Code{167}
	// CodeTimeout is candor/TIMEOUT, number 4041. No answer came in time.
	CodeTimeout = Code{168}
	// CodeCancelled is candor/CANCELLED, number 4042. The call was cancelled.
	CodeCancelled = Code{169}
	// CodeTooLarge is candor/TOO_LARGE, number 4043. The input or the result is too large.
	CodeTooLarge = Code{170}
	// CodeUnsupported is candor/UNSUPPORTED, number 4044. This is not supported here.
	CodeUnsupported = Code{171}
	// CodeUnavailable is candor/UNAVAILABLE, number 4045. The service is not available at the moment.
	CodeUnavailable = Code{172}
	// CodeDataCorrupt is candor/DATA_CORRUPT, number 4046. Stored data are damaged.
	CodeDataCorrupt = Code{173}
	// CodeDiskFull is candor/DISK_FULL, number 4047. There is no space left to store the data.
	CodeDiskFull = Code{174}
	// CodeUpstreamUnreachable is candor/UPSTREAM_UNREACHABLE, number 4050. The service behind the tool could not be reached.
	CodeUpstreamUnreachable = Code{175}
	// CodeUpstreamTimeout is candor/UPSTREAM_TIMEOUT, number 4051. The service behind the tool did not answer in time.
	CodeUpstreamTimeout = Code{176}
	// CodeUpstreamUnauthenticated is candor/UPSTREAM_UNAUTHENTICATED, number 4052. The service behind the tool did not accept the credentials.
	CodeUpstreamUnauthenticated = Code{177}
	// CodeUpstreamForbidden is candor/UPSTREAM_FORBIDDEN, number 4053. The service behind the tool does not permit this.
	CodeUpstreamForbidden = Code{178}
	// CodeUpstreamNotFound is candor/UPSTREAM_NOT_FOUND, number 4054. The service behind the tool has no such thing.
	CodeUpstreamNotFound = Code{179}
	// CodeUpstreamConflict is candor/UPSTREAM_CONFLICT, number 4055. The service behind the tool reports a conflict.
	CodeUpstreamConflict = Code{180}
	// CodeUpstreamRejected is candor/UPSTREAM_REJECTED, number 4056. The service behind the tool rejected the request.
	CodeUpstreamRejected = Code{181}
	// CodeUpstreamRateLimited is candor/UPSTREAM_RATE_LIMITED, number 4057. The service behind the tool asks for fewer calls.
	CodeUpstreamRateLimited = Code{182}
	// CodeUpstreamError is candor/UPSTREAM_ERROR, number 4058. The service behind the tool failed.
	CodeUpstreamError = Code{183}
	// CodeUpstreamUnavailable is candor/UPSTREAM_UNAVAILABLE, number 4059. The service behind the tool is not available.
	CodeUpstreamUnavailable = Code{184}
	// CodeUpstreamBadResponse is candor/UPSTREAM_BAD_RESPONSE, number 4060. The service behind the tool answered with something unreadable.
	CodeUpstreamBadResponse = Code{185}
	// CodeUpstreamGone is candor/UPSTREAM_GONE, number 4065. The server went away while the call was open.
	CodeUpstreamGone = Code{186}
	// CodeUpstreamMalformed is candor/UPSTREAM_MALFORMED, number 4066. The server answered with an invalid message.
	CodeUpstreamMalformed = Code{187}
	// CodeCallTimeout is candor/CALL_TIMEOUT, number 4067. The call did not finish before its deadline.
	CodeCallTimeout = Code{188}
	// CodeCircuitOpen is candor/CIRCUIT_OPEN, number 4068. The server failed too often and is not called for a while.
	CodeCircuitOpen = Code{189}
	// CodeRetryExhausted is candor/RETRY_EXHAUSTED, number 4069. The call failed as often as it may be attempted.
	CodeRetryExhausted = Code{190}
	// CodeRepeatedFailure is candor/REPEATED_FAILURE, number 4070. This call keeps failing in the same way.
	CodeRepeatedFailure = Code{191}
	// CodeTooManyCalls is candor/TOO_MANY_CALLS, number 4071. Too many calls are open.
	CodeTooManyCalls = Code{192}
	// CodeTooManySessions is candor/TOO_MANY_SESSIONS, number 4072. Too many sessions are open.
	CodeTooManySessions = Code{193}
	// CodeGatewayDraining is candor/GATEWAY_DRAINING, number 4073. The gateway is shutting down.
	CodeGatewayDraining = Code{194}
	// CodeHostRefused is candor/HOST_REFUSED, number 4074. The Host header is not one this server answers to.
	CodeHostRefused = Code{195}
	// CodeOriginRefused is candor/ORIGIN_REFUSED, number 4075. Requests from this origin are not allowed.
	CodeOriginRefused = Code{196}
	// CodeTokenRequired is candor/TOKEN_REQUIRED, number 4076. An access token is required.
	CodeTokenRequired = Code{197}
	// CodeMethodNotAllowed is candor/METHOD_NOT_ALLOWED, number 4077. The HTTP method is not allowed here.
	CodeMethodNotAllowed = Code{198}
	// CodeMediaTypeUnsupported is candor/MEDIA_TYPE_UNSUPPORTED, number 4078. The content type is not supported.
	CodeMediaTypeUnsupported = Code{199}
	// CodeConfigInvalid is candor/CONFIG_INVALID, number 4079. The configuration is not valid.
	CodeConfigInvalid = Code{200}
	// CodeProbeTargetUnreachable is candor/PROBE_TARGET_UNREACHABLE, number 4085. The server to be probed does not answer.
	CodeProbeTargetUnreachable = Code{201}
	// CodeProbeUnsafeCall is candor/PROBE_UNSAFE_CALL, number 4086. The probe does not make calls that could change something.
	CodeProbeUnsafeCall = Code{202}
	// CodeLedgerDamaged is candor/LEDGER_DAMAGED, number 4090. The ledger is damaged.
	CodeLedgerDamaged = Code{203}
)

// Codes of other domains that this package uses.
var (
	// CodeLedgerFailed is kaiza/AUDIT_LOG_FAILED, number 3231. The trail could not be written, so the action was not done.
	CodeLedgerFailed = Code{84}
	// CodeLedgerLocked is kaiza/AUDIT_LOCK_FAILED, number 3232. The trail is held by another writer, so the action was not done.
	CodeLedgerLocked = Code{85}
	// codeFileNotFound is kaiza/FILE_NOT_FOUND, number 3214. The file does not exist.
	codeFileNotFound = Code{67}
	// codeFileAlreadyExists is kaiza/FILE_ALREADY_EXISTS, number 3215. The file exists already.
	codeFileAlreadyExists = Code{68}
	// codeInsufficientPermissions is kaiza/INSUFFICIENT_PERMISSIONS, number 3208. The caller lacks a permission that this action needs.
	codeInsufficientPermissions = Code{61}
	// codeInvalidInputType is kaiza/INVALID_INPUT_TYPE, number 3203. An argument has the wrong type.
	codeInvalidInputType = Code{56}
	// codeInvalidInputFormat is kaiza/INVALID_INPUT_FORMAT, number 3204. An argument is malformed.
	codeInvalidInputFormat = Code{57}
	// codeInvariantViolation is kaiza/INVARIANT_VIOLATION, number 3228. A rule that must always hold was broken.
	codeInvariantViolation = Code{81}
)

// catalogue has a row per code, in the order of numbers. Row 0 belongs to the zero Code.
var catalogue = [...]codeInfo{
	{},
	{
		symbol: "E_INVALID_PARAMS", domain: "common", number: 1000,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A parameter is missing or does not fit.",
		action:  "Correct the parameters named in this error and send a new call.",
	},
	{
		symbol: "E_TIMEOUT", domain: "common", number: 1001,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The operation did not finish in time.",
		action:  "Wait a second and send the same call again; if it keeps timing out, ask for less work per call.",
	},
	{
		symbol: "E_LIMIT_EXCEEDED", domain: "common", number: 1002,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A limit of the server was exceeded.",
		action:  "Stay below the limit named in this error: close sessions that are no longer needed, or send less.",
	},
	{
		symbol: "E_NOT_INSTALLED", domain: "common", number: 1003,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A program or library that the server depends on is not installed.",
		action:  "Ask the operator to install the dependency named in this error, or use a tool that does not need it.",
	},
	{
		symbol: "E_SESSION_NOT_FOUND", domain: "common", number: 1004,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No session has this id.",
		action:  "Open a new session and use the id it returns.",
	},
	{
		symbol: "E_INPUT_TOO_LARGE", domain: "common", number: 1005,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "An input is larger than the server accepts.",
		action:  "Shorten the input to the size named in this error, or split it over several calls.",
	},
	{
		symbol: "E_UNSUPPORTED", domain: "common", number: 1006,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server does not offer this operation.",
		action:  "Look up which methods the server lists and use one of those.",
	},
	{
		symbol: "E_PY_EXEC_FAIL", domain: "python", number: 2000,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_PY_EXEC_FAILED"},
		message: "The Python code ended with an error.",
		action:  "Read the error, fix the code and send the corrected version.",
	},
	{
		symbol: "E_PY_SECURITY", domain: "python", number: 2001,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The Python code uses something the sandbox forbids.",
		action:  "Remove the forbidden import or operation named in this error and send code that does without it.",
	},
	{
		symbol: "E_PY_TIMEOUT", domain: "python", number: 2002,
		class: ClassTimeout, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The Python code ran longer than allowed and was stopped.",
		action:  "Make the code do less work per call, or ask for a longer limit where the tool offers one.",
	},
	{
		symbol: "E_PY_SCRIPT_NOT_FOUND", domain: "python", number: 2003,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No Python script has this name.",
		action:  "List the scripts the server offers and name one of them.",
	},
	{
		symbol: "E_PY_INVALID_PARAMS", domain: "python", number: 2004,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The parameters for the Python run do not fit.",
		action:  "Correct the parameters named in this error and send a new call.",
	},
	{
		symbol: "E_PW_NAV", domain: "playwright", number: 2100,
		class: ClassUnavailable, retry: Retry{kind: 1}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_PW_NAVIGATION"},
		message: "Playwright could not load the page.",
		action:  "Send the call again; if it fails once more, check that the address is right and reachable.",
	},
	{
		symbol: "E_PW_LAUNCH", domain: "playwright", number: 2101,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_PW_BROWSER_LAUNCH"},
		message: "Playwright could not start a browser.",
		action:  "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.",
	},
	{
		symbol: "E_PW_TIMEOUT", domain: "playwright", number: 2102,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Playwright did not finish the step in time.",
		action:  "Wait a second and send the call again, or wait for something that appears earlier on the page.",
	},
	{
		symbol: "E_PW_INVALID_SELECTOR", domain: "playwright", number: 2103,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Playwright cannot use this selector.",
		action:  "Correct the selector and send a new call.",
	},
	{
		symbol: "E_PT_NAV", domain: "puppeteer", number: 2200,
		class: ClassUnavailable, retry: Retry{kind: 1}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_PT_NAVIGATION"},
		message: "Puppeteer could not load the page.",
		action:  "Send the call again; if it fails once more, check that the address is right and reachable.",
	},
	{
		symbol: "E_PT_LAUNCH", domain: "puppeteer", number: 2201,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_PT_BROWSER_LAUNCH"},
		message: "Puppeteer could not start a browser.",
		action:  "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.",
	},
	{
		symbol: "E_PT_TIMEOUT", domain: "puppeteer", number: 2202,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Puppeteer did not finish the step in time.",
		action:  "Wait a second and send the call again, or wait for something that appears earlier on the page.",
	},
	{
		symbol: "E_PT_INVALID_SELECTOR", domain: "puppeteer", number: 2203,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Puppeteer cannot use this selector.",
		action:  "Correct the selector and send a new call.",
	},
	{
		symbol: "E_MB_FILE_NOT_FOUND", domain: "memory-bank", number: 2300,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The memory bank has no such file.",
		action:  "List the files of the memory bank and name one of them.",
	},
	{
		symbol: "E_MB_READ", domain: "memory-bank", number: 2301,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A file of the memory bank could not be read.",
		action:  "Report it to the operator with the reference; read another file meanwhile.",
	},
	{
		symbol: "E_KG_FULL", domain: "kg", number: 2400,
		class: ClassUnavailable, retry: Retry{kind: 1}, since: "0.1.0", status: StatusActive,
		message: "The knowledge graph is full.",
		action:  "Send the call again, because other callers remove triples too; if it stays full, remove some yourself.",
	},
	{
		symbol: "E_KG_INVALID_TRIPLE", domain: "kg", number: 2401,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The triple is not complete.",
		action:  "Give subject, predicate and object as non-empty texts and send a new call.",
	},
	{
		symbol: "E_FS_PATH_ESCAPE", domain: "filesystem", number: 2500,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The path leads outside the permitted folder.",
		action:  "Name a path below the root folder, without leaving it through \"..\", an absolute path or a link.",
	},
	{
		symbol: "E_FS_DENIED", domain: "filesystem", number: 2501,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The policy does not allow this file operation.",
		action:  "Choose a path the write policy allows, or ask the operator to widen it.",
	},
	{
		symbol: "E_FS_NOT_FOUND", domain: "filesystem", number: 2502,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "There is no file or folder at this path.",
		action:  "List the parent folder and name something that exists.",
	},
	{
		symbol: "E_FS_WRITE_TOO_LARGE", domain: "filesystem", number: 2503,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The content to write is larger than allowed.",
		action:  "Shorten the content to the size named in this error, or split it over several files.",
	},
	{
		symbol: "E_SQL_CONN", domain: "sql", number: 2600,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The database could not be reached.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_SQL_QUERY", domain: "sql", number: 2601,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The database rejected the query.",
		action:  "Read why the database rejected it, correct the query and send the new one.",
	},
	{
		symbol: "E_NOTION_AUTH", domain: "notion", number: 2700,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Notion did not accept the credentials.",
		action:  "Ask the operator for a valid Notion token and for access to the page.",
	},
	{
		symbol: "E_NOTION_RATE", domain: "notion", number: 2701,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Notion asks for fewer calls.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "E_NOTION_NOT_FOUND", domain: "notion", number: 2702,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Notion has nothing under this id, or the integration may not see it.",
		action:  "Correct the id, or ask the operator to share the page or database with the integration.",
	},
	{
		symbol: "E_NOTION_NETWORK", domain: "notion", number: 2703,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Notion could not be reached.",
		action:  "Wait a second and send the call again.",
	},
	{
		symbol: "E_NOTION_HTTP", domain: "notion", number: 2704,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Notion answered with an error.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_NOTION_PARSE", domain: "notion", number: 2705,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The answer from Notion could not be read.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_TAVILY_HTTP", domain: "tavily", number: 2800,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_HTTP"},
		message: "Tavily answered with an error.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_TAVILY_RATE", domain: "tavily", number: 2801,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_QUOTA"},
		message: "Tavily asks for fewer searches.",
		action:  "Wait as long as the retry advice says, then send the same search again.",
	},
	{
		symbol: "E_TAVILY_AUTH_MISSING", domain: "tavily", number: 2802,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_AUTH_MISSING"},
		message: "No Tavily key is configured.",
		action:  "Ask the operator to configure a Tavily key for this server.",
	},
	{
		symbol: "E_TAVILY_AUTH_FAILED", domain: "tavily", number: 2803,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_AUTH_FAILED"},
		message: "Tavily did not accept the key.",
		action:  "Ask the operator to replace the Tavily key.",
	},
	{
		symbol: "E_TAVILY_NETWORK", domain: "tavily", number: 2804,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_NETWORK"},
		message: "Tavily could not be reached.",
		action:  "Wait a second and send the same search again.",
	},
	{
		symbol: "E_TAVILY_INVALID_PARAMS", domain: "tavily", number: 2805,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_INVALID_PARAMS"},
		message: "The search parameters do not fit.",
		action:  "Correct the parameters named in this error and send a new search.",
	},
	{
		symbol: "E_TAVILY_PARSE", domain: "tavily", number: 2806,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"E_TV_PARSE"},
		message: "The answer from Tavily could not be read.",
		action:  "Wait a second and send the same search again; if it persists, tell the operator.",
	},
	{
		symbol: "E_MISC", domain: "misc", number: 2900,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusReserved,
		message: "Something failed that has no code of its own yet.",
		action:  "Report it with the reference, so that it can be given a code.",
	},
	{
		symbol: "E_RL_EXCEEDED", domain: "rate-limit", number: 3000,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Too many calls arrived in a short time.",
		action:  "Wait as long as the retry advice says, then send the same call again, and space later calls out.",
	},
	{
		symbol: "E_GH_AUTH_MISSING", domain: "github", number: 3100,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No GitHub token is configured.",
		action:  "Ask the operator to configure a GitHub token for this server.",
	},
	{
		symbol: "E_GH_AUTH_FAILED", domain: "github", number: 3101,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "GitHub did not accept the token.",
		action:  "Ask the operator for a token that is valid and has the needed scopes.",
	},
	{
		symbol: "E_GH_NETWORK", domain: "github", number: 3102,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "GitHub could not be reached.",
		action:  "Wait a second and send the call again.",
	},
	{
		symbol: "E_GH_HTTP", domain: "github", number: 3103,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "GitHub answered with an error.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "E_GH_RATE_LIMIT", domain: "github", number: 3104,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 60000}, since: "0.1.0", status: StatusActive,
		message: "GitHub asks for fewer calls.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "E_GH_NOT_FOUND", domain: "github", number: 3105,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "GitHub has nothing under this name, or the token may not see it.",
		action:  "Correct the owner, repository or number, or ask for a token that can see it.",
	},
	{
		symbol: "E_GH_PARSE", domain: "github", number: 3106,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The answer from GitHub could not be read.",
		action:  "Wait a second and send the call again; if it persists, tell the operator.",
	},
	{
		symbol: "SESSION_NOT_INITIALIZED", domain: "kaiza", number: 3200,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No session has been started.",
		action:  "Call begin_session with the absolute path of the workspace first, then make this call.",
	},
	{
		symbol: "SESSION_LOCKED", domain: "kaiza", number: 3201,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The session is locked because an earlier call failed.",
		action:  "Write a failure report below docs/reports/ with write_file; that unlocks the session. If you cannot, ask the operator to run candor workbench unlock.",
	},
	{
		symbol: "SESSION_INITIALIZATION_FAILED", domain: "kaiza", number: 3202,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The session could not be set up.",
		action:  "Tell the operator, with the reference; the server itself stays usable for a new begin_session.",
	},
	{
		symbol: "INVALID_INPUT_TYPE", domain: "kaiza", number: 3203,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "An argument has the wrong type.",
		action:  "Give the argument named in this error the type it asks for and make a new call.",
	},
	{
		symbol: "INVALID_INPUT_FORMAT", domain: "kaiza", number: 3204,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"INVALID_JSON"},
		message: "An argument is malformed.",
		action:  "Send the arguments as one JSON object in the form the tool describes.",
	},
	{
		symbol: "INVALID_INPUT_VALUE", domain: "kaiza", number: 3205,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "An argument has a value that is not allowed.",
		action:  "Choose an allowed value for the argument named in this error and make a new call.",
	},
	{
		symbol: "MISSING_REQUIRED_FIELD", domain: "kaiza", number: 3206,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A required argument is missing.",
		action:  "Add the argument named in this error and make a new call.",
	},
	{
		symbol: "UNAUTHORIZED_ACTION", domain: "kaiza", number: 3207,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The current role may not do this.",
		action:  "Check the role and permissions of the session; use a tool meant for this role, or let a session with the right role do it.",
	},
	{
		symbol: "INSUFFICIENT_PERMISSIONS", domain: "kaiza", number: 3208,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The caller lacks a permission that this action needs.",
		action:  "Ask for the permission named in this error, or choose an action that needs less.",
	},
	{
		symbol: "ROLE_MISMATCH", domain: "kaiza", number: 3209,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The role named in the call is not the role of the session.",
		action:  "Leave the role out, or begin a session with the role you need.",
	},
	{
		symbol: "INVALID_PATH", domain: "kaiza", number: 3210,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The path is malformed.",
		action:  "Name a path relative to the workspace, as a plain text without control characters.",
	},
	{
		symbol: "PATH_NOT_FOUND", domain: "kaiza", number: 3211,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A folder of this path does not exist.",
		action:  "List the parent folder and name a path that exists, or create the folder before using it.",
	},
	{
		symbol: "PATH_TRAVERSAL_BLOCKED", domain: "kaiza", number: 3212,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The path climbs out of its folder with \"..\".",
		action:  "Name the path without \"..\" segments.",
	},
	{
		symbol: "OUTSIDE_WORKSPACE", domain: "kaiza", number: 3213,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"PATH_ESCAPE"},
		message: "The path lies outside the workspace.",
		action:  "Name a path inside the workspace, or begin a session in the workspace that holds it.",
	},
	{
		symbol: "FILE_NOT_FOUND", domain: "kaiza", number: 3214,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The file does not exist.",
		action:  "List the folder and name a file that exists.",
	},
	{
		symbol: "FILE_ALREADY_EXISTS", domain: "kaiza", number: 3215,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The file exists already.",
		action:  "Read the file, then change it by a patch, or choose another name.",
	},
	{
		symbol: "FILE_READ_FAILED", domain: "kaiza", number: 3216,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The file could not be read.",
		action:  "Tell the operator, with the reference; go on with other files.",
	},
	{
		symbol: "FILE_WRITE_FAILED", domain: "kaiza", number: 3217,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The file could not be written.",
		action:  "Tell the operator, with the reference; the old content is still in place.",
	},
	{
		symbol: "PATCH_INVALID", domain: "kaiza", number: 3218,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The patch is malformed.",
		action:  "Create the patch anew as a unified diff against the current file.",
	},
	{
		symbol: "PATCH_APPLY_FAILED", domain: "kaiza", number: 3219,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The patch does not fit the current file.",
		action:  "Read the file again and create the patch against what it holds now.",
	},
	{
		symbol: "HASH_MISMATCH", domain: "kaiza", number: 3220,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The file has changed since it was read.",
		action:  "Read the file again, redo the change on the new content and give its hash.",
	},
	{
		symbol: "PLAN_NOT_FOUND", domain: "kaiza", number: 3221,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No plan has this hash.",
		action:  "List the plans and use the hash of one of them, or have a plan written.",
	},
	{
		symbol: "PLAN_NOT_APPROVED", domain: "kaiza", number: 3222,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The plan is not approved.",
		action:  "Verify that the plan is approved: its header must carry the approved status and its hash. If it does not, ask for approval.",
	},
	{
		symbol: "PLAN_ENFORCEMENT_FAILED", domain: "kaiza", number: 3223,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"SIGNATURE_MISMATCH"},
		message: "The plan does not match its own hash.",
		action:  "Use the plan as it was approved, or have the changed plan approved under its new hash.",
	},
	{
		symbol: "PLAN_SCOPE_VIOLATION", domain: "kaiza", number: 3224,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The plan does not cover this file.",
		action:  "Stay within the scope of the plan, or have a plan approved that covers the file.",
	},
	{
		symbol: "POLICY_VIOLATION", domain: "kaiza", number: 3225,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The change breaks a policy of the workspace.",
		action:  "Change the content so that it keeps the rule named in this error, then write it.",
	},
	{
		symbol: "RUST_POLICY_VIOLATION", domain: "kaiza", number: 3226,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The Rust code breaks a policy of the workspace.",
		action:  "Replace the forbidden construct named in this error, then write the file.",
	},
	{
		symbol: "PREFLIGHT_FAILED", domain: "kaiza", number: 3227,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The checks failed after the change, and it was undone.",
		action:  "Read the output of the checks, fix what they found and write the corrected content.",
	},
	{
		symbol: "INVARIANT_VIOLATION", domain: "kaiza", number: 3228,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A rule that must always hold was broken.",
		action:  "Stop, and report the invariant that this error names, with the reference.",
	},
	{
		symbol: "BOOTSTRAP_FAILURE", domain: "kaiza", number: 3229,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The workspace could not be opened.",
		action:  "Call begin_session with the absolute path of an existing folder that no other session holds.",
	},
	{
		symbol: "SELF_AUDIT_FAILURE", domain: "kaiza", number: 3230,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server found a fault in itself and refuses to work.",
		action:  "Tell the operator; the fault must be repaired and the server restarted.",
	},
	{
		symbol: "AUDIT_LOG_FAILED", domain: "kaiza", number: 3231,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"AUDIT_APPEND_FAILED"},
		message: "The trail could not be written, so the action was not done.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "AUDIT_LOCK_FAILED", domain: "kaiza", number: 3232,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The trail is held by another writer, so the action was not done.",
		action:  "Wait a second and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "INTERNAL_ERROR", domain: "kaiza", number: 3233,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The workspace server met an unexpected error.",
		action:  "Report it with the reference; the ledger holds what happened.",
	},
	{
		symbol: "UNKNOWN_TOOL_FAILURE", domain: "kaiza", number: 3234,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The workspace tool failed without saying why.",
		action:  "Report it with the reference, and look at the state before you go on.",
	},
	{
		symbol: "VALIDATION_ERROR", domain: "workrail", number: 3300,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The input of the workflow tool is not valid.",
		action:  "Correct every field listed in this error and make a new call.",
	},
	{
		symbol: "NOT_FOUND", domain: "workrail", number: 3301,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No workflow or session has this id.",
		action:  "Call list_workflows and use an id from its answer.",
	},
	{
		symbol: "PRECONDITION_FAILED", domain: "workrail", number: 3302,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The workflow is not in a state that allows this.",
		action:  "Do what this error asks for, or begin the workflow anew with start_workflow.",
	},
	{
		symbol: "TIMEOUT", domain: "workrail", number: 3303,
		class: ClassTimeout, retry: Retry{kind: 1}, since: "0.1.0", status: StatusActive,
		message: "The workflow took too long to load.",
		action:  "Send the same call again.",
	},
	{
		symbol: "INTERNAL_ERROR", domain: "workrail", number: 3304,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The workflow engine met an unexpected error.",
		action:  "Report it with the reference; the workflow stands where it stood.",
	},
	{
		symbol: "TOKEN_INVALID_FORMAT", domain: "workrail", number: 3305,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The token is not well formed.",
		action:  "Copy the token exactly as it was returned; tokens are opaque and cannot be edited or made up.",
	},
	{
		symbol: "TOKEN_UNSUPPORTED_VERSION", domain: "workrail", number: 3306,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The token is of a version that is not supported.",
		action:  "Begin the workflow anew with start_workflow to receive a current token.",
	},
	{
		symbol: "TOKEN_BAD_SIGNATURE", domain: "workrail", number: 3307,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The signature of the token is wrong.",
		action:  "Copy the token exactly as it was returned; if it is old, begin the workflow anew with start_workflow.",
	},
	{
		symbol: "TOKEN_SCOPE_MISMATCH", domain: "workrail", number: 3308,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The token is not meant for this use.",
		action:  "Use the token that the last answer gave for this kind of call and this session.",
	},
	{
		symbol: "TOKEN_UNKNOWN_NODE", domain: "workrail", number: 3309,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No stored workflow state belongs to this token.",
		action:  "Begin the workflow anew with start_workflow.",
	},
	{
		symbol: "TOKEN_WORKFLOW_HASH_MISMATCH", domain: "workrail", number: 3310,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The workflow has changed since the token was issued.",
		action:  "Begin the workflow anew with start_workflow, which pins the current version.",
	},
	{
		symbol: "TOKEN_SESSION_LOCKED", domain: "workrail", number: 3311,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Another operation is changing this session.",
		action:  "Wait a second and send the same call again.",
	},
	{
		symbol: "SESSION_NOT_HEALTHY", domain: "workrail", number: 3312,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The stored data of this session are damaged.",
		action:  "Stop using the session: export a read-only view of what is left, and begin the workflow anew.",
	},
	{
		symbol: "USER_ONLY_DEPENDENCY", domain: "blockers", number: 3400,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The step waits for something only a person can provide.",
		action:  "Ask the user for what the step names and hand it over with the retry token.",
	},
	{
		symbol: "MISSING_REQUIRED_OUTPUT", domain: "blockers", number: 3401,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The step requires an output that was not given.",
		action:  "Add the required output and continue with the retry token from the answer.",
	},
	{
		symbol: "INVALID_REQUIRED_OUTPUT", domain: "blockers", number: 3402,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The output does not meet the contract of the step.",
		action:  "Correct the output as the blocker says and continue with the retry token from the answer.",
	},
	{
		symbol: "MISSING_REQUIRED_NOTES", domain: "blockers", number: 3403,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The step requires notes that were not given.",
		action:  "Write the notes for the step and continue with the retry token from the answer.",
	},
	{
		symbol: "MISSING_CONTEXT_KEY", domain: "blockers", number: 3404,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The context lacks a key that the step needs.",
		action:  "Add the named key to the context and continue with the retry token from the answer.",
	},
	{
		symbol: "CONTEXT_BUDGET_EXCEEDED", domain: "blockers", number: 3405,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The context is larger than the workflow allows.",
		action:  "Shorten the context below the limit named in the blocker and continue with the retry token.",
	},
	{
		symbol: "REQUIRED_CAPABILITY_UNKNOWN", domain: "blockers", number: 3406,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "It is not known whether a capability the step needs is there.",
		action:  "Find out whether the capability is available and say so in the context.",
	},
	{
		symbol: "REQUIRED_CAPABILITY_UNAVAILABLE", domain: "blockers", number: 3407,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A capability the step needs is not available here.",
		action:  "Choose a workflow that does without the capability, or run this one where it is available.",
	},
	{
		symbol: "INVARIANT_VIOLATION", domain: "blockers", number: 3408,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The step would break a rule of the workflow engine.",
		action:  "Report it with the reference; the workflow stands where it stood.",
	},
	{
		symbol: "STORAGE_CORRUPTION_DETECTED", domain: "blockers", number: 3409,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The stored state of this step is damaged.",
		action:  "Stop using this run, export what is left and begin the workflow anew.",
	},
	{
		symbol: "INVALID_PARAMS", domain: "dual", number: 3500,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The parameters of the tool are not valid.",
		action:  "Correct the fields listed in this error and make a new call.",
	},
	{
		symbol: "HANDLER_ERROR", domain: "dual", number: 3501,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The tool broke while handling the call.",
		action:  "Report it with the reference; if this error names a more exact code, act on that one.",
	},
	{
		symbol: "ERR_VALIDATION", domain: "dual", number: 3502,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The task is not valid as given.",
		action:  "Correct the fields named in this error and create the task anew.",
	},
	{
		symbol: "ERR_NOT_FOUND", domain: "dual", number: 3503,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No task has this id.",
		action:  "List the tasks and use the id of one of them.",
	},
	{
		symbol: "ERR_WRITEBACK_REQUIRED", domain: "dual", number: 3504,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The task cannot be finished before its thoughts are recorded.",
		action:  "Record at least one thought for the task with thought_record first, then set it to DONE.",
	},
	{
		symbol: "ERR_INVALID_TRANSITION", domain: "dual", number: 3505,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The task cannot change from its present status to this one.",
		action:  "Choose one of the allowed statuses listed in this error.",
	},
	{
		symbol: "ERR_SESSION_EXISTS", domain: "dual", number: 3506,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A session with this id exists already.",
		action:  "Use another session id, or leave it out to be given one.",
	},
	{
		symbol: "ERR_SESSION_NOT_FOUND", domain: "dual", number: 3507,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No recorded session has this id.",
		action:  "Start a session with audit_session_start and use the id it returns.",
	},
	{
		symbol: "ERR_ALREADY_FINALIZED", domain: "dual", number: 3508,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The session is finalized already.",
		action:  "Read its root with merkle_root; a finalized session takes no more records.",
	},
	{
		symbol: "ERR_NO_RECORDS", domain: "dual", number: 3509,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The session holds no records to finalize.",
		action:  "Record at least one thought bound to this session before finalizing it.",
	},
	{
		symbol: "ERR_NOT_FINALIZED", domain: "dual", number: 3510,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The session is not finalized yet.",
		action:  "Finalize the session with merkle_finalize before asking for its root.",
	},
	{
		symbol: "ROUND_NOT_FOUND", domain: "dual", number: 3511,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No round of votes has this id.",
		action:  "Propose a round with consensus_propose and use the id it returns.",
	},
	{
		symbol: "ALREADY_VOTED", domain: "dual", number: 3512,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "This voter has voted in this round already.",
		action:  "Read the state of the round; the first vote stands.",
	},
	{
		symbol: "INVALID_KEY", domain: "dual", number: 3513,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The key is not valid.",
		action:  "Give the key as hexadecimal text of the length the tool describes.",
	},
	{
		symbol: "FALLBACK_CHAIN_EXHAUSTED", domain: "dual", number: 3514,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: StatusActive,
		aliases: []string{"FallbackChainExhaustedError"},
		message: "Every route of the fallback chain failed.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "TOOL_NOT_ADMITTED", domain: "dual", number: 3515,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		aliases: []string{"ToolNotAdmittedError"},
		message: "The mode of the server does not admit this tool.",
		action:  "Use a tool that the present mode admits, or ask the operator to change the mode.",
	},
	{
		symbol: "TOOL_LOCK_TIMEOUT", domain: "dual", number: 3516,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 500}, since: "0.1.0", status: StatusActive,
		message: "The tool was busy with another call for too long.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "DB_BUSY", domain: "dual", number: 3517,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 250}, since: "0.1.0", status: StatusActive,
		message: "The database is busy.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "DB_FULL", domain: "dual", number: 3518,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: StatusActive,
		message: "The database has no room left.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
	},
	{
		symbol: "UNIQUE_VIOLATION", domain: "dual", number: 3519,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A record with this identity exists already.",
		action:  "Read the existing record, or use another identity.",
	},
	{
		symbol: "INTERNAL_ERROR", domain: "candor", number: 4000, rpc: -32603,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "An unexpected error occurred.",
		action:  "Report it with the reference; the ledger holds what happened.",
	},
	{
		symbol: "UNKNOWN_TOOL_FAILURE", domain: "candor", number: 4001,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The tool reported a failure without saying why.",
		action:  "Look at the tool's own words, and report it with the reference.",
	},
	{
		symbol: "UNCODED_ERROR", domain: "candor", number: 4002,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server reported an error without a registered code.",
		action:  "Report it to the author of the server, with the reference.",
	},
	{
		symbol: "MASKED_FAILURE", domain: "candor", number: 4003,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The answer was marked as a success but describes a failure.",
		action:  "Treat the call as failed and read the answer for its reason; report the tool to its author.",
	},
	{
		symbol: "PARSE_ERROR", domain: "candor", number: 4005, rpc: -32700,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The message is not valid JSON.",
		action:  "Send one complete JSON-RPC message in UTF-8 JSON.",
	},
	{
		symbol: "INVALID_REQUEST", domain: "candor", number: 4006, rpc: -32600,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The message is not a valid JSON-RPC request.",
		action:  "Send an object with jsonrpc \"2.0\", a method name and an id that is a text or a whole number.",
	},
	{
		symbol: "METHOD_NOT_FOUND", domain: "candor", number: 4007, rpc: -32601,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server does not offer this method.",
		action:  "Use only methods of the capabilities that the server announced.",
	},
	{
		symbol: "INVALID_REQUEST_PARAMS", domain: "candor", number: 4008, rpc: -32602,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The parameters of the request do not fit its method.",
		action:  "Correct the parameters named in this error and send a new request.",
	},
	{
		symbol: "TOOL_NOT_FOUND", domain: "candor", number: 4009, rpc: -32602,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No tool has this name.",
		action:  "Call tools/list and use a name from its answer.",
	},
	{
		symbol: "RESOURCE_NOT_FOUND", domain: "candor", number: 4010, rpc: -32602,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No resource has this URI.",
		action:  "Call resources/list and use a URI from its answer.",
	},
	{
		symbol: "PROMPT_NOT_FOUND", domain: "candor", number: 4011, rpc: -32602,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "No prompt has this name.",
		action:  "Call prompts/list and use a name from its answer.",
	},
	{
		symbol: "INVALID_CURSOR", domain: "candor", number: 4012, rpc: -32602,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The page cursor is not valid.",
		action:  "Begin the list anew without a cursor.",
	},
	{
		symbol: "INVALID_ARGUMENTS", domain: "candor", number: 4013,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The arguments do not fit the tool.",
		action:  "Correct every argument listed in this error and make a new call.",
	},
	{
		symbol: "OUTPUT_INVALID", domain: "candor", number: 4014,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The result of the tool breaks its own output schema.",
		action:  "Report it to the author of the server; the tool may have had its effect already.",
	},
	{
		symbol: "RESULT_NOT_ENCODABLE", domain: "candor", number: 4015,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The result of the tool cannot be written as JSON.",
		action:  "Report it to the author of the server; the tool may have had its effect already.",
	},
	{
		symbol: "EMPTY_RESULT", domain: "candor", number: 4016,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The tool returned neither a result nor an error.",
		action:  "Check whether the tool took effect, and report it to the author of the server.",
	},
	{
		symbol: "MESSAGE_TOO_LARGE", domain: "candor", number: 4017, rpc: -32600,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The message is larger than the receiver accepts.",
		action:  "Send less in one message.",
	},
	{
		symbol: "MESSAGE_TOO_DEEP", domain: "candor", number: 4018, rpc: -32600,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The message is nested too deeply.",
		action:  "Send a flatter structure.",
	},
	{
		symbol: "BATCH_UNSUPPORTED", domain: "candor", number: 4019, rpc: -32600,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Batches are not supported.",
		action:  "Send each request as its own message.",
	},
	{
		symbol: "DUPLICATE_REQUEST_ID", domain: "candor", number: 4020, rpc: -32600,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A request with this id is still open.",
		action:  "Use an id that no open request of this connection has.",
	},
	{
		symbol: "NOT_INITIALIZED", domain: "candor", number: 4021, rpc: -32600,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The connection has not been initialized.",
		action:  "Send initialize first, and notifications/initialized after its answer.",
	},
	{
		symbol: "HEADER_MISMATCH", domain: "candor", number: 4022, rpc: -32020,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A header does not agree with the body of the request.",
		action:  "Give method, name and protocol version the same values in the headers as in the body.",
	},
	{
		symbol: "CAPABILITY_REQUIRED", domain: "candor", number: 4023, rpc: -32021,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The request needs a client capability that was not declared.",
		action:  "Declare the capability named in this error, if the client has it, and send a new request.",
	},
	{
		symbol: "PROTOCOL_VERSION_UNSUPPORTED", domain: "candor", number: 4024, rpc: -32022,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The protocol version is not supported.",
		action:  "Use one of the supported versions listed in this error.",
	},
	{
		symbol: "MALFORMED_MESSAGE", domain: "candor", number: 4025, rpc: -32600,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The message follows no form the protocol knows.",
		action:  "Send either a request, a notification or a response, with only the members it may have.",
	},
	{
		symbol: "STRAY_ANSWER", domain: "candor", number: 4026,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The answer belongs to no call that is open.",
		action:  "Report it to the author of the server, with the reference; the call it was taken for is still open.",
	},
	{
		symbol: "UNAUTHENTICATED", domain: "candor", number: 4030,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The caller is not signed in.",
		action:  "Sign in, or ask the user for valid credentials.",
	},
	{
		symbol: "PERMISSION_DENIED", domain: "candor", number: 4031,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The caller may not do this.",
		action:  "Ask the user or the operator for the permission, or choose something that is allowed.",
	},
	{
		symbol: "NOT_FOUND", domain: "candor", number: 4032,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The requested object does not exist.",
		action:  "Look up what exists, and name one of those.",
	},
	{
		symbol: "ALREADY_EXISTS", domain: "candor", number: 4033,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The object to create exists already.",
		action:  "Use what exists, or choose another name.",
	},
	{
		symbol: "CONFLICT", domain: "candor", number: 4034,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The state has changed in the meantime.",
		action:  "Read the current state and redo the change on top of it.",
	},
	{
		symbol: "PRECONDITION_FAILED", domain: "candor", number: 4035,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Something else has to happen first.",
		action:  "Do first what this error names, then make this call.",
	},
	{
		symbol: "CONFIGURATION_MISSING", domain: "candor", number: 4036,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server lacks a setting that it needs.",
		action:  "Ask the operator to configure the key, token or setting named in the message.",
	},
	{
		symbol: "DEPENDENCY_MISSING", domain: "candor", number: 4037,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "A program or library that the tool needs is not installed.",
		action:  "Ask the operator to install it, or use a tool that does not need it.",
	},
	{
		symbol: "PAYMENT_REQUIRED", domain: "candor", number: 4038,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The service asks for payment first.",
		action:  "Tell the user that a payment or a larger plan is needed.",
	},
	{
		symbol: "RATE_LIMITED", domain: "candor", number: 4039,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Too many calls in a short time.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "QUOTA_EXCEEDED", domain: "candor", number: 4040,
		class: ClassRateLimited, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The quota is used up.",
		action:  "Tell the user that the quota is used up; it has to be raised or to start a new period.",
	},
	{
		symbol: "TIMEOUT", domain: "candor", number: 4041,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "No answer came in time.",
		action:  "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
	},
	{
		symbol: "CANCELLED", domain: "candor", number: 4042,
		class: ClassCancelled, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The call was cancelled.",
		action:  "Go on without the result; make a new call only if it is still wanted.",
	},
	{
		symbol: "TOO_LARGE", domain: "candor", number: 4043,
		class: ClassTooLarge, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The input or the result is too large.",
		action:  "Ask for less or send less: fewer items, a smaller range, a shorter text.",
	},
	{
		symbol: "UNSUPPORTED", domain: "candor", number: 4044,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "This is not supported here.",
		action:  "Choose another way; the tool's description says what is supported.",
	},
	{
		symbol: "UNAVAILABLE", domain: "candor", number: 4045,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service is not available at the moment.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "DATA_CORRUPT", domain: "candor", number: 4046,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Stored data are damaged.",
		action:  "Stop changing these data and tell the operator.",
	},
	{
		symbol: "DISK_FULL", domain: "candor", number: 4047,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: StatusActive,
		message: "There is no space left to store the data.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
	},
	{
		symbol: "UPSTREAM_UNREACHABLE", domain: "candor", number: 4050,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool could not be reached.",
		action:  "Wait as long as the retry advice says, then send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "UPSTREAM_TIMEOUT", domain: "candor", number: 4051,
		class: ClassTimeout, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool did not answer in time.",
		action:  "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
	},
	{
		symbol: "UPSTREAM_UNAUTHENTICATED", domain: "candor", number: 4052,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool did not accept the credentials.",
		action:  "Ask the operator to renew the key or token that the server uses.",
	},
	{
		symbol: "UPSTREAM_FORBIDDEN", domain: "candor", number: 4053,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool does not permit this.",
		action:  "Ask the operator to widen the access of the server, or choose something that is allowed.",
	},
	{
		symbol: "UPSTREAM_NOT_FOUND", domain: "candor", number: 4054,
		class: ClassNotFound, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool has no such thing.",
		action:  "Look up what exists there, and name one of those.",
	},
	{
		symbol: "UPSTREAM_CONFLICT", domain: "candor", number: 4055,
		class: ClassConflict, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool reports a conflict.",
		action:  "Read the current state from the service and redo the change on top of it.",
	},
	{
		symbol: "UPSTREAM_REJECTED", domain: "candor", number: 4056,
		class: ClassBadRequest, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool rejected the request.",
		action:  "Read the reason, correct the arguments and make a new call.",
	},
	{
		symbol: "UPSTREAM_RATE_LIMITED", domain: "candor", number: 4057,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool asks for fewer calls.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "UPSTREAM_ERROR", domain: "candor", number: 4058,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool failed.",
		action:  "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
	},
	{
		symbol: "UPSTREAM_UNAVAILABLE", domain: "candor", number: 4059,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool is not available.",
		action:  "Wait as long as the retry advice says, then send the same call again.",
	},
	{
		symbol: "UPSTREAM_BAD_RESPONSE", domain: "candor", number: 4060,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "The service behind the tool answered with something unreadable.",
		action:  "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
	},
	{
		symbol: "UPSTREAM_GONE", domain: "candor", number: 4065,
		class: ClassUnavailable, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server went away while the call was open.",
		action:  "Check whether the call took effect before making a new one.",
	},
	{
		symbol: "UPSTREAM_MALFORMED", domain: "candor", number: 4066,
		class: ClassInternal, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The server answered with an invalid message.",
		action:  "Check whether the call took effect, and report the server to its author.",
	},
	{
		symbol: "CALL_TIMEOUT", domain: "candor", number: 4067,
		class: ClassTimeout, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The call did not finish before its deadline.",
		action:  "Check whether the call took effect before making a new one; ask for less work per call.",
	},
	{
		symbol: "CIRCUIT_OPEN", domain: "candor", number: 4068,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: StatusActive,
		message: "The server failed too often and is not called for a while.",
		action:  "Wait as long as the retry advice says, then send the same call again, or use another tool meanwhile.",
	},
	{
		symbol: "RETRY_EXHAUSTED", domain: "candor", number: 4069,
		class: ClassUnavailable, retry: Retry{}, since: "0.1.0", status: StatusReserved,
		message: "The call failed as often as it may be attempted.",
		action:  "Stop calling for now, and tell the operator.",
	},
	{
		symbol: "REPEATED_FAILURE", domain: "candor", number: 4070,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "This call keeps failing in the same way.",
		action:  "Change the approach: read the earlier error and act on it, or use another tool.",
	},
	{
		symbol: "TOO_MANY_CALLS", domain: "candor", number: 4071,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusActive,
		message: "Too many calls are open.",
		action:  "Wait as long as the retry advice says, then send the same call again; keep fewer calls open.",
	},
	{
		symbol: "TOO_MANY_SESSIONS", domain: "candor", number: 4072,
		class: ClassRateLimited, retry: Retry{kind: 2, afterMs: 5000}, since: "0.1.0", status: StatusActive,
		message: "Too many sessions are open.",
		action:  "Wait as long as the retry advice says, then send the same call again; close sessions that are not needed.",
	},
	{
		symbol: "GATEWAY_DRAINING", domain: "candor", number: 4073,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 2000}, since: "0.1.0", status: StatusActive,
		message: "The gateway is shutting down.",
		action:  "Wait as long as the retry advice says, then connect anew and send the same call.",
	},
	{
		symbol: "HOST_REFUSED", domain: "candor", number: 4074,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The Host header is not one this server answers to.",
		action:  "Connect by a name on the list of allowed hosts, or ask the operator to add this one.",
	},
	{
		symbol: "ORIGIN_REFUSED", domain: "candor", number: 4075,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "Requests from this origin are not allowed.",
		action:  "Ask the operator to add the origin to the list of allowed ones.",
	},
	{
		symbol: "TOKEN_REQUIRED", domain: "candor", number: 4076,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "An access token is required.",
		action:  "Send the token in the Authorization header; ask the operator for one.",
	},
	{
		symbol: "METHOD_NOT_ALLOWED", domain: "candor", number: 4077,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The HTTP method is not allowed here.",
		action:  "Use a method listed in the Allow header.",
	},
	{
		symbol: "MEDIA_TYPE_UNSUPPORTED", domain: "candor", number: 4078,
		class: ClassUnsupported, retry: Retry{}, since: "0.1.0", status: StatusActive,
		message: "The content type is not supported.",
		action:  "Send application/json, and accept both application/json and text/event-stream.",
	},
	{
		symbol: "CONFIG_INVALID", domain: "candor", number: 4079,
		class: ClassPrecondition, retry: Retry{}, since: "0.1.0", status: StatusReserved,
		message: "The configuration is not valid.",
		action:  "Correct the setting that this error names.",
	},
	{
		symbol: "PROBE_TARGET_UNREACHABLE", domain: "candor", number: 4085,
		class: ClassUnavailable, retry: Retry{kind: 2, afterMs: 1000}, since: "0.1.0", status: StatusReserved,
		message: "The server to be probed does not answer.",
		action:  "Wait as long as the retry advice says and start the probe again; if it persists, check the command or address.",
	},
	{
		symbol: "PROBE_UNSAFE_CALL", domain: "candor", number: 4086,
		class: ClassDenied, retry: Retry{}, since: "0.1.0", status: StatusReserved,
		message: "The probe does not make calls that could change something.",
		action:  "Permit the tool by name if it may be called, or leave it out.",
	},
	{
		symbol: "LEDGER_DAMAGED", domain: "candor", number: 4090,
		class: ClassCorrupt, retry: Retry{}, since: "0.1.0", status: StatusReserved,
		message: "The ledger is damaged.",
		action:  "Stop writing to this chain, keep the file as evidence and tell the operator.",
	},
}

// domains has a row per domain, in the order of numbers.
var domains = [...]domainInfo{
	{name: "common", from: 1000, to: 1099, title: "Common"},
	{name: "python", from: 2000, to: 2099, title: "Python execution"},
	{name: "playwright", from: 2100, to: 2199, title: "Playwright"},
	{name: "puppeteer", from: 2200, to: 2299, title: "Puppeteer"},
	{name: "memory-bank", from: 2300, to: 2399, title: "Memory bank"},
	{name: "kg", from: 2400, to: 2499, title: "Knowledge graph"},
	{name: "filesystem", from: 2500, to: 2599, title: "Filesystem"},
	{name: "sql", from: 2600, to: 2699, title: "SQL"},
	{name: "notion", from: 2700, to: 2799, title: "Notion"},
	{name: "tavily", from: 2800, to: 2899, title: "Tavily"},
	{name: "misc", from: 2900, to: 2999, title: "Miscellaneous"},
	{name: "rate-limit", from: 3000, to: 3099, title: "Rate limit"},
	{name: "github", from: 3100, to: 3199, title: "GitHub"},
	{name: "kaiza", from: 3200, to: 3299, title: "KAIZA"},
	{name: "workrail", from: 3300, to: 3399, title: "WorkRail"},
	{name: "blockers", from: 3400, to: 3499, title: "Blockers"},
	{name: "dual", from: 3500, to: 3599, title: "Dual envelope"},
	{name: "candor", from: 4000, to: 4099, title: "Candor"},
}
