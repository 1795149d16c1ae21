// Package learn proposes rules for one server from the suspected failures in a ledger. A suspicion never changes an
// answer; a rule that a person has agreed to makes it a certain failure.
//
// A ledger holds no successes, so a wrong suspicion can be seen only by its words and by what the tool does otherwise.
// A shape is held back, and not proposed, if the tool returns the words of others and the answer does not say that its
// task failed, or if the tool marks its failures with isError.
//
// The memory is bounded: the shapes that were seen least often are dropped, and their answers counted.
package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/mask"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// Options selects the entries.
type Options struct {
	Server  string // only this server, in any case; "" for all
	Tool    string // only this tool; "" for all
	Since   time.Time
	Profile *gateway.Rules // answers that its masks match are counted as covered; may be nil
}

// Findings is what a ledger says about suspected failures.
type Findings struct {
	Suspected uint64   `json:"suspected"` // answers that were recorded as suspected failures
	Covered   uint64   `json:"covered"`   // of them: a rule of the profile matches
	NoRule    uint64   `json:"no_rule"`   // of them: no rule can describe them
	Cut       uint64   `json:"cut"`       // of them: too long, so that only a part was recorded
	Dropped   uint64   `json:"dropped"`   // of them: their shape was dropped to bound the memory
	Skipped   uint64   `json:"skipped"`   // malformed lines of the ledger
	Shapes    []Shape  `json:"shapes"`
	Others    []string `json:"-"` // servers of suspected failures that Options.Server or Options.Tool does not select, at most 10
}

// Shape is a kind of suspected failure of one tool.
type Shape struct {
	ID       string       `json:"id"` // stable: made of the server, the tool and the rule
	Server   string       `json:"server"`
	Tool     string       `json:"tool"`
	Held     Held         `json:"held,omitempty"` // why it is not proposed; "" if it is
	Accepted bool         `json:"accepted"`       // set by the caller
	Count    uint64       `json:"answers"`
	Calls    int          `json:"calls"`            // different calls, at most [MaxCalls]
	Answers  int          `json:"distinct_answers"` // different answers, at most [MaxCalls]
	First    time.Time    `json:"first"`
	Last     time.Time    `json:"last"`
	Rule     profile.Mask `json:"rule"`             // the rule that would make these answers failures
	Codes    []Count      `json:"codes"`            // the codes that the answers would have had
	Reasons  []Count      `json:"reasons"`          // the rules of package contract behind the suspicions
	Source   string       `json:"source,omitempty"` // the kind of content that the tool returns; "" if it was not recorded
	Flagged  uint64       `json:"flagged"`          // other answers of the tool that were marked with isError
	Examples []Example    `json:"examples"`

	long      bool // a long text was suspected by the weakest rule
	record    bool // a member was suspected that may always be that of a record
	annotated bool // the first block has annotations
	more      bool // other blocks follow the first
	task      bool // all texts say that the tool's task failed
	siblings  int  // shapes of the tool
}

// Count is how often something was seen.
type Count struct {
	Name string `json:"name"`
	N    uint64 `json:"count"`
}

// Example is a recorded answer.
type Example struct {
	Ref  string    `json:"ref"`
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// Held is the reason why a shape is not proposed.
type Held string

// The reasons.
const (
	HeldContent Held = "the tool returns content of others, and the answer does not say that the task of the tool failed"
	HeldOnce    Held = "seen for one call only, and the tool returns content of others, which may contain such words"
	HeldUnknown Held = "the entries do not say what kind of content the tool returns, and the answer does not say that the task of the tool failed"
	HeldDiverse Held = "the tool returns content of others, and so many different texts of this kind that they are probably content"
	HeldStored  Held = "seen for one call only, and the tool may return stored text"
	HeldMore    Held = "more content follows the text, so the call probably succeeded"
	HeldFlags   Held = "the tool marks at least as many failures with isError, so this is probably data"
	HeldMarked  Held = "the text has annotations, which belong to content"
	HeldLong    Held = "the text is long and does not begin like an error"
	HeldRecord  Held = "the member may be that of a record: an id is beside it, the tool is about such members, or a status has no reason for a failure beside it"
)

// MaxCalls is how many different calls of a shape are distinguished.
const MaxCalls = 8

// Limits.
const (
	maxShapes       = 2000
	maxShapesOfTool = 50
	maxTools        = 20_000
	manyAnswers     = 3 // different answers after which a tool's own words are not data
	maxDiverse      = 3 // shapes of a tool that returns content of others
	maxExamples     = 3
	maxExcerpt      = 160
	maxSentence     = 400 // bytes of a text that is suspected as a sentence about a failure
)

// Read reads a ledger. The same ledger gives the same findings.
func Read(ctx context.Context, r *ledger.Reader, o Options) (*Findings, error) {
	g, err := newGrouping(o.Profile)
	if err != nil {
		return nil, err
	}
	read := ledger.ReadOptions{Since: o.Since, Skipped: func(string, int64) { g.out.Skipped++ }, Keep: func(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }}
	for line, err := range r.Entries(ctx, read) {
		if err != nil {
			return nil, err
		}
		record, err := line.Record()
		if err != nil {
			continue // its hash is right, so a later version wrote it
		}
		var data entryData
		_ = json.Unmarshal(record.Data, &data) // without it the entry is of no known server
		if o.Server != "" && !strings.EqualFold(data.Server, o.Server) || o.Tool != "" && record.Tool != o.Tool {
			g.skip(&record, &data)
			continue
		}
		g.add(&record, &data)
	}
	return g.findings(), ctx.Err()
}

// entryData has the members of an entry's data that are used here.
type entryData struct {
	Server  string `json:"upstream"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`
	Source  string `json:"source"`
}

// Mask returns the rule with a note that says where it comes from.
func (s *Shape) Mask() profile.Mask {
	m := s.Rule
	m.Note = "learnt from 1 recorded answer"
	if s.Count > 1 {
		m.Note = fmt.Sprintf("learnt from %d recorded answers", s.Count)
	}
	if len(s.Examples) > 0 {
		m.Note += ", such as: " + s.Examples[0].Text
	}
	return m
}

// hold returns why a shape is not proposed.
func (s *Shape) hold() Held {
	switch {
	case s.more:
		return HeldMore
	case s.Flagged >= s.Count && !s.outweighsFlags():
		return HeldFlags
	case s.long:
		return HeldLong
	case s.record:
		return HeldRecord
	case s.annotated:
		return HeldMarked
	case !returnsOwnWords(s.Source):
		return s.holdContent()
	case s.Calls < 2 && !s.task && readsStored(s.Tool):
		return HeldStored
	}
	return ""
}

// outweighsFlags reports whether a shape is proposed although the tool marks other failures with isError. It must be in
// the tool's own words, and vary as failures do, or address the caller.
func (s *Shape) outweighsFlags() bool {
	return returnsOwnWords(s.Source) && (s.Answers >= manyAnswers || s.task && s.Calls >= manyAnswers)
}

// holdContent returns why a shape of a tool that returns content of others is not proposed. The same content may be
// returned for different arguments, so the number of calls alone proves nothing.
func (s *Shape) holdContent() Held {
	switch {
	case s.Source == "" && !s.task:
		return HeldUnknown
	case !s.task:
		return HeldContent
	case framed(s.Source):
		return ""
	case s.siblings > maxDiverse:
		return HeldDiverse
	case s.Calls < 2:
		return HeldOnce
	}
	return ""
}

// returnsOwnWords reports whether the answers of a tool are its own words.
func returnsOwnWords(source string) bool { return source == "own" }

// framed reports whether a tool returns words of others in a frame of its own, as searches and judgements do.
func framed(source string) bool { return source == "search" || source == "judgement" }

// rule returns the rule for a suspected result of a tool, or false if none can describe it. Rules of a tool that
// returns the words of others are more specific.
func rule(tool string, result wire.Value, source string) (profile.Mask, bool) {
	if tool == "" || !visible(tool, result) { // a rule without a tool would match every tool
		return profile.Mask{}, false
	}
	candidates := profile.Candidates(result)
	if len(candidates) == 0 {
		return profile.Mask{}, false
	}
	chosen := candidates[0]
	if !returnsOwnWords(source) && chosen.Path == "" {
		at := slices.IndexFunc(candidates, func(m profile.Mask) bool { return strings.Count(m.Text, `\s+`) >= 2 })
		chosen = candidates[max(at, 0)]
	}
	if chosen.Path == "" && !opens(tool, mask.Text(result)) {
		return profile.Mask{}, false
	}
	chosen.Tool, chosen.Suspected = tool, true
	return chosen, true
}

// visible reports whether the part of a result that a rule can see is suspected by itself. In other results a later block is.
func visible(tool string, result wire.Value) bool {
	if result.Path("toolResult").Present() {
		return true
	}
	part := []byte(`{"content":[`)
	if first := result.Path("content", 0); first.Present() {
		part = append(part, first.Raw()...)
	}
	part = append(part, ']')
	if structured := result.Path("structuredContent"); structured.Present() {
		part = append(append(part, `,"structuredContent":`...), structured.Raw()...)
	}
	return suspected(tool, append(part, '}'))
}

// opens reports whether the first line of a text is suspected by itself. The rules for texts describe the first line,
// which may be the title of a list whose items are about failures.
func opens(tool, text string) bool {
	text = strings.TrimSpace(text)
	line, _, more := strings.Cut(text, "\n")
	if !more || strings.HasPrefix(text, "#") {
		return true
	}
	quoted, _ := json.Marshal(line) // a string can be marshalled
	return suspected(tool, append(append([]byte(`{"content":[{"type":"text","text":`), quoted...), `}]}`...))
}

// suspected reports whether a result is suspected for a call of which only the tool is known.
func suspected(tool string, result []byte) bool {
	name, _ := json.Marshal(tool) // a string can be marshalled
	request := wire.Parse(append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`), name...), `}}`...), wire.Limits{})
	response := wire.Parse(append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":`), result...), '}'), wire.Limits{})
	return contract.Classify(&contract.Exchange{Request: &request, Response: response}).Certainty == contract.Suspected
}

// reasons are the names of members that give the reason of a failure.
var reasons = []string{"error", "errors", "message", "msg", "reason", "detail", "details", "error_message", "errorMessage", "error_code", "code"}

// ofRecord reports whether a rule tests a member that may be that of a record: the record has an id, the tool is about
// such members by its name, or a status has no reason for a failure beside it.
func ofRecord(m *profile.Mask, result wire.Value) bool {
	if m.Path == "" {
		return false
	}
	for _, word := range nameWords(m.Tool) {
		if slices.ContainsFunc(strings.Split(m.Path, "/"), func(part string) bool { return strings.TrimSuffix(part, "s") == strings.TrimSuffix(word, "s") }) {
			return true
		}
	}
	parent, name := path.Split(m.Path)
	for v := range mask.At(result, parent+"id") {
		if !v.IsNull() && !result.Path("jsonrpc").Present() {
			return true
		}
	}
	if name != "status" && name != "type" {
		return false
	}
	for _, reason := range reasons {
		for v := range mask.At(result, parent+reason) {
			if !v.IsNull() {
				return false
			}
		}
	}
	return true
}

// codeWith returns the code that a suspected answer has when a rule makes it a failure.
func codeWith(recorded string) string {
	if recorded == "" || recorded == candor.CodeUnknownToolFailure.Symbol() {
		return candor.CodeMaskedFailure.Symbol()
	}
	return recorded
}

// byCount sorts the most frequent first, then by name.
func byCount(counts map[string]uint64) []Count {
	out := make([]Count, 0, len(counts))
	for name, n := range counts {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return out
}
