package probe

import "encoding/json"

// Group is what kind of misuse a case is.
type Group string

// The groups.
const (
	GroupValidation Group = "validation" // arguments that the tool's own schema refuses, or that nobody asked for
	GroupDomain     Group = "domain"     // sound arguments that name what does not exist
	GroupUpstream   Group = "upstream"   // the service behind the tool fails
	GroupProtocol   Group = "protocol"   // misuse of the protocol itself
	GroupLiveness   Group = "liveness"   // cancel, duplicate id, oversize: does it stay alive
)

// Expect is what an honest server does with a case.
type Expect string

// The expectations.
const (
	ExpectRefusal Expect = "refusal"  // it must fail, and the tool must not have run
	ExpectFailure Expect = "failure"  // it should fail: what was asked for does not exist, or the upstream is down
	ExpectAnswer  Expect = "answer"   // any answer will do
	ExpectSilence Expect = "anything" // silence is allowed, too: the protocol gives no way to answer, or none is needed
)

// Case is one thing that is done to a server.
type Case struct {
	Group Group  `json:"group"`
	Name  string `json:"case"`            // as in missing_required; see [Names]
	Tool  string `json:"tool,omitempty"`  // "" for the protocol
	Field string `json:"field,omitempty"` // JSON Pointer of the argument that it is about
	Fault string `json:"fault,omitempty"` // of the fake upstream, as in 429

	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Raw    []byte          `json:"raw,omitempty"` // sent as it is, in place of a request

	Expect Expect `json:"expect"`
	Again  int    `json:"again,omitempty"` // the same case for the n-th time after the first
	Care   Care   `json:"care,omitempty"`  // "" where the tool may be called for real
}

// Care says how a tool is treated that may not be called for real.
type Care string

// The kinds of care. A tool that is treated with either gets only the cases that [Case.Refusable] reports, and no further case after the
// first sign that it ran.
const (
	CareStop  Care = "stop"  // it does not say that it only reads
	CareFirst Care = "first" // it may also destroy something: it is not called at all once a tool of the server ran without its required arguments
)

// Refusable reports a case that a tool refuses before it does anything, as far as that can be known: required arguments are missing, or the
// arguments are not an object. A wrong type, an unknown member or a bad choice is ignored by many servers, which then carry out the call.
func (c *Case) Refusable() bool {
	switch c.Name {
	case CaseMissingRequired, CaseArgsAbsent, CaseArgsNull, CaseArgsArray, CaseArgsString:
		return c.Expect == ExpectRefusal
	default:
		return false
	}
}

// Key names a case in its run, the same in every run with the same tools.
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

// The names of cases, those of the corpus of real servers first.
const (
	CaseMissingRequired = "missing_required" // no argument at all
	CaseMissingOne      = "missing_one"      // all that is required but one
	CaseWrongType       = "wrong_type"
	CaseBadEnum         = "bad_enum"
	CaseOutOfRange      = "out_of_range"
	CaseExtraProperty   = "extra_property"
	CaseArgsArray       = "args_array"
	CaseArgsString      = "args_string"
	CaseArgsAbsent      = "args_absent"
	CaseNonexistent     = "nonexistent"
	CaseNoArgsValid     = "no_args_valid" // a tool that needs no argument is called with none

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
	CaseValid         = "valid"        // plain arguments that the tool accepts, with the examples of its schema
	CaseUnknownIDs    = "unknown_ids"  // optional ids that name nothing
	CaseEmptyText     = "empty_text"   // "" where a text with content is wanted
	CaseArgsNull      = "args_null"    // arguments is null
	CaseTooLong       = "too_long"     // a text beyond maxLength
	CaseNullMessage   = "null_message" // the line is null
	CaseOversize      = "oversize"     // a request of some MiB
	CaseDuplicateID   = "duplicate_id" // two requests at once under one id
	CaseCancel        = "cancel"       // a call that is called off
	CaseSlow          = "slow"         // a call that must end by its deadline
	CaseStillAlive    = "still_alive"  // a ping, or tools/list, after something that may have hurt
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
