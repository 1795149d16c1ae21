package realservers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// Audit is the result of probing one server, with the broken promises.
type Audit struct {
	Name     string
	Version  string
	Tools    int
	Cases    int
	Problems []string
	Absent   string // why it could not be probed
	Sealed   bool   // it could write only in its own directory

	Before    Standing
	After     Standing
	Held      bool       // the grade is unchanged although the score rises: the remaining findings cannot be fixed outside the server
	Profile   int        // number of learnt rules
	Successes int        // answers that the gateway passed on unchanged
	Failures  int        // failures behind the gateway
	Spared    int        // recorded successes that a gateway with the profile passes on unchanged
	Seconds   [3]float64 // direct, wrapped, direct again
}

func (a *Audit) problem(format string, args ...any) {
	a.Problems = append(a.Problems, fmt.Sprintf(format, args...))
}

// Standing is the grade, score and findings of a server in one report.
type Standing struct {
	Grade    probe.Grade
	Score    int
	Findings int
	Outside  int            // findings that can be fixed outside the server
	Rules    map[string]int // number of findings by rule
}

func standing(r *probe.Report) Standing {
	s := Standing{Grade: r.Grade, Score: r.Score, Findings: len(r.Findings), Rules: map[string]int{}}
	for i := range r.Findings {
		s.Rules[r.Findings[i].Rule]++
		if r.Findings[i].Outside {
			s.Outside++
		}
	}
	return s
}

func (a *Audit) describe(direct, wrapped look) {
	a.Tools, a.Cases = len(direct.run.Tools), direct.report.Cases
	a.Before, a.After = standing(direct.report), standing(wrapped.report)
}

// holdRun checks that a run is complete, fast enough, and has left no processes.
func (a *Audit) holdRun(how string, l look, leftovers []string) {
	if l.run.Incomplete != "" {
		a.problem("%s: the run is not complete: %s", how, shown(l.run.Incomplete))
	}
	if l.took > probeLimit {
		a.problem("%s: it took %.0f s", how, l.took.Seconds())
	}
	for _, left := range leftovers {
		a.problem("%s: left behind %s", how, left)
	}
}

// holdLife checks that the gateway stays alive: a case that ends or hangs with it must also do so without it.
func (a *Audit) holdLife(direct, wrapped *probe.Run) {
	was := map[string]probe.Outcome{}
	for i := range direct.Observations {
		was[direct.Observations[i].Case.Key()] = direct.Observations[i].Outcome
	}
	for i := range wrapped.Observations {
		o := &wrapped.Observations[i]
		if bad := o.Outcome == probe.OutcomeCrash || o.Outcome == probe.OutcomeHang; bad && was[o.Case.Key()] != o.Outcome {
			a.problem("wrapped, %s ends in a %s, and directly it does not", o.Case.Key(), o.Outcome)
		}
	}
}

// holdGrades checks that the grade does not fall behind the gateway, and rises if findings can be fixed from outside.
// If the remaining findings keep the grade down and cannot be fixed outside, the score must rise and no weighted
// finding that can be fixed may remain.
func (a *Audit) holdGrades(direct, wrapped *probe.Report) {
	delta := report.Diff(direct, wrapped)
	for _, step := range delta.Fell {
		a.problem("wrapped, the grade of %s falls from %s to %s", cmp.Or(step.Tool, "the server"), step.Before, step.After)
	}
	for _, tool := range delta.Lost {
		a.problem("wrapped, tool %s is gone", tool)
	}
	rose := slices.ContainsFunc(delta.Rose, func(s report.Step) bool { return s.Tool == "" })
	if direct.Grade == probe.GradeA || rose || fixable(direct) == 0 {
		return
	}
	a.Held = wrapped.Score > direct.Score && fixable(wrapped) == 0
	if !a.Held {
		a.problem("wrapped, the grade stays %s although %d findings can be fixed outside the server, and %d of them remain", direct.Grade, fixable(direct), fixable(wrapped))
	}
}

// fixable counts the weighted findings that can be fixed outside the server.
func fixable(r *probe.Report) (n int) {
	for i := range r.Findings {
		if r.Findings[i].Outside && r.Findings[i].Severity != probe.SeverityInfo {
			n++
		}
	}
	return n
}

// holdSuccesses checks that every true success is also a success behind the gateway, in the bytes that the server
// wrote.
func (a *Audit) holdSuccesses(direct, wrapped *probe.Run, written map[string]Answer) {
	through := map[string]*probe.Observation{}
	for i := range wrapped.Observations {
		o := &wrapped.Observations[i]
		through[o.Case.Key()] = o
	}
	for i := range direct.Observations {
		o := &direct.Observations[i]
		// Liveness cases are not compared: the gateway refuses two requests with the same id.
		if o.Case.Group == probe.GroupLiveness || o.Outcome != probe.OutcomeAnswered || !strings.HasPrefix(rules.Label(o, direct.Tool(o.Case.Tool)), "ok_") {
			continue
		}
		t := through[o.Case.Key()]
		if t == nil || t.Outcome != probe.OutcomeAnswered {
			a.problem("wrapped, %s has no answer any more", o.Case.Key())
			continue
		}
		heard, own := []byte(t.Response), answerTo(t, written)
		switch {
		case own.raw == nil:
			a.problem("wrapped, %s, which succeeds, did not reach the server: %s", o.Case.Key(), shown(t.Response))
		case t.Size > 0 && bytes.HasPrefix(own.raw, heard) || bytes.Equal(own.raw, heard):
			a.Successes++
		default:
			a.problem("wrapped, a success changes in %s: %s", o.Case.Key(), difference(own.raw, heard))
		}
	}
}

// answerTo returns what the server wrote for the request of an observation, as probe shows it.
func answerTo(o *probe.Observation, written map[string]Answer) Answer {
	request := wire.Parse([]byte(o.Request), wire.Limits{})
	own := written[string(request.ID())]
	own.raw = scratchName.ReplaceAll(own.raw, []byte("${1}0"))
	return own
}

// scratchName matches the name of a scratch directory of probe. Its random part is removed before comparing.
var scratchName = regexp.MustCompile(`(candor-probe-)[0-9]+`)

// holdFailures checks that every failure behind the gateway carries the envelope, that its ref is recorded once, and that
// the words of the server are kept.
func (a *Audit) holdFailures(wrapped *probe.Run, written map[string]Answer, recorded map[string]int) {
	for i := range wrapped.Observations {
		o := &wrapped.Observations[i]
		heard := answerOf([]byte(o.Response))
		if o.Outcome != probe.OutcomeAnswered || o.Size > 0 || !heard.Failed() {
			continue
		}
		a.Failures++
		if problem := heard.judge(answerTo(o, written), recorded); problem != "" {
			a.problem("wrapped, the failure of %s: %s", o.Case.Key(), problem)
		}
	}
}

// judge returns what is wrong with a failure behind the gateway; own is the server's answer, empty if it was not asked.
func (a Answer) judge(own Answer, recorded map[string]int) string {
	if a.bareURI() {
		if own.raw != nil && !bytes.Equal(a.raw, own.raw) {
			return "an answer that clients know by its shape was changed"
		}
		return ""
	}
	e, err := a.Envelope()
	switch {
	case err != nil:
		return "it cannot be read: " + err.Error()
	case e.Ref() == "":
		return "the envelope has no ref"
	case recorded[e.Ref()] != 1:
		return fmt.Sprintf("it is in the ledger %d times", recorded[e.Ref()])
	case own.raw == nil || e.Origin().By == candor.PartyGateway:
		return ""
	}
	kept, err := a.keeps(own, e)
	if err != nil {
		return "reading the server's words: " + err.Error()
	}
	if !kept {
		return "the server's words were changed: " + difference(own.raw, a.raw)
	}
	return ""
}

// recordedRefs counts the failures in a ledger by ref.
func recordedRefs(ctx context.Context, dir string) (map[string]int, error) {
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	recorded := map[string]int{}
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{}) {
		if err != nil {
			return nil, errors.Join(err, reader.Close())
		}
		if record, err := line.Record(); err == nil && record.Kind == ledger.KindFailure {
			recorded[record.Ref]++
		}
	}
	return recorded, reader.Close()
}

// holdFindings checks that the second run with the same seed has the same findings.
func (a *Audit) holdFindings(first, second *probe.Report) {
	was, is := counts(first), counts(second)
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if is[key] != was[key] {
			a.problem("finding %s is seen %d times, and %d times in a second run with the same seed", key, was[key], is[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if was[key] == 0 {
			a.problem("finding %s is seen only in a second run with the same seed", key)
		}
	}
	if first.Grade != second.Grade || first.Score != second.Score {
		a.problem("the grade is %s (%d), and %s (%d) in a second run with the same seed", first.Grade, first.Score, second.Grade, second.Score)
	}
}

func counts(r *probe.Report) map[string]int {
	out := map[string]int{}
	for i := range r.Findings {
		out[r.Findings[i].Key()+" "+string(r.Findings[i].Severity)] += r.Findings[i].Count
	}
	return out
}

// holdRecordedSuccesses sends the true successes that were recorded of the server through a gateway with the profile.
// None may change: a rule learnt from a few failures must not match a success.
func (a *Audit) holdRecordedSuccesses(ctx context.Context, profile string, recorded []corpus.Record) error {
	p, err := config.ReadProfile(profile, config.Source{})
	if err != nil {
		return err
	}
	up := gateway.New(gateway.Options{Name: a.Name, Rules: p.Rules, Validate: gateway.ValidationOff})
	for i := range recorded {
		r := &recorded[i]
		request := wire.Parse(r.Request, wire.Limits{})
		call, refusal := up.Admit(ctx, &request, "recorded")
		if call == nil {
			a.problem("recorded success %s of %s is refused: %s", r.Case, r.Tool, shown(string(refusal)))
			continue
		}
		if reply := call.Close(ctx, r.Response); bytes.Equal(reply.Bytes, r.Response) {
			a.Spared++
		} else {
			a.problem("recorded success %s of %s changes: %s", r.Case, r.Tool, difference(r.Response, reply.Bytes))
		}
	}
	return nil
}
