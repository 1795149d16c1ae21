package export

import (
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor/workbench/dual/trail"
)

func chain(n int) (all []trail.Record) {
	var head *trail.Record
	for i := range n {
		r := trail.Record{ID: string(rune('a' + i)), TaskID: "t", AgentID: "x", Type: trail.TypePlan, Content: "c", Timestamp: "now"}
		r.Link(head)
		all = append(all, r)
		head = &all[i]
	}
	return all
}

func attests(t *testing.T, r trail.Record) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]any{Key: Attestation{Store: "s", Thought: &trail.Anchor{ID: r.ID, TaskID: r.TaskID, Seq: r.Seq, Hash: r.Hash}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCheckFindsEveryChange(t *testing.T) {
	whole := chain(4)
	head := attests(t, whole[3])
	if err := (&Thoughts{Records: whole}).Check(head); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]trail.Record) []trail.Record{
		"changed":        func(r []trail.Record) []trail.Record { r[1].Content = "forged"; return r },
		"changed, refit": func(r []trail.Record) []trail.Record { r[1].Content = "forged"; r[1].Hash = r[1].Sum(); return r },
		"first removed":  func(r []trail.Record) []trail.Record { return r[1:] },
		"middle removed": func(r []trail.Record) []trail.Record { return append(r[:1], r[2:]...) },
		"last removed":   func(r []trail.Record) []trail.Record { return r[:3] },
		"one added": func(r []trail.Record) []trail.Record {
			more := trail.Record{ID: "z", TaskID: "t"}
			more.Link(&r[3])
			return append(r, more)
		},
		"rewritten": func(r []trail.Record) []trail.Record {
			var head *trail.Record
			for i := range r {
				r[i].Content = "forged"
				r[i].Link(head)
				head = &r[i]
			}
			return r
		},
		"another task": func(r []trail.Record) []trail.Record { r[0].TaskID = "u"; return r },
		"none":         func([]trail.Record) []trail.Record { return nil },
	} {
		if (&Thoughts{Records: change(chain(4))}).Check(head) == nil {
			t.Errorf("%s: it passes", name)
		}
	}
	for _, data := range []string{``, `{}`, `{"attests":{"store":"s"}}`, `{"attests":5}`} {
		if (&Thoughts{Records: whole}).Check(json.RawMessage(data)) == nil {
			t.Errorf("an entry with %s passes", data)
		}
	}
}
