package failures

import (
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// maxMessage is the number of bytes of [Failure.Message].
const maxMessage = 300

// Of returns the row of an entry of kind failure.
func Of(r *ledger.Record) Failure {
	f := Failure{
		ID: ID{Chain: r.Chain, Seq: r.Seq}, Time: r.Time.UTC(), Ref: r.Ref, Server: r.Server(), Tool: r.Tool, Code: r.Code,
		Class: string(r.Class), Outcome: r.Outcome, Session: r.SessionID, Message: truncate.Text(MessageOf(r), maxMessage),
		Attempt: r.Attempt, Latency: time.Duration(r.LatencyUS) * time.Microsecond, Suspected: r.Outcome == ledger.OutcomeSuspected,
	}
	if r.Origin != nil {
		f.Origin = string(r.Origin.By)
	}
	if r.Retry != nil {
		f.Retry = string(r.Retry.Kind())
	}
	var data struct {
		Verdict string `json:"verdict"`
	}
	if json.Unmarshal(r.Data, &data) == nil {
		f.Verdict = data.Verdict
	}
	return f
}

// ofLine returns the row of a line of kind failure. Of a line that is not JSON it has only the head, so that it is
// still counted.
func ofLine(l *ledger.Line) Failure {
	r, err := l.Record()
	if err != nil {
		return Failure{ID: ID{Chain: l.Chain(), Seq: l.Seq}, Time: l.Time.UTC(), Server: l.Server()}
	}
	return Of(&r)
}

// MessageOf returns the message of a failure: that of the server if it was received, else the one that was sent, else
// the cause.
func MessageOf(r *ledger.Record) string {
	for _, text := range []*ledger.RecordText{r.Upstream, r.Envelope} {
		if text == nil || text.Cut {
			continue
		}
		if message := messageIn([]byte(text.Text)); message != "" {
			return message
		}
	}
	return r.Cause
}

// messageIn returns the message in a response, or in an envelope without the response.
func messageIn(text []byte) string {
	m := wire.Parse(text, wire.Limits{AllowLoneSurrogates: true})
	if kind := m.Kind(); kind == wire.KindResult || kind == wire.KindError {
		if failed := contract.Read(&contract.Exchange{Response: m}).Error; failed != nil {
			return failed.Message()
		}
		return ""
	}
	if d, ok := dialect.Detect(m.Value()); ok {
		if failed, err := d.Read(m.Value()); err == nil {
			return failed.Message()
		}
	}
	return ""
}
