package failures

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/repeated"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// maxMessage is the number of bytes of [Failure.Message].
const maxMessage = 300

// limits accepts all that the ledger writes.
var limits = wire.Limits{AllowLoneSurrogates: true}

// messageIn returns the message in a response or an envelope: the member message of the error, that of the envelope in
// the result, or the text of the content, which may be an envelope itself.
func messageIn(body []byte, depth int) string {
	const deepest = 2
	root, err := wire.ParseValue(body, limits)
	if err != nil || depth > deepest {
		return ""
	}
	for _, v := range []wire.Value{root.Path("error"), root.Path("result"), root} {
		if s, _ := v.Str(); s != "" {
			return s
		}
		if s, _ := v.Path("_meta", dialect.MetaKey, "message").Str(); s != "" { // the first text of the content repeats it with advice
			return s
		}
		if s, _ := v.Path("message").Str(); s != "" {
			return s
		}
		for item := range v.Path("content").Elements() {
			content, _ := item.Path("text").StrBytes()
			if trimmed := bytes.TrimSpace(content); len(trimmed) > 0 {
				if trimmed[0] == '{' {
					if s := messageIn(trimmed, depth+1); s != "" {
						return s
					}
				}
				return string(trimmed)
			}
		}
	}
	return ""
}

// ofLine returns the row of a line of kind failure in the chain with this path. A line that is not a record has an empty
// row, so that it is still counted.
func ofLine(l *ledger.Line, chain string) Failure {
	r, err := l.Record()
	if err != nil {
		r = ledger.Record{Time: l.Time}
	}
	r.Chain, r.Seq = nameOf(chain), l.Seq
	f := Of(&r)
	f.ID.Chain, f.UpstreamRef = chain, repeated.Ref(l)
	return f
}

// Of returns the row of an entry of kind failure. Its ID has no node.
func Of(r *ledger.Record) Failure {
	var data struct {
		Verdict string `json:"verdict"`
	}
	_ = json.Unmarshal(r.Data, &data) // of another kind if it is not an object
	f := Failure{
		ID: ID{Chain: r.Chain, Seq: r.Seq}, Time: r.Time.UTC(), Ref: r.Ref, Server: r.Server(), Tool: r.Tool, Code: r.Code, Class: string(r.Class),
		Verdict: data.Verdict, Outcome: r.Outcome, Session: r.SessionID, Message: message(r), Attempt: r.Attempt,
		Latency: time.Duration(r.LatencyUS) * time.Microsecond, Suspected: r.Outcome == ledger.OutcomeSuspected,
	}
	if r.Origin != nil {
		f.Origin = string(r.Origin.By)
	}
	if r.Retry != nil {
		f.Retry = string(r.Retry.Kind())
	}
	return f
}

// message returns what the upstream said, else what was sent, else the cause.
func message(r *ledger.Record) string {
	for _, t := range []*ledger.RecordText{r.Upstream, r.Envelope} {
		if t == nil {
			continue
		}
		if text := messageIn([]byte(t.Text), 0); text != "" {
			return truncate.Text(text, maxMessage)
		}
	}
	return truncate.Text(r.Cause, maxMessage)
}

// MessageOf returns the message of a failure as the contract reads it, which takes longer than a row of the list may:
// that of the server if it was received, else the one that was sent, else the cause.
func MessageOf(r *ledger.Record) string {
	for _, t := range []*ledger.RecordText{r.Upstream, r.Envelope} {
		if t == nil || t.Cut {
			continue
		}
		if message := readMessage([]byte(t.Text)); message != "" {
			return message
		}
	}
	return r.Cause
}

// readMessage returns the message in a response, or in an envelope without the response.
func readMessage(body []byte) string {
	m := wire.Parse(body, limits)
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
