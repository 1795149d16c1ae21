package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

// fieldRules: whoever refuses arguments says which.
var fieldRules = []rule{
	{Rule: probe.Rule{ID: "EC014", Title: "Message that says nothing", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "The model has nothing to go by, and tries at random.",
		Clause: "JSON-RPC 2.0, 5.1: message SHOULD be limited to a concise single sentence; conformance suite, tools-call-error: content[0].text is not empty",
		Fix:    "Say in one sentence what failed and what to do next."},
		each: func(s *sight) (string, bool) {
			return "fails without saying what failed", s.told() && s.facts().own == nil && s.saysNothing()
		}},
	{Rule: probe.Rule{ID: "EC015", Title: "Bad argument not named", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "A model that is not told which argument is wrong changes all of them; one client sent the same bad date three times.",
		Clause: "SEP-1303: validation errors carry what the model needs to correct itself",
		Fix:    "Name the argument, by its path, in the error."},
		each: func(s *sight) (string, bool) {
			return "refuses arguments without naming the one that is wrong", s.refusesArguments() && len(s.culprits()) > 0 && s.namedCulprits() == 0 && !s.namesAnother()
		}},
	{Rule: probe.Rule{ID: "EC052", Title: "Call refused that the schema accepts", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "A model fills in what the schema requires; where that is not enough its first call fails, every time.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Data Types: inputSchema is the JSON Schema that defines the expected parameters",
		Fix:    "List the argument in required, or say with anyOf which of several are needed."},
		each: wantsMore},
	{Rule: probe.Rule{ID: "EC033", Title: "Not all issues at once", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "Each issue that is held back costs another call.",
		Clause: "google.rpc.BadRequest, which AIP-193 asks for: describes all violations in a request",
		Fix:    "Collect all issues before refusing."},
		each: func(s *sight) (string, bool) {
			return "names some of the missing arguments and not all", s.refusesArguments() && s.namedCulprits() > 0 && s.namedCulprits() < len(s.culprits())
		}},
}

// demand are the words with which a server asks for an argument that it did not get.
var demand = lazyregexp.New(`(?i)\b(required?|requires|missing|must (be )?(provided?|specif(y|ied)|given|supplied|set)|provide|specify|supply|need(s|ed)?|at least one|expected|undefined)\b`)

// wantsMore finds a server that refuses arguments which its own schema accepts, because one is missing that the schema does not require.
func wantsMore(s *sight) (what string, bad bool) {
	if s.tool == nil || s.Case.Group != probe.GroupDomain || !s.told() || s.reading.Error.Class() != candor.ClassBadRequest || !demand.MatchString(s.text()) {
		return "", false
	}
	arguments := s.arguments()
	form, err := schema.Compile(s.tool.InputSchema)
	if err != nil || arguments.Type() != wire.TypeObject || !form.Accepts(arguments.Raw()) {
		return "", false
	}
	if arguments.Len() == 0 {
		return "refuses a call without arguments, which its own schema accepts", true
	}
	words := s.words()
	for key := range schemaOf(s.tool).Path("properties").Members() {
		name, _ := key.Str()
		if _, sent := arguments.Get(name); !sent && (s.hasIssue(name) || names(words, name)) && !s.blamesFiller(words) {
			return "refuses a call for want of an argument that its own schema does not require", true
		}
	}
	return "", false
}

// refusesArguments reports a told refusal that is about the arguments: something else may have to be mended first, and be said first.
func (s *sight) refusesArguments() bool {
	if !s.fixable() || !s.told() || s.wentOn() || s.unheeded() {
		return false
	}
	switch class := s.reading.Error.Class(); class {
	case candor.ClassPrecondition, candor.ClassDenied, candor.ClassRateLimited, candor.ClassTimeout, candor.ClassCancelled, candor.ClassUnsupported:
		return false
	case candor.ClassBadRequest:
		return true
	default: // without a sound call to compare with, only its words show that it is about the arguments
		return s.sound != nil || aboutCall.MatchString(s.text())
	}
}

// aboutCall are words of an answer that is about the call.
var aboutCall = lazyregexp.New(`(?i)\b(arguments?|param(eter)?s?|inputs?|invalid|required|missing|must|validation)\b`)

// unheeded reports an answer that is word for word what the tool says to sound arguments. It is not about the one argument that is wrong here:
// another that probe made up was refused first. Without such an argument it is about the call only if it says that the call is wrong.
func (s *sight) unheeded() bool {
	if s.sound == nil || s.text() != s.sound.text() {
		return false
	}
	return s.Case.Field != "" || s.reading.Error.Class() != candor.ClassBadRequest
}

// wentOn reports a refusal that came from beyond the tool: it had asked its upstream, or had tried to.
func (s *sight) wentOn() bool {
	return s.Hits > 0 && !s.refusedItself() || s.told() && s.reading.Error.Class() == candor.ClassUnavailable
}

// refusedItself reports a refusal that names what is wrong with the arguments. What the upstream got meanwhile was something else, such as a
// count of calls.
func (s *sight) refusedItself() bool {
	if !s.told() || s.reading.Error.Class() != candor.ClassBadRequest {
		return false
	}
	return s.namedCulprits() > 0 || len(s.culprits()) == 0 && len(s.facts().issues) > 0
}

// culprits are the arguments that are wrong in the case.
func (s *sight) culprits() []string {
	if s.Case.Field != "" {
		return []string{lastStep(s.Case.Field)}
	}
	if s.Case.Name == probe.CaseMissingRequired && s.tool != nil {
		return required(s.tool)
	}
	return nil
}

// namedCulprits counts the culprits that the answer names, in an issue or in its words.
func (s *sight) namedCulprits() int {
	n := 0
	words := s.words()
	for _, field := range s.culprits() {
		if s.hasIssue(field) || names(words, field) || names(words, s.titleOf(field)) {
			n++
		}
	}
	return n
}

// titleOf is what the schema calls an argument for people, "" if it has no such name.
func (s *sight) titleOf(field string) string {
	if s.tool == nil {
		return ""
	}
	title, _ := schemaOf(s.tool).Path("properties", field, "title").Str()
	return title
}

// namesAnother reports that the answer is about another argument than the culprit. The values of the others are made up, and a server may
// refuse one of them first: because the schema does, or because it names it or quotes its value.
func (s *sight) namesAnother() bool {
	words := s.words()
	if s.blamesFiller(words) {
		return true
	}
	if s.tool == nil {
		return false
	}
	form, err := schema.Compile(s.tool.InputSchema)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(form.Explain(s.arguments().Raw()).Issues, func(i candor.Issue) bool { return names(words, lastName(i.Path)) })
}

// shortValue is how long a value must be to be recognised when an answer quotes it.
const shortValue = 4

// blamesFiller reports that the answer names another argument that was sent, or quotes its value.
func (s *sight) blamesFiller(words string) bool {
	culprits := s.culprits()
	for key, v := range s.arguments().Members() {
		name, _ := key.Str()
		if slices.Contains(culprits, name) {
			continue
		}
		value, _ := v.Str()
		if names(words, name) || s.hasIssue(name) || len(value) >= shortValue && wordIn(words, value) {
			return true
		}
	}
	return false
}

func (s *sight) hasIssue(field string) bool {
	for _, issue := range s.facts().issues {
		if lastStep(issue.Path) == field {
			return true
		}
	}
	return false
}

// words is the answer without the echo of the tool's own name.
func (s *sight) words() string {
	return strings.ReplaceAll(s.Response, `"`+s.Case.Tool+`"`, `""`)
}

func wordIn(text, word string) bool {
	word = strings.ToLower(word)
	for rest := strings.ToLower(text); ; {
		i := strings.Index(rest, word)
		if i < 0 || word == "" {
			return false
		}
		after := rest[i+len(word):]
		if (i == 0 || !nameByte(rest[i-1]) || escapeBefore(rest[:i])) && (after == "" || !nameByte(after[0])) {
			return true
		}
		rest = after
	}
}

// escapeBefore reports that what stands before is the n or t of an escape, not the end of a word.
func escapeBefore(head string) bool {
	return strings.HasSuffix(head, `\n`) || strings.HasSuffix(head, `\t`)
}

func nameByte(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// lastStep is the last name of a JSON Pointer.
func lastStep(path string) string {
	return pointer.Unescape(path[strings.LastIndexByte(path, '/')+1:])
}

// lastName is the last step of a path that is no place in a list: any number in an answer might be that, and it names nothing.
func lastName(path string) string {
	for {
		name := lastStep(path)
		if _, err := strconv.Atoi(name); err != nil {
			return name
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
}

var (
	// vacuous are messages without any news.
	vacuous = lazyregexp.New(`(?i)^\W*((an? )?(unknown |unexpected |internal |server )*(error|failure|exception)( (occurred|happened))?|failed|undefined|null|none|nil|something went wrong|\[object object\]|error: (undefined|null|none|\[object object\]))\W*$`)
	// bug is one that speaks for itself. Where more than a line stands around it, somebody has said something.
	bug = lazyregexp.New(`(?i)^.{0,120}(cannot read propert(y|ies) of (undefined|null)|'NoneType' object|nil pointer dereference).{0,60}$`)
)

func (s *sight) saysNothing() bool {
	if s.violates("empty-message", "empty-content") {
		return true
	}
	text, ok := s.firstText()
	if s.label() == LabelProtocol {
		text, ok = s.message.Error().Path("message").Str()
	}
	if s.reading.Verdict == contract.VerdictMasked || s.payload().Present() {
		return false
	}
	return ok && (vacuous.MatchString(text) || bug.MatchString(strings.TrimSpace(text)) || s.facts().hidden)
}
