// Code generated from spec/catalogue.json by internal/catalogue/gen. DO NOT EDIT.

/** What a caller should do about a failure. A closed set. */
export type Class =
  | "bad_request" // fix the call
  | "not_found" // name something that exists
  | "denied" // get permission
  | "conflict" // read again, then redo
  | "precondition" // do something else first
  | "rate_limited" // wait
  | "unavailable" // the service cannot be reached now
  | "timeout" // no answer came in time
  | "cancelled" // the caller cancelled it
  | "too_large" // send less
  | "unsupported" // not offered here
  | "corrupt" // stop, the state is damaged
  | "internal" // report it;

/** Whether the same call may be sent again. Exactly three forms. */
export type Retry =
  | { readonly kind: "not_retryable" }
  | { readonly kind: "retryable_immediate" }
  | { readonly kind: "retryable_after_ms"; readonly afterMs: number };

export type RetryKind = Retry["kind"];

/** The party that failed. */
export type Party = "tool" | "server" | "gateway" | "transport" | "client";

export type Status = "active" | "reserved" | "deprecated";

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The vocabularies, each with its range of numbers. */
export const domains = [
  { name: "common", from: 1000, to: 1099, title: "Common" },
  { name: "python", from: 2000, to: 2099, title: "Python execution" },
  { name: "playwright", from: 2100, to: 2199, title: "Playwright" },
  { name: "puppeteer", from: 2200, to: 2299, title: "Puppeteer" },
  { name: "memory-bank", from: 2300, to: 2399, title: "Memory bank" },
  { name: "kg", from: 2400, to: 2499, title: "Knowledge graph" },
  { name: "filesystem", from: 2500, to: 2599, title: "Filesystem" },
  { name: "sql", from: 2600, to: 2699, title: "SQL" },
  { name: "notion", from: 2700, to: 2799, title: "Notion" },
  { name: "tavily", from: 2800, to: 2899, title: "Tavily" },
  { name: "misc", from: 2900, to: 2999, title: "Miscellaneous" },
  { name: "rate-limit", from: 3000, to: 3099, title: "Rate limit" },
  { name: "github", from: 3100, to: 3199, title: "GitHub" },
  { name: "kaiza", from: 3200, to: 3299, title: "KAIZA" },
  { name: "workrail", from: 3300, to: 3399, title: "WorkRail" },
  { name: "blockers", from: 3400, to: 3499, title: "Blockers" },
  { name: "dual", from: 3500, to: 3599, title: "Dual envelope" },
  { name: "candor", from: 4000, to: 4099, title: "Candor" },
] as const;

export type Domain = (typeof domains)[number]["name"];

/** Every registered code, in the order of numbers. Its identity is (domain, symbol). */
export const codes = [
  {
    symbol: "E_INVALID_PARAMS", domain: "common", number: 1000, rpc: 1000, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Invalid parameters",
    action: "Correct the parameters named in this error and send a new call.",
  },
  {
    symbol: "E_TIMEOUT", domain: "common", number: 1001, rpc: 1001, class: "timeout",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "Operation timed out",
    action: "Wait a second and send the same call again; if it keeps timing out, request less work per call.",
  },
  {
    symbol: "E_LIMIT_EXCEEDED", domain: "common", number: 1002, rpc: 1002, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Limit exceeded",
    action: "Stay below the limit named in this error: close sessions that are no longer needed, or send less.",
  },
  {
    symbol: "E_NOT_INSTALLED", domain: "common", number: 1003, rpc: 1003, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Dependency not installed",
    action: "Ask the operator to install the dependency named in this error, or use a tool that does not need it.",
  },
  {
    symbol: "E_SESSION_NOT_FOUND", domain: "common", number: 1004, rpc: 1004, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Session not found",
    action: "Open a new session and use the id it returns.",
  },
  {
    symbol: "E_INPUT_TOO_LARGE", domain: "common", number: 1005, rpc: 1005, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Input too large",
    action: "Shorten the input to the size named in this error, or split it into several calls.",
  },
  {
    symbol: "E_UNSUPPORTED", domain: "common", number: 1006, rpc: 1006, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Unsupported operation",
    action: "Use one of the methods that the server lists.",
  },
  {
    symbol: "E_PY_EXEC_FAIL", domain: "python", number: 2000, rpc: 2000, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["E_PY_EXEC_FAILED"],
    message: "The Python code ended with an error.",
    action: "Read the error, fix the code and send the corrected version.",
  },
  {
    symbol: "E_PY_SECURITY", domain: "python", number: 2001, rpc: 2001, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The Python code uses something the sandbox forbids.",
    action: "Remove the forbidden import or operation named in this error and send the code again.",
  },
  {
    symbol: "E_PY_TIMEOUT", domain: "python", number: 2002, rpc: 2002, class: "timeout",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The Python code ran longer than allowed and was stopped.",
    action: "Make the code do less work per call, or ask for a longer limit where the tool offers one.",
  },
  {
    symbol: "E_PY_SCRIPT_NOT_FOUND", domain: "python", number: 2003, rpc: 2003, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No Python script has this name.",
    action: "List the scripts the server offers and name one of them.",
  },
  {
    symbol: "E_PY_INVALID_PARAMS", domain: "python", number: 2004, rpc: 2004, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The parameters for the Python run are invalid.",
    action: "Correct the parameters named in this error and send a new call.",
  },
  {
    symbol: "E_PW_NAV", domain: "playwright", number: 2100, rpc: 2100, class: "unavailable",
    retry: { kind: "retryable_immediate" }, status: "active", since: "0.1.0", aliases: ["E_PW_NAVIGATION"],
    message: "Navigation failed",
    action: "Send the call again; if it fails once more, check that the address is right and reachable.",
  },
  {
    symbol: "E_PW_LAUNCH", domain: "playwright", number: 2101, rpc: 2101, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: ["E_PW_BROWSER_LAUNCH"], effect: "none",
    message: "Playwright could not start a browser.",
    action: "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.",
  },
  {
    symbol: "E_PW_TIMEOUT", domain: "playwright", number: 2102, rpc: 2102, class: "timeout",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "Playwright did not finish the step in time.",
    action: "Wait a second and send the call again, or wait for something that appears earlier on the page.",
  },
  {
    symbol: "E_PW_INVALID_SELECTOR", domain: "playwright", number: 2103, rpc: 2103, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Playwright cannot use this selector.",
    action: "Correct the selector and send a new call.",
  },
  {
    symbol: "E_PT_NAV", domain: "puppeteer", number: 2200, rpc: 2200, class: "unavailable",
    retry: { kind: "retryable_immediate" }, status: "active", since: "0.1.0", aliases: ["E_PT_NAVIGATION"],
    message: "Navigation failed",
    action: "Send the call again; if it fails once more, check that the address is right and reachable.",
  },
  {
    symbol: "E_PT_LAUNCH", domain: "puppeteer", number: 2201, rpc: 2201, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: ["E_PT_BROWSER_LAUNCH"], effect: "none",
    message: "Puppeteer could not start a browser.",
    action: "Wait a second and send the call again; if it persists, ask the operator to check the browser installation.",
  },
  {
    symbol: "E_PT_TIMEOUT", domain: "puppeteer", number: 2202, rpc: 2202, class: "timeout",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "Puppeteer did not finish the step in time.",
    action: "Wait a second and send the call again, or wait for something that appears earlier on the page.",
  },
  {
    symbol: "E_PT_INVALID_SELECTOR", domain: "puppeteer", number: 2203, rpc: 2203, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Puppeteer cannot use this selector.",
    action: "Correct the selector and send a new call.",
  },
  {
    symbol: "E_MB_FILE_NOT_FOUND", domain: "memory-bank", number: 2300, rpc: 2300, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The memory bank has no such file.",
    action: "List the files of the memory bank and name one of them.",
  },
  {
    symbol: "E_MB_READ", domain: "memory-bank", number: 2301, rpc: 2301, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A file of the memory bank could not be read.",
    action: "Report it to the operator with the reference; read another file meanwhile.",
  },
  {
    symbol: "E_KG_FULL", domain: "kg", number: 2400, rpc: 2400, class: "unavailable",
    retry: { kind: "retryable_immediate" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The knowledge graph is full.",
    action: "Send the call again, because other callers remove triples too; if it stays full, remove some yourself.",
  },
  {
    symbol: "E_KG_INVALID_TRIPLE", domain: "kg", number: 2401, rpc: 2401, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The triple has a part that cannot be stored.",
    action: "Give subject, predicate and object as non-empty texts and send a new call.",
  },
  {
    symbol: "E_FS_PATH_ESCAPE", domain: "filesystem", number: 2500, rpc: 2500, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The path leads outside the permitted folder.",
    action: "Name a path below the root folder, without leaving it through \"..\", an absolute path or a link.",
  },
  {
    symbol: "E_FS_DENIED", domain: "filesystem", number: 2501, rpc: 2501, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The policy does not allow this file operation.",
    action: "Choose a path the write policy allows, or ask the operator to widen it.",
  },
  {
    symbol: "E_FS_NOT_FOUND", domain: "filesystem", number: 2502, rpc: 2502, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No file or folder exists at this path.",
    action: "List the parent folder and name something that exists.",
  },
  {
    symbol: "E_FS_WRITE_TOO_LARGE", domain: "filesystem", number: 2503, rpc: 2503, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The content to write is larger than allowed.",
    action: "Shorten the content to the size named in this error, or split it into several files.",
  },
  {
    symbol: "E_SQL_CONN", domain: "sql", number: 2600, rpc: 2600, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The database could not be reached.",
    action: "Wait a second and send the call again; if it persists, tell the operator.",
  },
  {
    symbol: "E_SQL_QUERY", domain: "sql", number: 2601, rpc: 2601, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The database rejected the query.",
    action: "Read why the database rejected it, correct the query and send the new one.",
  },
  {
    symbol: "E_NOTION_AUTH", domain: "notion", number: 2700, rpc: 2700, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Notion did not accept the credentials.",
    action: "Ask the operator for a valid Notion token and for access to the page.",
  },
  {
    symbol: "E_NOTION_RATE", domain: "notion", number: 2701, rpc: 2701, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "Notion limits the rate of calls.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "E_NOTION_NOT_FOUND", domain: "notion", number: 2702, rpc: 2702, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Notion has nothing under this id, or the integration may not see it.",
    action: "Correct the id, or ask the operator to share the page or database with the integration.",
  },
  {
    symbol: "E_NOTION_NETWORK", domain: "notion", number: 2703, rpc: 2703, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "Notion could not be reached.",
    action: "Wait a second and send the call again.",
  },
  {
    symbol: "E_NOTION_HTTP", domain: "notion", number: 2704, rpc: 2704, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "Notion answered with an error.",
    action: "Wait a second and send the call again; if it persists, tell the operator.",
  },
  {
    symbol: "E_NOTION_PARSE", domain: "notion", number: 2705, rpc: 2705, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The answer from Notion could not be read.",
    action: "Wait a second and send the call again; if it persists, tell the operator.",
  },
  {
    symbol: "E_TAVILY_HTTP", domain: "tavily", number: 2800, rpc: 2800, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: ["E_TV_HTTP"],
    message: "Tavily answered with an error.",
    action: "Wait a second and send the call again; if it persists, tell the operator.",
  },
  {
    symbol: "E_TAVILY_RATE", domain: "tavily", number: 2801, rpc: 2801, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: ["E_TV_QUOTA"],
    message: "Tavily limits the rate of searches.",
    action: "Wait as long as the retry advice says, then send the same search again.",
  },
  {
    symbol: "E_TAVILY_AUTH_MISSING", domain: "tavily", number: 2802, rpc: 2802, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["E_TV_AUTH_MISSING"],
    message: "No Tavily key is configured.",
    action: "Ask the operator to configure a Tavily key for this server.",
  },
  {
    symbol: "E_TAVILY_AUTH_FAILED", domain: "tavily", number: 2803, rpc: 2803, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["E_TV_AUTH_FAILED"],
    message: "Tavily did not accept the key.",
    action: "Ask the operator to replace the Tavily key.",
  },
  {
    symbol: "E_TAVILY_NETWORK", domain: "tavily", number: 2804, rpc: 2804, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: ["E_TV_NETWORK"],
    message: "Tavily could not be reached.",
    action: "Wait a second and send the same search again.",
  },
  {
    symbol: "E_TAVILY_INVALID_PARAMS", domain: "tavily", number: 2805, rpc: 2805, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["E_TV_INVALID_PARAMS"],
    message: "The search parameters are invalid.",
    action: "Correct the parameters named in this error and send a new search.",
  },
  {
    symbol: "E_TAVILY_PARSE", domain: "tavily", number: 2806, rpc: 2806, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: ["E_TV_PARSE"],
    message: "The answer from Tavily could not be read.",
    action: "Wait a second and send the same search again; if it persists, tell the operator.",
  },
  {
    symbol: "E_MISC", domain: "misc", number: 2900, rpc: 2900, class: "internal",
    retry: { kind: "not_retryable" }, status: "reserved", since: "0.1.0", aliases: [],
    message: "The failure does not have its own code yet.",
    action: "Report it with the reference, so that it can be given a code.",
  },
  {
    symbol: "E_RL_EXCEEDED", domain: "rate-limit", number: 3000, rpc: 3000, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Too many calls arrived in a short time.",
    action: "Wait as long as the retry advice says, then send the same call again, and space later calls out.",
  },
  {
    symbol: "E_GH_AUTH_MISSING", domain: "github", number: 3100, rpc: 3100, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No GitHub token is configured.",
    action: "Ask the operator to configure a GitHub token for this server.",
  },
  {
    symbol: "E_GH_AUTH_FAILED", domain: "github", number: 3101, rpc: 3101, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "GitHub did not accept the token.",
    action: "Ask the operator for a token that is valid and has the needed scopes.",
  },
  {
    symbol: "E_GH_NETWORK", domain: "github", number: 3102, rpc: 3102, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "GitHub could not be reached.",
    action: "Wait a second and send the call again.",
  },
  {
    symbol: "E_GH_HTTP", domain: "github", number: 3103, rpc: 3103, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "GitHub answered with an error.",
    action: "Wait a second and send the call again; if it persists, tell the operator.",
  },
  {
    symbol: "E_GH_RATE_LIMIT", domain: "github", number: 3104, rpc: 3104, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 60000 }, status: "active", since: "0.1.0", aliases: [],
    message: "GitHub limits the rate of calls.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "E_GH_NOT_FOUND", domain: "github", number: 3105, rpc: 3105, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "GitHub has nothing under this name, or the token may not see it.",
    action: "Correct the owner, repository or number, or ask for a token that can see it.",
  },
  {
    symbol: "E_GH_PARSE", domain: "github", number: 3106, rpc: 3106, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The answer from GitHub could not be read.",
    action: "Wait a second and send the call again; if it persists, tell the operator.",
  },
  {
    symbol: "SESSION_NOT_INITIALIZED", domain: "kaiza", number: 3200, rpc: 3200, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No session has been started.",
    action: "Call begin_session with the absolute path of the workspace first, then make this call.",
  },
  {
    symbol: "SESSION_LOCKED", domain: "kaiza", number: 3201, rpc: 3201, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The session is locked because an earlier call failed.",
    action: "Write a failure report below docs/reports/ with write_file; that unlocks the session. If you cannot, ask the operator to run candor workbench unlock.",
  },
  {
    symbol: "SESSION_INITIALIZATION_FAILED", domain: "kaiza", number: 3202, rpc: 3202, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The session could not be set up.",
    action: "Tell the operator, with the reference; the server itself stays usable for a new begin_session.",
  },
  {
    symbol: "INVALID_INPUT_TYPE", domain: "kaiza", number: 3203, rpc: 3203, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "An argument has the wrong type.",
    action: "Change the argument named in this error to the expected type and make a new call.",
  },
  {
    symbol: "INVALID_INPUT_FORMAT", domain: "kaiza", number: 3204, rpc: 3204, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["INVALID_JSON"],
    message: "An argument is malformed.",
    action: "Send the arguments as one JSON object in the form the tool describes.",
  },
  {
    symbol: "INVALID_INPUT_VALUE", domain: "kaiza", number: 3205, rpc: 3205, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "An argument has a value that is not allowed.",
    action: "Choose an allowed value for the argument named in this error and make a new call.",
  },
  {
    symbol: "MISSING_REQUIRED_FIELD", domain: "kaiza", number: 3206, rpc: 3206, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A required argument is missing.",
    action: "Add the argument named in this error and make a new call.",
  },
  {
    symbol: "UNAUTHORIZED_ACTION", domain: "kaiza", number: 3207, rpc: 3207, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The current role may not do this.",
    action: "Check the role and permissions of the session; use a tool meant for this role, or have a session with the right role do it.",
  },
  {
    symbol: "INSUFFICIENT_PERMISSIONS", domain: "kaiza", number: 3208, rpc: 3208, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The caller lacks a permission that this action needs.",
    action: "Ask for the permission named in this error, or choose an action that needs less.",
  },
  {
    symbol: "ROLE_MISMATCH", domain: "kaiza", number: 3209, rpc: 3209, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The role named in the call is not the role of the session.",
    action: "Omit the role, or begin a session with the role you need.",
  },
  {
    symbol: "INVALID_PATH", domain: "kaiza", number: 3210, rpc: 3210, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The path is malformed.",
    action: "Use a path that this tool accepts: list the folder first, and name a path from that list.",
  },
  {
    symbol: "PATH_NOT_FOUND", domain: "kaiza", number: 3211, rpc: 3211, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A folder of this path does not exist.",
    action: "List the parent folder and name a path that exists, or create the folder before using it.",
  },
  {
    symbol: "PATH_TRAVERSAL_BLOCKED", domain: "kaiza", number: 3212, rpc: 3212, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The path leaves its folder through \"..\".",
    action: "Name the path without \"..\" segments.",
  },
  {
    symbol: "OUTSIDE_WORKSPACE", domain: "kaiza", number: 3213, rpc: 3213, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["PATH_ESCAPE"],
    message: "The path lies outside the workspace.",
    action: "Name a path inside the workspace, or begin a session in the workspace that holds it.",
  },
  {
    symbol: "FILE_NOT_FOUND", domain: "kaiza", number: 3214, rpc: 3214, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The file does not exist.",
    action: "List the folder and name a file that exists.",
  },
  {
    symbol: "FILE_ALREADY_EXISTS", domain: "kaiza", number: 3215, rpc: 3215, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The file already exists.",
    action: "Read the file, then change it by a patch, or choose another name.",
  },
  {
    symbol: "FILE_READ_FAILED", domain: "kaiza", number: 3216, rpc: 3216, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The file could not be read.",
    action: "Tell the operator, with the reference; continue with other files.",
  },
  {
    symbol: "FILE_WRITE_FAILED", domain: "kaiza", number: 3217, rpc: 3217, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The file could not be written.",
    action: "Tell the operator, with the reference; the old content is still in place.",
  },
  {
    symbol: "PATCH_INVALID", domain: "kaiza", number: 3218, rpc: 3218, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The patch is malformed.",
    action: "Create the patch again as a unified diff against the current file.",
  },
  {
    symbol: "PATCH_APPLY_FAILED", domain: "kaiza", number: 3219, rpc: 3219, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The patch does not fit the current file.",
    action: "Read the file again and create the patch against its current content.",
  },
  {
    symbol: "HASH_MISMATCH", domain: "kaiza", number: 3220, rpc: 3220, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The file has changed since it was read.",
    action: "Read the file again, redo the change on the new content and give its hash.",
  },
  {
    symbol: "PLAN_NOT_FOUND", domain: "kaiza", number: 3221, rpc: 3221, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No plan has this hash.",
    action: "List the plans and use the hash of one of them, or have a plan written.",
  },
  {
    symbol: "PLAN_NOT_APPROVED", domain: "kaiza", number: 3222, rpc: 3222, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The plan is not approved.",
    action: "Verify that the plan is approved: its header must carry the approved status and its hash. If it does not, ask for approval.",
  },
  {
    symbol: "PLAN_ENFORCEMENT_FAILED", domain: "kaiza", number: 3223, rpc: 3223, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["SIGNATURE_MISMATCH"],
    message: "The plan does not match its own hash.",
    action: "Use the plan as it was approved, or have the changed plan approved under its new hash.",
  },
  {
    symbol: "PLAN_SCOPE_VIOLATION", domain: "kaiza", number: 3224, rpc: 3224, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The plan does not cover this file.",
    action: "Stay within the scope of the plan, or have a plan approved that covers the file.",
  },
  {
    symbol: "POLICY_VIOLATION", domain: "kaiza", number: 3225, rpc: 3225, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The change breaks a policy of the workspace.",
    action: "Change the content so that it keeps the rule named in this error, then write it.",
  },
  {
    symbol: "RUST_POLICY_VIOLATION", domain: "kaiza", number: 3226, rpc: 3226, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The Rust code breaks a policy of the workspace.",
    action: "Replace the forbidden construct named in this error, then write the file.",
  },
  {
    symbol: "PREFLIGHT_FAILED", domain: "kaiza", number: 3227, rpc: 3227, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The checks failed after the change, and it was undone.",
    action: "Read the output of the checks, fix what they found and write the corrected content.",
  },
  {
    symbol: "INVARIANT_VIOLATION", domain: "kaiza", number: 3228, rpc: 3228, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A rule that must always hold was broken.",
    action: "Stop, and report the invariant that this error names, with the reference.",
  },
  {
    symbol: "BOOTSTRAP_FAILURE", domain: "kaiza", number: 3229, rpc: 3229, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The workspace could not be opened.",
    action: "Call begin_session with the absolute path of an existing folder that no other session holds.",
  },
  {
    symbol: "SELF_AUDIT_FAILURE", domain: "kaiza", number: 3230, rpc: 3230, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The server failed its self-check and refuses all calls.",
    action: "Tell the operator; the fault must be repaired and the server restarted.",
  },
  {
    symbol: "AUDIT_LOG_FAILED", domain: "kaiza", number: 3231, rpc: 3231, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: ["AUDIT_APPEND_FAILED"],
    message: "The audit trail could not be written, so nothing was done.",
    action: "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
  },
  {
    symbol: "AUDIT_LOCK_FAILED", domain: "kaiza", number: 3232, rpc: 3232, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The audit trail is locked by another writer, so nothing was done.",
    action: "Wait a second and send the same call again; if it persists, tell the operator.",
  },
  {
    symbol: "INTERNAL_ERROR", domain: "kaiza", number: 3233, rpc: 3233, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The workspace server met an unexpected error.",
    action: "Report it with the reference; the ledger holds what happened.",
  },
  {
    symbol: "UNKNOWN_TOOL_FAILURE", domain: "kaiza", number: 3234, rpc: 3234, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The workspace tool failed without saying why.",
    action: "Report it with the reference, and check the state before you continue.",
  },
  {
    symbol: "VALIDATION_ERROR", domain: "workrail", number: 3300, rpc: 3300, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The input of the workflow tool is not valid.",
    action: "Correct all fields listed in this error and make a new call.",
  },
  {
    symbol: "NOT_FOUND", domain: "workrail", number: 3301, rpc: 3301, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No workflow or session has this id.",
    action: "Call list_workflows and use an id from its answer.",
  },
  {
    symbol: "PRECONDITION_FAILED", domain: "workrail", number: 3302, rpc: 3302, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The workflow is not in a state that allows this.",
    action: "Do what this error asks for, or start the workflow again with start_workflow.",
  },
  {
    symbol: "TIMEOUT", domain: "workrail", number: 3303, rpc: 3303, class: "timeout",
    retry: { kind: "retryable_immediate" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The workflow took too long to load.",
    action: "Send the same call again.",
  },
  {
    symbol: "INTERNAL_ERROR", domain: "workrail", number: 3304, rpc: 3304, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The workflow engine met an unexpected error.",
    action: "Report it with the reference; the workflow is unchanged.",
  },
  {
    symbol: "TOKEN_INVALID_FORMAT", domain: "workrail", number: 3305, rpc: 3305, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The token is malformed.",
    action: "Copy the token exactly as it was returned; tokens are opaque and cannot be edited or made up.",
  },
  {
    symbol: "TOKEN_UNSUPPORTED_VERSION", domain: "workrail", number: 3306, rpc: 3306, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The version of the token is not supported.",
    action: "Start the workflow again with start_workflow to receive a current token.",
  },
  {
    symbol: "TOKEN_BAD_SIGNATURE", domain: "workrail", number: 3307, rpc: 3307, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The signature of the token is wrong.",
    action: "Copy the token exactly as it was returned; if it is old, start the workflow again with start_workflow.",
  },
  {
    symbol: "TOKEN_SCOPE_MISMATCH", domain: "workrail", number: 3308, rpc: 3308, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The token cannot be used for this call.",
    action: "Use the token that the last answer gave for this kind of call and this session.",
  },
  {
    symbol: "TOKEN_UNKNOWN_NODE", domain: "workrail", number: 3309, rpc: 3309, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No stored workflow state belongs to this token.",
    action: "Start the workflow again with start_workflow.",
  },
  {
    symbol: "TOKEN_WORKFLOW_HASH_MISMATCH", domain: "workrail", number: 3310, rpc: 3310, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The workflow has changed since the token was issued.",
    action: "Start the workflow again with start_workflow, which pins the current version.",
  },
  {
    symbol: "TOKEN_SESSION_LOCKED", domain: "workrail", number: 3311, rpc: 3311, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Another operation is changing this session.",
    action: "Wait a second and send the same call again.",
  },
  {
    symbol: "SESSION_NOT_HEALTHY", domain: "workrail", number: 3312, rpc: 3312, class: "corrupt",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The stored data of this session is damaged.",
    action: "Stop using the session: export a read-only view of what is left, and start the workflow again.",
  },
  {
    symbol: "USER_ONLY_DEPENDENCY", domain: "blockers", number: 3400, rpc: 3400, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The step waits for something only a person can provide.",
    action: "Let the user answer, in the client or with the command that the blocker names, and continue with the retry token.",
  },
  {
    symbol: "MISSING_REQUIRED_OUTPUT", domain: "blockers", number: 3401, rpc: 3401, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The step requires an output that was not given.",
    action: "Add the required output and continue with the retry token from the answer.",
  },
  {
    symbol: "INVALID_REQUIRED_OUTPUT", domain: "blockers", number: 3402, rpc: 3402, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The output does not meet the contract of the step.",
    action: "Correct the output as the blocker says and continue with the retry token from the answer.",
  },
  {
    symbol: "MISSING_REQUIRED_NOTES", domain: "blockers", number: 3403, rpc: 3403, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The step requires notes that were not given.",
    action: "Write the notes for the step and continue with the retry token from the answer.",
  },
  {
    symbol: "MISSING_CONTEXT_KEY", domain: "blockers", number: 3404, rpc: 3404, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The context lacks a key that the step needs.",
    action: "Add the named key to the context and continue with the retry token from the answer.",
  },
  {
    symbol: "CONTEXT_BUDGET_EXCEEDED", domain: "blockers", number: 3405, rpc: 3405, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The context is larger than the workflow allows.",
    action: "Shorten the context below the limit named in the blocker and continue with the retry token.",
  },
  {
    symbol: "REQUIRED_CAPABILITY_UNKNOWN", domain: "blockers", number: 3406, rpc: 3406, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "It is unknown whether a capability that the step needs is available.",
    action: "Find out whether the capability is available and state it in the context.",
  },
  {
    symbol: "REQUIRED_CAPABILITY_UNAVAILABLE", domain: "blockers", number: 3407, rpc: 3407, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A capability the step needs is not available here.",
    action: "Choose a workflow that does not need the capability, or run this one where it is available.",
  },
  {
    symbol: "INVARIANT_VIOLATION", domain: "blockers", number: 3408, rpc: 3408, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The step would break a rule of the workflow engine.",
    action: "Report it with the reference; the workflow is unchanged.",
  },
  {
    symbol: "STORAGE_CORRUPTION_DETECTED", domain: "blockers", number: 3409, rpc: 3409, class: "corrupt",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The stored state of this step is damaged.",
    action: "Stop using this run, export what is left and start the workflow again.",
  },
  {
    symbol: "INVALID_PARAMS", domain: "dual", number: 3500, rpc: 3500, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The parameters of the tool are not valid.",
    action: "Correct the fields listed in this error and make a new call.",
  },
  {
    symbol: "HANDLER_ERROR", domain: "dual", number: 3501, rpc: 3501, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The tool failed while handling the call.",
    action: "Report it with the reference; if this error names a more exact code, act on that one.",
  },
  {
    symbol: "ERR_VALIDATION", domain: "dual", number: 3502, rpc: 3502, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The task is not valid.",
    action: "Correct the fields named in this error and send the call again.",
  },
  {
    symbol: "ERR_NOT_FOUND", domain: "dual", number: 3503, rpc: 3503, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No task has this id.",
    action: "List the tasks with task_list and use the id of one of them, or create one with task_create.",
  },
  {
    symbol: "ERR_WRITEBACK_REQUIRED", domain: "dual", number: 3504, rpc: 3504, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The task cannot be finished before its thoughts are recorded.",
    action: "Record at least one thought for the task with thought_record first, then set it to DONE.",
  },
  {
    symbol: "ERR_INVALID_TRANSITION", domain: "dual", number: 3505, rpc: 3505, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The task cannot change from its current status to this one.",
    action: "Choose one of the allowed statuses listed in this error.",
  },
  {
    symbol: "ERR_SESSION_EXISTS", domain: "dual", number: 3506, rpc: 3506, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A session with this id already exists.",
    action: "Use another session id, or omit it to get a new one.",
  },
  {
    symbol: "ERR_SESSION_NOT_FOUND", domain: "dual", number: 3507, rpc: 3507, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No recorded session has this id.",
    action: "Start a session with audit_session_start and use the id it returns.",
  },
  {
    symbol: "ERR_ALREADY_FINALIZED", domain: "dual", number: 3508, rpc: 3508, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The session is already finalized.",
    action: "Read its root with merkle_root; a finalized session takes no more records.",
  },
  {
    symbol: "ERR_NO_RECORDS", domain: "dual", number: 3509, rpc: 3509, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The session holds no records to finalize.",
    action: "Record at least one thought with the id of this session and finalize it then, or abandon the empty session.",
  },
  {
    symbol: "ERR_NOT_FINALIZED", domain: "dual", number: 3510, rpc: 3510, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The session is not finalized yet.",
    action: "Finalize the session with merkle_finalize before asking for its root; if it does not exist, start one with audit_session_start.",
  },
  {
    symbol: "ROUND_NOT_FOUND", domain: "dual", number: 3511, rpc: 3511, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No round of votes has this id.",
    action: "List the rounds with consensus_gossip and use the id of one of them, or propose one with consensus_propose.",
  },
  {
    symbol: "ALREADY_VOTED", domain: "dual", number: 3512, rpc: 3512, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "This voter has already voted in this round.",
    action: "Read the state of the round with consensus_finality; the first vote counts.",
  },
  {
    symbol: "INVALID_KEY", domain: "dual", number: 3513, rpc: 3513, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The key is not valid.",
    action: "Give the key as hexadecimal text of the length the tool describes.",
  },
  {
    symbol: "FALLBACK_CHAIN_EXHAUSTED", domain: "dual", number: 3514, rpc: 3514, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: ["FallbackChainExhaustedError"],
    message: "Every route of the fallback chain failed.",
    action: "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
  },
  {
    symbol: "TOOL_NOT_ADMITTED", domain: "dual", number: 3515, rpc: 3515, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: ["ToolNotAdmittedError"], effect: "none",
    message: "The mode of the server does not permit this tool.",
    action: "Use a tool that the current mode permits, or ask the operator to change the mode.",
  },
  {
    symbol: "TOOL_LOCK_TIMEOUT", domain: "dual", number: 3516, rpc: 3516, class: "timeout",
    retry: { kind: "retryable_after_ms", afterMs: 500 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The tool was busy with another call for too long.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "DB_BUSY", domain: "dual", number: 3517, rpc: 3517, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 250 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The database is busy.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "DB_FULL", domain: "dual", number: 3518, rpc: 3518, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The database is full.",
    action: "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
  },
  {
    symbol: "UNIQUE_VIOLATION", domain: "dual", number: 3519, rpc: 3519, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A record with this identity already exists.",
    action: "Read the existing record, or use another identity.",
  },
  {
    symbol: "INTERNAL_ERROR", domain: "candor", number: 4000, rpc: -32603, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "An unexpected error occurred.",
    action: "Report it with the reference; the ledger holds what happened.",
  },
  {
    symbol: "UNKNOWN_TOOL_FAILURE", domain: "candor", number: 4001, rpc: 4001, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The tool reported a failure without saying why.",
    action: "Read the tool's own message, and report it with the reference.",
  },
  {
    symbol: "UNCODED_ERROR", domain: "candor", number: 4002, rpc: 4002, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The server reported an error without a registered code.",
    action: "Report it to the author of the server, with the reference.",
  },
  {
    symbol: "MASKED_FAILURE", domain: "candor", number: 4003, rpc: 4003, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The answer was marked as a success but describes a failure.",
    action: "Treat the call as failed and read the answer for its reason; report the tool to its author.",
  },
  {
    symbol: "PARSE_ERROR", domain: "candor", number: 4005, rpc: -32700, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The message is not valid JSON.",
    action: "Send one complete JSON-RPC message in UTF-8 JSON.",
  },
  {
    symbol: "INVALID_REQUEST", domain: "candor", number: 4006, rpc: -32600, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The message is not a valid JSON-RPC request.",
    action: "Send an object with jsonrpc \"2.0\", a method name and an id that is a text or a whole number.",
  },
  {
    symbol: "METHOD_NOT_FOUND", domain: "candor", number: 4007, rpc: -32601, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The server does not offer this method.",
    action: "Use only methods of the capabilities that the server announced.",
  },
  {
    symbol: "INVALID_REQUEST_PARAMS", domain: "candor", number: 4008, rpc: -32602, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The parameters of the request are invalid for its method.",
    action: "Correct the parameters named in this error and send a new request.",
  },
  {
    symbol: "TOOL_NOT_FOUND", domain: "candor", number: 4009, rpc: -32602, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "No tool has this name.",
    action: "Call tools/list and use a name from its answer.",
  },
  {
    symbol: "RESOURCE_NOT_FOUND", domain: "candor", number: 4010, rpc: -32602, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No resource has this URI.",
    action: "Call resources/list and use a URI from its answer.",
  },
  {
    symbol: "PROMPT_NOT_FOUND", domain: "candor", number: 4011, rpc: -32602, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "No prompt has this name.",
    action: "Call prompts/list and use a name from its answer.",
  },
  {
    symbol: "INVALID_CURSOR", domain: "candor", number: 4012, rpc: -32602, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The page cursor is not valid.",
    action: "Start the list again without a cursor.",
  },
  {
    symbol: "INVALID_ARGUMENTS", domain: "candor", number: 4013, rpc: 4013, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The arguments do not match the input schema of the tool.",
    action: "Correct the arguments and make a new call.",
  },
  {
    symbol: "OUTPUT_INVALID", domain: "candor", number: 4014, rpc: 4014, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The result of the tool does not match its output schema.",
    action: "Report it to the author of the server; the tool may have had its effect already.",
  },
  {
    symbol: "RESULT_NOT_ENCODABLE", domain: "candor", number: 4015, rpc: 4015, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The result of the tool cannot be written as JSON.",
    action: "Report it to the author of the server; the tool may have had its effect already.",
  },
  {
    symbol: "EMPTY_RESULT", domain: "candor", number: 4016, rpc: 4016, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The tool returned neither a result nor an error.",
    action: "Check whether the tool took effect, and report it to the author of the server.",
  },
  {
    symbol: "MESSAGE_TOO_LARGE", domain: "candor", number: 4017, rpc: -32600, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The message is larger than the receiver accepts.",
    action: "Send less in one message.",
  },
  {
    symbol: "MESSAGE_TOO_DEEP", domain: "candor", number: 4018, rpc: -32600, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The message is nested too deeply.",
    action: "Send a flatter structure.",
  },
  {
    symbol: "BATCH_UNSUPPORTED", domain: "candor", number: 4019, rpc: -32600, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Batches are not supported.",
    action: "Send each request as its own message.",
  },
  {
    symbol: "DUPLICATE_REQUEST_ID", domain: "candor", number: 4020, rpc: -32600, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "A request with this id is still open.",
    action: "Use an id that no open request of this connection has.",
  },
  {
    symbol: "NOT_INITIALIZED", domain: "candor", number: 4021, rpc: -32600, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The connection has not been initialized.",
    action: "Send initialize first, and notifications/initialized after its answer.",
  },
  {
    symbol: "HEADER_MISMATCH", domain: "candor", number: 4022, rpc: -32020, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "A header does not agree with the body of the request.",
    action: "Send the same method, name and protocol version in the headers as in the body.",
  },
  {
    symbol: "CAPABILITY_REQUIRED", domain: "candor", number: 4023, rpc: -32021, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The request needs a client capability that was not declared.",
    action: "Declare the capability named in this error, if the client has it, and send a new request.",
  },
  {
    symbol: "PROTOCOL_VERSION_UNSUPPORTED", domain: "candor", number: 4024, rpc: -32022, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The protocol version is not supported.",
    action: "Use one of the supported versions listed in this error.",
  },
  {
    symbol: "MALFORMED_MESSAGE", domain: "candor", number: 4025, rpc: -32600, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The message is not a request, a notification or a response.",
    action: "Send a request, a notification or a response, with only the members it may have.",
  },
  {
    symbol: "STRAY_ANSWER", domain: "candor", number: 4026, rpc: 4026, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The answer does not belong to an open call.",
    action: "Report it to the author of the server, with the reference; the call is still open.",
  },
  {
    symbol: "UNAUTHENTICATED", domain: "candor", number: 4030, rpc: 4030, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The caller is not signed in.",
    action: "Sign in, or ask the user for valid credentials.",
  },
  {
    symbol: "PERMISSION_DENIED", domain: "candor", number: 4031, rpc: 4031, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The caller may not do this.",
    action: "Ask the user or the operator for the permission, or choose something that is allowed.",
  },
  {
    symbol: "NOT_FOUND", domain: "candor", number: 4032, rpc: 4032, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The requested object does not exist.",
    action: "List the existing objects and name one of them.",
  },
  {
    symbol: "ALREADY_EXISTS", domain: "candor", number: 4033, rpc: 4033, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The object to create already exists.",
    action: "Use the existing object, or choose another name.",
  },
  {
    symbol: "CONFLICT", domain: "candor", number: 4034, rpc: 4034, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The state has changed since it was read.",
    action: "Read the current state and apply the change to it again.",
  },
  {
    symbol: "PRECONDITION_FAILED", domain: "candor", number: 4035, rpc: 4035, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Something else has to happen first.",
    action: "Do what this error names first, then make this call.",
  },
  {
    symbol: "CONFIGURATION_MISSING", domain: "candor", number: 4036, rpc: 4036, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The server lacks a setting that it needs.",
    action: "Ask the operator to configure the key, token or setting named in the message.",
  },
  {
    symbol: "DEPENDENCY_MISSING", domain: "candor", number: 4037, rpc: 4037, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "A program or library that the tool needs is not installed.",
    action: "Ask the operator to install it, or use a tool that does not need it.",
  },
  {
    symbol: "PAYMENT_REQUIRED", domain: "candor", number: 4038, rpc: 4038, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The service asks for payment first.",
    action: "Tell the user that a payment or a larger plan is needed.",
  },
  {
    symbol: "RATE_LIMITED", domain: "candor", number: 4039, rpc: 4039, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Too many calls in a short time.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "QUOTA_EXCEEDED", domain: "candor", number: 4040, rpc: 4040, class: "rate_limited",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The quota is used up.",
    action: "Tell the user that the quota is used up; raise it, or wait for the next period.",
  },
  {
    symbol: "TIMEOUT", domain: "candor", number: 4041, rpc: 4041, class: "timeout",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "No answer came in time.",
    action: "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
  },
  {
    symbol: "CANCELLED", domain: "candor", number: 4042, rpc: 4042, class: "cancelled",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The call was cancelled.",
    action: "Continue without the result; make a new call only if it is still needed.",
  },
  {
    symbol: "TOO_LARGE", domain: "candor", number: 4043, rpc: 4043, class: "too_large",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The input or the result is too large.",
    action: "Ask for less or send less: fewer items, a smaller range, a shorter text.",
  },
  {
    symbol: "UNSUPPORTED", domain: "candor", number: 4044, rpc: 4044, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "This is not supported here.",
    action: "Use another approach; the tool's description lists what is supported.",
  },
  {
    symbol: "UNAVAILABLE", domain: "candor", number: 4045, rpc: 4045, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service is not available at the moment.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "DATA_CORRUPT", domain: "candor", number: 4046, rpc: 4046, class: "corrupt",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "Stored data is damaged.",
    action: "Stop changing this data and tell the operator.",
  },
  {
    symbol: "DISK_FULL", domain: "candor", number: 4047, rpc: 4047, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: [],
    message: "There is no space left to store the data.",
    action: "Wait as long as the retry advice says and send the same call again; if it persists, ask the operator to free space.",
  },
  {
    symbol: "UPSTREAM_UNREACHABLE", domain: "candor", number: 4050, rpc: 4050, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool could not be reached.",
    action: "Wait as long as the retry advice says, then send the same call again; if it persists, tell the operator.",
  },
  {
    symbol: "UPSTREAM_TIMEOUT", domain: "candor", number: 4051, rpc: 4051, class: "timeout",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool did not answer in time.",
    action: "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
  },
  {
    symbol: "UPSTREAM_UNAUTHENTICATED", domain: "candor", number: 4052, rpc: 4052, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool did not accept the credentials.",
    action: "Ask the operator to renew the key or token that the server uses.",
  },
  {
    symbol: "UPSTREAM_FORBIDDEN", domain: "candor", number: 4053, rpc: 4053, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool does not permit this.",
    action: "Ask the operator to widen the access of the server, or choose something that is allowed.",
  },
  {
    symbol: "UPSTREAM_NOT_FOUND", domain: "candor", number: 4054, rpc: 4054, class: "not_found",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool did not find this.",
    action: "List the objects that exist there and name one of them.",
  },
  {
    symbol: "UPSTREAM_CONFLICT", domain: "candor", number: 4055, rpc: 4055, class: "conflict",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool reports a conflict.",
    action: "Read the current state from the service and apply the change to it again.",
  },
  {
    symbol: "UPSTREAM_REJECTED", domain: "candor", number: 4056, rpc: 4056, class: "bad_request",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool rejected the request.",
    action: "Read the reason, correct the arguments and make a new call.",
  },
  {
    symbol: "UPSTREAM_RATE_LIMITED", domain: "candor", number: 4057, rpc: 4057, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool limits the rate of calls.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "UPSTREAM_ERROR", domain: "candor", number: 4058, rpc: 4058, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool failed.",
    action: "Wait as long as the retry advice says and send the same call again; if it may have changed something, check that first.",
  },
  {
    symbol: "UPSTREAM_UNAVAILABLE", domain: "candor", number: 4059, rpc: 4059, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool is not available.",
    action: "Wait as long as the retry advice says, then send the same call again.",
  },
  {
    symbol: "UPSTREAM_BAD_RESPONSE", domain: "candor", number: 4060, rpc: 4060, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The service behind the tool sent an unreadable answer.",
    action: "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
  },
  {
    symbol: "UPSTREAM_GONE", domain: "candor", number: 4065, rpc: 4065, class: "unavailable",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The server exited or disconnected during the call.",
    action: "Check whether the call took effect before making a new one.",
  },
  {
    symbol: "UPSTREAM_MALFORMED", domain: "candor", number: 4066, rpc: 4066, class: "internal",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The server answered with an invalid message.",
    action: "Check whether the call took effect before making a new one; report the server to its author.",
  },
  {
    symbol: "CALL_TIMEOUT", domain: "candor", number: 4067, rpc: 4067, class: "timeout",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [],
    message: "The call did not finish before its deadline.",
    action: "Check whether the call took effect before making a new one; request less work per call.",
  },
  {
    symbol: "CIRCUIT_OPEN", domain: "candor", number: 4068, rpc: 4068, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The server failed too often and is not called for a while.",
    action: "Wait as long as the retry advice says, then send the same call again, or use another tool meanwhile.",
  },
  {
    symbol: "RETRY_EXHAUSTED", domain: "candor", number: 4069, rpc: 4069, class: "unavailable",
    retry: { kind: "not_retryable" }, status: "reserved", since: "0.1.0", aliases: [],
    message: "All permitted attempts of the call failed.",
    action: "Stop calling for now, and tell the operator.",
  },
  {
    symbol: "REPEATED_FAILURE", domain: "candor", number: 4070, rpc: 4070, class: "precondition",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "This call keeps failing in the same way.",
    action: "Change the approach: read the earlier error and act on it, or use another tool.",
  },
  {
    symbol: "TOO_MANY_CALLS", domain: "candor", number: 4071, rpc: 4071, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Too many calls are open.",
    action: "Wait as long as the retry advice says, then send the same call again; keep fewer calls open.",
  },
  {
    symbol: "TOO_MANY_SESSIONS", domain: "candor", number: 4072, rpc: 4072, class: "rate_limited",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Too many sessions are open.",
    action: "Wait as long as the retry advice says, then send the same call again; close sessions that are not needed.",
  },
  {
    symbol: "GATEWAY_DRAINING", domain: "candor", number: 4073, rpc: 4073, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 2000 }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The gateway is shutting down.",
    action: "Wait as long as the retry advice says, then connect again and send the same call.",
  },
  {
    symbol: "HOST_REFUSED", domain: "candor", number: 4074, rpc: 4074, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "This server does not accept the Host header.",
    action: "Connect by a name on the list of allowed hosts, or ask the operator to add this one.",
  },
  {
    symbol: "ORIGIN_REFUSED", domain: "candor", number: 4075, rpc: 4075, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "Requests from this origin are not allowed.",
    action: "Ask the operator to add the origin to the list of allowed ones.",
  },
  {
    symbol: "TOKEN_REQUIRED", domain: "candor", number: 4076, rpc: 4076, class: "denied",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "An access token is required.",
    action: "Send the token in the Authorization header; ask the operator for one.",
  },
  {
    symbol: "METHOD_NOT_ALLOWED", domain: "candor", number: 4077, rpc: 4077, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The HTTP method is not allowed here.",
    action: "Use a method listed in the Allow header.",
  },
  {
    symbol: "MEDIA_TYPE_UNSUPPORTED", domain: "candor", number: 4078, rpc: 4078, class: "unsupported",
    retry: { kind: "not_retryable" }, status: "active", since: "0.1.0", aliases: [], effect: "none",
    message: "The content type is not supported.",
    action: "Send application/json, and accept both application/json and text/event-stream.",
  },
  {
    symbol: "CONFIG_INVALID", domain: "candor", number: 4079, rpc: 4079, class: "precondition",
    retry: { kind: "not_retryable" }, status: "reserved", since: "0.1.0", aliases: [],
    message: "The configuration is not valid.",
    action: "Correct the setting that this error names.",
  },
  {
    symbol: "PROBE_TARGET_UNREACHABLE", domain: "candor", number: 4085, rpc: 4085, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "reserved", since: "0.1.0", aliases: [],
    message: "The server to be probed does not answer.",
    action: "Wait as long as the retry advice says and start the probe again; if it persists, check the command or address.",
  },
  {
    symbol: "PROBE_UNSAFE_CALL", domain: "candor", number: 4086, rpc: 4086, class: "denied",
    retry: { kind: "not_retryable" }, status: "reserved", since: "0.1.0", aliases: [], effect: "none",
    message: "The probe does not make calls that could change something.",
    action: "Permit the tool by name if it may be called, or exclude it.",
  },
  {
    symbol: "LEDGER_DAMAGED", domain: "candor", number: 4090, rpc: 4090, class: "corrupt",
    retry: { kind: "not_retryable" }, status: "reserved", since: "0.1.0", aliases: [],
    message: "The ledger is damaged.",
    action: "Stop writing to this chain, keep the file as evidence and tell the operator.",
  },
  {
    symbol: "AUDIT_LOG_FAILED", domain: "candor", number: 4091, rpc: 4091, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 5000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The ledger could not be written, so the call was not made.",
    action: "Wait as long as the retry advice says and send the same call again; if it persists, tell the operator.",
  },
  {
    symbol: "AUDIT_LOCK_FAILED", domain: "candor", number: 4092, rpc: 4092, class: "unavailable",
    retry: { kind: "retryable_after_ms", afterMs: 1000 }, status: "active", since: "0.1.0", aliases: [],
    message: "The ledger is held by another writer, so the call was not made.",
    action: "Wait a second and send the same call again; if it persists, tell the operator.",
  },
] as const;

/** A registered symbol. Two domains may share one. */
export type Code = (typeof codes)[number]["symbol"];

/** A registered code with its row of the catalogue. */
export interface CodeInfo {
  readonly symbol: Code;
  readonly domain: Domain;
  readonly number: number;
  /** The number written in a JSON-RPC error. */
  readonly rpc: number;
  readonly class: Class;
  /** The advice that holds when an error does not say otherwise. */
  readonly retry: Retry;
  /** "none": a call with this code was refused before it began, or was rolled back. */
  readonly effect?: "none";
  readonly status: Status;
  readonly since: string;
  /** Other spellings that servers use. */
  readonly aliases: readonly string[];
  /** The public sentence. */
  readonly message: string;
  /** What to do next. */
  readonly action: string;
}

/** One argument that does not fit the schema. */
export interface Issue {
  /** JSON Pointer of the argument itself. */
  readonly path: string;
  readonly rule?: string;
  readonly message?: string;
  readonly expected?: JsonValue;
  readonly got?: string;
  readonly hint?: string;
  readonly example?: JsonValue;
}

export type Cause = string | { readonly message: string; readonly code: string | null; readonly name: string | null };

/**
 * The canonical error. A gateway leaves out what the reader knows: the domain "candor", the number, the origin of a guess about a tool, and a
 * message that is the code's. Act on class and retry, and on code where you know it; never parse the message.
 */
export interface CandorError {
  readonly code: Code;
  readonly class: Class;
  readonly message?: string;
  readonly retry: Retry;
  readonly suggestion?: string;
  readonly details?: JsonValue;
  readonly domain?: Domain;
  readonly number?: number;
  readonly origin?: { readonly by: Party; readonly inferred: boolean };
  readonly ref: string;
  readonly tool?: string | null;
  readonly role?: string | null;
  readonly session_id?: string | null;
  readonly workspace_root?: string | null;
  readonly invariant_id?: string | null;
  readonly phase_id?: string | null;
  readonly plan_hash?: string | null;
  readonly cause?: Cause;
  readonly timestamp?: string;
  readonly stack?: string;
}

/** The member of a result's _meta, and of a JSON-RPC error's data, that holds a CandorError. */
export const metaKey = "dev.candor/error";

const table: readonly CodeInfo[] = codes;
const byId: ReadonlyMap<string, CodeInfo> = new Map(
  table.flatMap((c) => [c.symbol, ...c.aliases].map((s): [string, CodeInfo] => [c.domain + "/" + s, c])),
);
const byNumber: ReadonlyMap<number, CodeInfo> = new Map(table.map((c): [number, CodeInfo] => [c.number, c]));

/** Finds a code by its domain and its symbol or an alias. */
export function findCode(domain: string, symbol: string): CodeInfo | undefined {
  return byId.get(domain + "/" + symbol);
}

/** Finds a code by its own number. */
export function findNumber(number: number): CodeInfo | undefined {
  return byNumber.get(number);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const parties: readonly unknown[] = ["tool", "server", "gateway", "transport", "client"];

/** Reports whether a value is one of the three forms of retry advice. */
export function isRetry(value: unknown): value is Retry {
  if (!isObject(value)) return false;
  const members = Object.keys(value).length;
  switch (value.kind) {
    case "not_retryable":
    case "retryable_immediate":
      return members === 1;
    case "retryable_after_ms":
      return members === 2 && Number.isSafeInteger(value.afterMs) && (value.afterMs as number) > 0;
    default:
      return false;
  }
}

/** Reports whether a value is a canonical error: all required members, and a registered code with its own class and number. */
export function isCandorError(value: unknown): value is CandorError {
  if (!isObject(value) || !isObject(value.origin)) return false;
  const known = findCode(String(value.domain), String(value.code));
  return (
    known !== undefined &&
    known.symbol === value.code &&
    known.number === value.number &&
    known.class === value.class &&
    typeof value.message === "string" &&
    isRetry(value.retry) &&
    typeof value.ref === "string" &&
    parties.includes(value.origin.by) &&
    typeof value.origin.inferred === "boolean"
  );
}

/**
 * A canonical error as it was read. A later version of the contract may have given it a code and a domain that are not listed here. The
 * brief form of an error has neither number nor origin.
 */
export type ReadError = Omit<CandorError, "code" | "domain" | "number" | "origin" | "ref"> & {
  readonly code: string;
  readonly domain?: string;
  readonly number?: number;
  readonly origin?: CandorError["origin"];
  readonly ref?: string;
};

const classNames: readonly unknown[] = ["bad_request", "not_found", "denied", "conflict", "precondition", "rate_limited", "unavailable", "timeout", "cancelled", "too_large", "unsupported", "corrupt", "internal"];

/**
 * Reads a canonical error, also one of a later version of the contract: an unregistered code is kept, and the caller acts on its class
 * and retry advice. An unknown class is read as "internal". In the brief form, which has only code, class, retry and ref, the message is
 * that of the code. The result is undefined for any other value, and for a registered code with another class or number than the
 * catalogue's.
 */
export function readCandorError(value: unknown): ReadError | undefined {
  if (isCandorError(value)) return value;
  if (!isObject(value)) return undefined;
  const known = findCode(String(value.domain ?? "candor"), String(value.code));
  if (known !== undefined && (known.class !== value.class || known.number !== (value.number ?? known.number))) return undefined;
  const message = value.message ?? known?.message;
  const sound =
    typeof value.code === "string" &&
    /^[A-Z][A-Z0-9_]{0,63}$/.test(value.code) &&
    typeof value.class === "string" &&
    typeof message === "string" &&
    message !== "" &&
    isRetry(value.retry);
  if (!sound) return undefined;
  return { ...value, message, class: classNames.includes(value.class) ? value.class : "internal" } as unknown as ReadError;
}

/** How long to wait before the same call may be sent again, in milliseconds; undefined if it may not. */
export function retryDelay(retry: Retry): number | undefined {
  switch (retry.kind) {
    case "not_retryable":
      return undefined;
    case "retryable_immediate":
      return 0;
    case "retryable_after_ms":
      return retry.afterMs;
  }
}
