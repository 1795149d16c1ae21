package learn

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/mask"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// toolKey identifies a tool.
type toolKey struct{ server, tool string }

// toolShapes is what was recorded of one tool.
type toolShapes struct {
	flagged uint64 // failures with isError that are not about the arguments
	shapes  []*shape
}

// shape is a Shape that is still counted.
type shape struct {
	Shape
	test           mask.Test
	codes, reasons map[string]uint64
	calls          []uint64 // hashes of different calls and answers
	answers        []uint64 // hashes of different answers
}

// knownRule is a mask of the profile.
type knownRule struct {
	tool string
	test mask.Test
}

// grouping collects suspected answers by shape.
type grouping struct {
	out    Findings
	known  []knownRule
	tools  map[toolKey]*toolShapes
	shapes int
}

func newGrouping(rules *gateway.Rules) (*grouping, error) {
	g := &grouping{tools: map[toolKey]*toolShapes{}, out: Findings{Shapes: []Shape{}}}
	if rules == nil {
		return g, nil
	}
	for i := range rules.Masks {
		m := &rules.Masks[i]
		test, err := mask.Rule{Path: m.Path, Equals: m.Equals, Text: m.Text, Except: m.Except}.Compile()
		if err != nil {
			return nil, fmt.Errorf("mask %d: %w", i+1, err)
		}
		g.known = append(g.known, knownRule{m.Tool, test})
	}
	return g, nil
}

// add takes an entry into account.
func (g *grouping) add(record *ledger.Record, data *entryData) {
	if record.Outcome != ledger.OutcomeSuspected {
		if record.Outcome == ledger.OutcomeError && data.Verdict == "tool" && record.Upstream != nil && record.Code != candor.CodeInvalidArguments.Symbol() {
			if t := g.tool(record, data); t != nil {
				t.flagged++
			}
		}
		return
	}
	g.out.Suspected++
	if record.Upstream == nil || record.Upstream.Cut {
		g.out.Cut++
		return
	}
	message := wire.Parse([]byte(record.Upstream.Text), wire.Limits{})
	result := message.Result()
	if g.covered(record.Tool, result) {
		g.out.Covered++
		return
	}
	t := g.tool(record, data)
	if t == nil {
		g.out.Dropped++
		return
	}
	g.count(t, record, data, result)
}

// skip notes the server of an entry that is not selected.
func (g *grouping) skip(record *ledger.Record, data *entryData) {
	const most = 10
	if record.Outcome == ledger.OutcomeSuspected && len(g.out.Others) < most && !slices.Contains(g.out.Others, data.Server) {
		g.out.Others = append(g.out.Others, data.Server)
	}
}

// count counts an answer for the first shape of the tool that matches it, or for a new one.
func (g *grouping) count(t *toolShapes, record *ledger.Record, data *entryData, result wire.Value) {
	for _, s := range t.shapes {
		if s.test.Holds(result) {
			s.see(record, data, result)
			return
		}
	}
	m, ok := rule(record.Tool, result, data.Source)
	test, err := mask.Rule{Path: m.Path, Equals: m.Equals, Text: m.Text, Except: m.Except}.Compile()
	if !ok || err != nil {
		g.out.NoRule++
		return
	}
	if len(t.shapes) == maxShapesOfTool {
		g.out.Dropped++
		return
	}
	if g.shapes == maxShapes {
		g.drop()
	}
	s := &shape{test: test, codes: map[string]uint64{}, reasons: map[string]uint64{}}
	s.Shape = Shape{ID: idOf(data.Server, &m), Server: data.Server, Tool: record.Tool, Rule: m, Source: data.Source, First: record.Time}
	s.see(record, data, result)
	t.shapes = append(t.shapes, s)
	g.shapes++
}

// see counts an answer.
func (s *shape) see(record *ledger.Record, data *entryData, result wire.Value) {
	s.Count++
	s.Last = record.Time
	s.codes[codeWith(record.Code)]++
	if data.Rule != "" {
		s.reasons[data.Rule]++
	}
	s.long = s.long || data.Rule == "failure-sentence" && len(mask.Text(result)) > maxSentence
	s.record = (s.record || s.Count == 1) && ofRecord(&s.Rule, result)
	s.annotated = s.annotated || result.Path("content", 0, "annotations").Present()
	s.more = s.more || result.Path("content", 1).Present()
	s.task = (s.task || s.Count == 1) && s.tellsTask(result)
	if s.Source != data.Source {
		s.Source = "" // the kind depends on the arguments, so it is unknown
	}
	digest := ""
	if record.Args != nil {
		digest = record.Args.Digest
	}
	s.calls = appendNew(s.calls, hashOf(digest, result))
	s.answers = appendNew(s.answers, hashOf("", result))
	text := excerpt(result)
	if len(s.Examples) < maxExamples && !slices.ContainsFunc(s.Examples, func(e Example) bool { return e.Text == text }) {
		s.Examples = append(s.Examples, Example{Ref: record.Ref, Time: record.Time, Text: text})
	}
}

// appendNew adds a hash that is not in the list, up to [MaxCalls].
func appendNew(list []uint64, hash uint64) []uint64 {
	if len(list) < MaxCalls && !slices.Contains(list, hash) {
		list = append(list, hash)
	}
	return list
}

func hashOf(arguments string, result wire.Value) uint64 {
	h := fnv.New64a()
	h.Write([]byte(arguments))
	h.Write(result.Raw())
	return h.Sum64()
}

// tellsTask reports whether an answer says that the tool's task failed, or what the caller has to provide. JSON of searches, judgements and queries is their own. Other JSON
// may be content, except the outcome of a rejected promise, which only programs write.
func (s *shape) tellsTask(result wire.Value) bool {
	if s.Rule.Path == "" {
		return tellsTask(s.Server, s.Tool, s.Source, mask.Text(result))
	}
	return framed(s.Source) || s.Source == "query" || s.Rule.Equals == `"rejected"`
}

// excerpt returns the beginning of an answer in one line. The ledger has already redacted it.
func excerpt(result wire.Value) string {
	text := mask.Text(result)
	if text == "" {
		text = string(result.Path("structuredContent").Raw())
	}
	return candor.Public(strings.Join(strings.Fields(candor.Public(text, 4*maxExcerpt)), " "), maxExcerpt)
}

// covered reports whether a rule of the profile matches.
func (g *grouping) covered(tool string, result wire.Value) bool {
	return slices.ContainsFunc(g.known, func(k knownRule) bool {
		ok, err := path.Match(k.tool, tool)
		return err == nil && ok && k.test.Holds(result)
	})
}

// tool returns the tool of an entry, or nil if there are too many.
func (g *grouping) tool(record *ledger.Record, data *entryData) *toolShapes {
	key := toolKey{data.Server, record.Tool}
	t := g.tools[key]
	if t == nil && len(g.tools) < maxTools {
		t = &toolShapes{}
		g.tools[key] = t
	}
	return t
}

// drop removes the half of the shapes that was seen least often.
func (g *grouping) drop() {
	var all []*shape
	for _, t := range g.tools {
		all = append(all, t.shapes...)
	}
	slices.SortFunc(all, func(a, b *shape) int { return cmp.Or(cmp.Compare(a.Count, b.Count), strings.Compare(a.ID, b.ID)) })
	gone := map[*shape]bool{}
	for _, s := range all[:len(all)/2] {
		gone[s] = true
		g.out.Dropped += s.Count
	}
	for _, t := range g.tools {
		t.shapes = slices.DeleteFunc(t.shapes, func(s *shape) bool { return gone[s] })
	}
	g.shapes -= len(gone)
}

// findings returns the shapes: those that are proposed first, then by frequency.
func (g *grouping) findings() *Findings {
	for _, t := range g.tools {
		marked := t.marked()
		for _, s := range t.shapes {
			s.Codes, s.Reasons, s.Calls, s.Flagged = byCount(s.codes), byCount(s.reasons), len(s.calls), t.flagged
			s.Answers = len(s.answers)
			s.siblings = len(t.shapes)
			if s.Rule.Path != flagPath {
				s.Flagged += marked
			}
			s.Held = s.hold()
			g.out.Shapes = append(g.out.Shapes, s.Shape)
		}
	}
	slices.SortFunc(g.out.Shapes, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(min(len(a.Held), 1), min(len(b.Held), 1)), cmp.Compare(b.Count, a.Count), strings.Compare(a.ID, b.ID))
	})
	return &g.out
}

// flagPath is where servers of the first protocol drafts, and some others, put isError.
const flagPath = "/isError"

// marked returns how many answers of the tool have isError where clients do not look.
func (t *toolShapes) marked() (n uint64) {
	for _, s := range t.shapes {
		if s.Rule.Path == flagPath {
			n += s.Count
		}
	}
	return n
}

// idOf returns an id for a rule of a server.
func idOf(server string, m *profile.Mask) string {
	h := sha256.New()
	for _, text := range []string{server, m.Tool, m.Path, m.Equals, m.Text, m.Except} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
