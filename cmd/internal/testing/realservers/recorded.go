package realservers

import (
	_ "embed" // for the list of calls that are not compared
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// Agreement counts how often the label of a call is the label in the corpus.
type Agreement struct {
	Common int    `json:"common"` // common calls that are compared
	Agreed int    `json:"agreed"`
	Aside  int    `json:"aside"` // common calls that are listed, with evidence, as mislabelled or as impossible to compare
	Misses []Miss `json:"misses,omitempty"`
}

// Miss is a call whose label differs from the corpus.
type Miss struct {
	Tool     string `json:"tool,omitempty"`
	Case     string `json:"case"`
	Recorded string `json:"recorded"`
	Now      string `json:"now"`
	Response string `json:"response"` // the current answer, redacted and truncated
}

// Percent returns the percentage of calls that agree, 100 if there are none.
func (a Agreement) Percent() float64 {
	if a.Common == 0 {
		return 100
	}
	return 100 * float64(a.Agreed) / float64(a.Common)
}

func (a *Agreement) add(b Agreement) {
	a.Common, a.Agreed, a.Aside = a.Common+b.Common, a.Agreed+b.Agreed, a.Aside+b.Aside
}

// Recordings are labelled calls of the corpus, by server.
type Recordings map[string][]corpus.Record

// LoadRecordings reads [corpus.Failures] or [corpus.Successes]. It returns [corpus.ErrAbsent] if there are no recordings.
func LoadRecordings(name string) (Recordings, error) {
	records, err := corpus.Load(name)
	if err != nil {
		return nil, err
	}
	all := Recordings{}
	for _, r := range records {
		all[r.Server] = append(all[r.Server], r)
	}
	return all, nil
}

//go:embed testdata/aside.json
var asideText []byte

// aside is a call that is not compared.
type aside struct{ Server, Tool, Case, Recorded, Now, Why string }

func readAside() ([]aside, error) {
	var all []aside
	if err := json.Unmarshal(asideText, &all); err != nil {
		return nil, fmt.Errorf("reading the calls that are not compared: %w", err)
	}
	for _, one := range all {
		if one.Server == "" || one.Case == "" || one.Recorded == "" || one.Now == "" || one.Why == "" {
			return nil, errors.New("exception without evidence: " + one.Server + " " + one.Tool + " " + one.Case)
		}
	}
	return all, nil
}

// compare compares a run with the recordings of the server. A call is common if tool, case, method and params are the
// same, and the case is about the arguments, about things that do not exist, or about the protocol. Upstream cases are
// not compared, because they depend on where the server ran.
func (all Recordings) compare(server string, run *probe.Run, hide func(string) string) (Agreement, error) {
	var sum Agreement
	apart, err := readAside()
	if err != nil {
		return sum, err
	}
	for i := range run.Observations {
		o := &run.Observations[i]
		record := all.find(server, o)
		if record == nil {
			continue
		}
		now := judge.Label(o, run.Tool(o.Case.Tool))
		listed := slices.ContainsFunc(apart, func(a aside) bool {
			return a.Server == server && a.Tool == o.Case.Tool && a.Case == o.Case.Name && a.Recorded == record.Pattern && a.Now == now
		})
		_, mislabelled := record.Mislabelled()
		switch {
		case listed || mislabelled:
			sum.Aside++
			continue
		case now == record.Pattern:
			sum.Agreed++
		default:
			sum.Misses = append(sum.Misses, Miss{o.Case.Tool, o.Case.Name, record.Pattern, now, shown(hide(o.Response))})
		}
		sum.Common++
	}
	return sum, nil
}

func (all Recordings) find(server string, o *probe.Observation) *corpus.Record {
	groups := []probe.Group{probe.GroupValidation, probe.GroupDomain, probe.GroupProtocol}
	if o.Case.Again > 0 || !slices.Contains(groups, o.Case.Group) {
		return nil
	}
	for i := range all[server] {
		r := &all[server][i]
		if r.Tool == o.Case.Tool && r.Case == o.Case.Name && r.Group == string(o.Case.Group) && sameCall([]byte(o.Request), r.Request) {
			return r
		}
	}
	return nil
}

// sameCall reports whether two requests are equal except for their ids. Texts that are not requests must be equal.
func sameCall(sent, recorded []byte) bool {
	var raw struct{ Raw *string }
	if json.Unmarshal(recorded, &raw) == nil && raw.Raw != nil {
		recorded = []byte(*raw.Raw)
	}
	var a, b any
	if json.Unmarshal(sent, &a) != nil || json.Unmarshal(recorded, &b) != nil {
		return string(sent) == string(recorded)
	}
	return reflect.DeepEqual(withoutID(a), withoutID(b))
}

func withoutID(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "id")
	case []any:
		for _, one := range v {
			withoutID(one)
		}
	}
	return v
}
