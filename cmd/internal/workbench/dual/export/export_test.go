package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/tasks"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	ledgerproof "github.com/candor-mcp/candor/ledger/proof"
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
	if err := (&Thoughts{Task: tasks.Task{ID: "t"}, Records: whole}).Check(head); err != nil {
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
		if (&Thoughts{Task: tasks.Task{ID: "t"}, Records: change(chain(4))}).Check(head) == nil {
			t.Errorf("%s: it passes", name)
		}
	}
	for _, data := range []string{``, `{}`, `{"attests":{"store":"s"}}`, `{"attests":5}`} {
		if (&Thoughts{Task: tasks.Task{ID: "t"}, Records: whole}).Check(json.RawMessage(data)) == nil {
			t.Errorf("an entry with %s passes", data)
		}
	}
}

// TestReadRefusesEveryTwin adds to each member of a file a second one with the same name, or with a name that differs
// in case, before and after it. Every such file must be refused, because a reader and the check could see different
// values.
func TestReadRefusesEveryTwin(t *testing.T) {
	f := File{
		Proof: ledgerproof.Proof{V: 1, Chain: "c", Seq: 1, Entry: "{}", Hashes: []tlog.Hash{{1}}, Checkpoint: "x",
			Session: &ledgerproof.Session{ID: "s", Entry: "{}", Hashes: []tlog.Hash{}}},
		Thoughts: &Thoughts{Task: tasks.Task{ID: "t", Title: "x", Description: "y", DependsOn: []string{"z"}, CreatedAt: time.Unix(1, 0)}, Records: chain(2)},
	}
	whole, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(whole); err != nil {
		t.Fatal(err)
	}
	members := 0
	for _, m := range membersOf(t, whole) {
		members++
		for _, name := range []string{m.name, strings.ToUpper(m.name), strings.ToUpper(m.name[:1]) + m.name[1:], "x_" + m.name} {
			for _, value := range []string{m.value, `"forged"`, `null`, `{}`} {
				twin, own := `"`+name+`":`+value, `"`+m.name+`":`+m.value
				for _, pair := range []string{twin + "," + own, own + "," + twin} {
					changed := string(whole[:m.from]) + pair + string(whole[m.to:])
					if _, err := Read([]byte(changed)); err == nil {
						t.Errorf("it is read: %s", changed)
					}
				}
				if name != m.name {
					if _, err := Read([]byte(string(whole[:m.from]) + twin + string(whole[m.to:]))); err == nil {
						t.Errorf("%s is read in place of %s", name, m.name)
					}
				}
			}
		}
	}
	if members != 42 {
		t.Errorf("%d members were tried", members)
	}
	for _, after := range []string{"{}", string(whole), "x", "\x00"} {
		if _, err := Read([]byte(string(whole) + after)); err == nil {
			t.Errorf("%.20q after the file is ignored", after)
		}
	}
}

// member is a member of an object in a text, with the offsets of its name and value.
type member struct {
	name, value string
	from, to    int
}

// membersOf returns all members in a compact text, including those of nested objects.
func membersOf(t *testing.T, text []byte) (all []member) {
	t.Helper()
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := i + 1
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		if end+1 < len(text) && text[end+1] == ':' {
			d := json.NewDecoder(bytes.NewReader(text[end+2:]))
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
			all = append(all, member{string(text[i+1 : end]), string(value), i, end + 2 + int(d.InputOffset())})
		}
		i = end
	}
	return all
}
