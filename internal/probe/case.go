package probe

import "encoding/json"

// Group is the kind of a case.
type Group string

// The groups.
const (
	GroupValidation Group = "validation" // arguments that the tool's schema refuses or does not know
	GroupDomain     Group = "domain"     // valid arguments, most of which name something that does not exist
	GroupUpstream   Group = "upstream"   // the service behind the tool fails
	GroupProtocol   Group = "protocol"   // invalid protocol messages
	GroupLiveness   Group = "liveness"   // cancellation, duplicate id, oversize: the server must stay alive
)

// Expect is the correct reaction of a server to a case.
type Expect string

// The expectations.
const (
	ExpectRefusal Expect = "refusal"  // it must fail, and the tool must not have run
	ExpectFailure Expect = "failure"  // it should fail: the thing that is asked for does not exist, or the upstream is down
	ExpectAnswer  Expect = "answer"   // any answer
	ExpectSilence Expect = "anything" // any answer or none: the protocol does not require one
)

// Case is one request, or one raw message, that is sent to a server.
type Case struct {
	Group Group  `json:"group"`
	Name  string `json:"case"`            // as in missing_required
	Tool  string `json:"tool,omitempty"`  // "" for the protocol
	Field string `json:"field,omitempty"` // JSON Pointer of the wrong argument
	Fault string `json:"fault,omitempty"` // fault of the fake upstream, as in 429

	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Raw    []byte          `json:"raw,omitempty"` // message to send unchanged instead of a request

	Expect Expect `json:"expect"`
	Again  int    `json:"again,omitempty"` // number of the repetition, 0 for the first
	Care   Care   `json:"care,omitempty"`  // "" if the tool may be called with valid arguments
}

// Care is how a tool is called that may not be called with valid arguments.
type Care string

// The kinds of care. With either of them a tool gets only cases for which [Case.Refusable] is true, and no further case after the first
// sign that it ran.
const (
	CareStop  Care = "stop"  // the tool is not declared read-only
	CareFirst Care = "first" // it may also destroy data: it is not called at all once a tool of the server ran without its required arguments
)

// Refusable reports whether a tool can be expected to refuse the case before it does anything: required arguments are missing, or the
// arguments are not an object. Many servers ignore a wrong type, an unknown member or a bad enum value and carry out the call.
func (c *Case) Refusable() bool {
	switch c.Name {
	case CaseMissingRequired, CaseArgsAbsent, CaseArgsNull, CaseArgsArray, CaseArgsString:
		return c.Expect == ExpectRefusal
	default:
		return false
	}
}

// Key identifies a case in a run. It is the same in every run with the same tools.
func (c *Case) Key() string {
	key := string(c.Group) + "/" + c.Name
	for _, part := range []string{c.Tool, c.Field, c.Fault} {
		if part != "" {
			key += "/" + part
		}
	}
	if c.Again > 0 {
		key += "/again"
	}
	return key
}

// The names of cases. Those of the corpus of recorded servers come first.
const (
	CaseMissingRequired = "missing_required" // without arguments
	CaseMissingOne      = "missing_one"      // one required argument is missing
	CaseWrongType       = "wrong_type"
	CaseBadEnum         = "bad_enum"
	CaseOutOfRange      = "out_of_range"
	CaseExtraProperty   = "extra_property"
	CaseArgsArray       = "args_array"
	CaseArgsString      = "args_string"
	CaseArgsAbsent      = "args_absent"
	CaseNonexistent     = "nonexistent"
	CaseNoArgsValid     = "no_args_valid" // no arguments, for a tool that requires none

	CaseUnknownTool          = "unknown_tool"
	CaseUnknownMethod        = "unknown_method"
	CaseToolsCallNoName      = "tools_call_no_name"
	CaseToolsCallNoParams    = "tools_call_no_params"
	CaseToolsListBadCursor   = "tools_list_bad_cursor"
	CaseResourcesReadMissing = "resources_read_missing"
	CaseResourcesReadBadURI  = "resources_read_bad_uri"
	CaseResourcesReadNoURI   = "resources_read_no_uri"
	CasePromptsGetUnknown    = "prompts_get_unknown"
	CaseSetLevelBad          = "setlevel_bad"
	CaseCompleteBadRef       = "complete_bad_ref"
	CaseMalformedJSON        = "malformed_json"
	CaseNotJSONRPC           = "not_jsonrpc"
	CaseNoMethod             = "no_method"
	CaseBatch                = "batch"
	CaseParamsArray          = "params_array"

	// Not in the corpus.
	CaseValid         = "valid"        // ordinary valid arguments, with the examples of its schema
	CaseUnknownIDs    = "unknown_ids"  // optional ids of things that do not exist
	CaseEmptyText     = "empty_text"   // "" for a text that must not be empty
	CaseArgsNull      = "args_null"    // arguments is null
	CaseTooLong       = "too_long"     // a text longer than maxLength
	CaseNullMessage   = "null_message" // the line is null
	CaseOversize      = "oversize"     // a request of some MiB
	CaseDuplicateID   = "duplicate_id" // two concurrent requests with the same id
	CaseCancel        = "cancel"       // a call that is cancelled
	CaseUpstreamDown  = "up_down"      // nothing listens
	CaseUpstream401   = "up_401"
	CaseUpstream403   = "up_403"
	CaseUpstream404   = "up_404"
	CaseUpstream409   = "up_409"
	CaseUpstream422   = "up_422"
	CaseUpstream429   = "up_429"
	CaseUpstream500   = "up_500"
	CaseUpstream503   = "up_503"
	CaseUpstreamHTML  = "up_200html"
	CaseUpstreamNoise = "up_garbage"
	CaseUpstreamSlow  = "up_slow"
)
