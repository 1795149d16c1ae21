package failures

import (
	"bytes"
	"strings"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// maxMessage is the number of bytes of [Failure.Message].
const maxMessage = 300

// limits accepts all that the ledger writes.
var limits = wire.Limits{AllowLoneSurrogates: true}

// fields are the members of a line that the list needs. They are found without decoding the line, which takes a
// twentieth of the time of [ledger.Line.Record], and may share memory with the line.
type fields struct {
	ref, tool, code, class, origin, retry, session, outcome, server, verdict, cause []byte

	upstream, envelope []byte // unescaped

	attempt, latency int64
}

// fieldsOf returns the members of a line of kind failure. They are empty if the line is not JSON, so that it is still
// counted. Without texts it leaves out the members that make the message, which are the largest.
func fieldsOf(raw []byte, chain string, texts bool) (f fields) {
	line, err := wire.ParseValue(raw, limits)
	if err != nil {
		return fields{server: []byte(instanceOf(chain))}
	}
	for name, value := range line.Members() {
		switch string(name.Raw()) {
		case `"ref"`:
			f.ref, _ = value.StrBytes()
		case `"tool"`:
			f.tool, _ = value.StrBytes()
		case `"code"`:
			f.code, _ = value.StrBytes()
		case `"class"`:
			f.class, _ = value.StrBytes()
		case `"origin"`:
			f.origin, _ = value.Path("by").StrBytes()
		case `"retry"`:
			f.retry, _ = value.Path("kind").StrBytes()
		case `"session_id"`:
			f.session, _ = value.StrBytes()
		case `"cause"`:
			f.cause = textOf(value, texts)
		case `"outcome"`:
			f.outcome, _ = value.StrBytes()
		case `"attempt"`:
			f.attempt, _ = value.Int64()
		case `"latency_us"`:
			f.latency, _ = value.Int64()
		case `"upstream"`:
			f.upstream = textOf(value.Path("text"), texts)
		case `"envelope"`:
			f.envelope = textOf(value.Path("text"), texts)
		case `"data"`:
			f.readData(value)
		}
	}
	if len(f.server) == 0 {
		f.server = []byte(instanceOf(chain))
	}
	return f
}

func textOf(v wire.Value, wanted bool) []byte {
	if !wanted {
		return nil
	}
	text, _ := v.StrBytes()
	return text
}

func (f *fields) readData(data wire.Value) {
	for name, value := range data.Members() {
		switch string(bytes.ToLower(name.Raw())) {
		case `"upstream"`:
			f.server, _ = value.StrBytes()
		case `"verdict"`:
			f.verdict, _ = value.StrBytes()
		}
	}
}

// instanceOf returns the part of a chain's name before the time and the random part, see [ledger.Record.Server].
func instanceOf(chain string) string {
	for range 2 {
		if at := strings.LastIndexByte(chain, '-'); at > 0 {
			chain = chain[:at]
		}
	}
	return chain
}

// failure returns the row of the list.
func (f *fields) failure(id ID, at time.Time) Failure {
	return Failure{
		ID: id, Time: at.UTC(), Ref: string(f.ref), Server: string(f.server), Tool: string(f.tool), Code: string(f.code),
		Class: string(f.class), Verdict: string(f.verdict), Origin: string(f.origin), Outcome: ledger.Outcome(f.outcome),
		Session: string(f.session), Message: f.message(), Retry: string(f.retry), Attempt: int(f.attempt),
		Latency: time.Duration(f.latency) * time.Microsecond, Suspected: string(f.outcome) == string(ledger.OutcomeSuspected),
	}
}

// message returns what the upstream said, else what was sent, else the cause.
func (f *fields) message() string {
	for _, text := range [][]byte{f.upstream, f.envelope} {
		if message := messageIn(text, 0); message != "" {
			return truncate.Text(message, maxMessage)
		}
	}
	return truncate.Text(string(f.cause), maxMessage)
}

// messageIn returns the message in a response or an envelope: the member message of the error, or the text of the
// content, which may be an envelope itself.
func messageIn(text []byte, depth int) string {
	const deepest = 2
	root, err := wire.ParseValue(text, limits)
	if err != nil || depth > deepest {
		return ""
	}
	for _, v := range []wire.Value{root.Path("error"), root.Path("result"), root} {
		if s, _ := v.Str(); s != "" {
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

// ofLine returns the row of a line of kind failure.
func ofLine(l *ledger.Line) Failure {
	f := fieldsOf(l.Raw(), l.Chain(), true)
	return f.failure(ID{Chain: l.Chain(), Seq: l.Seq}, l.Time)
}

// Of returns the row of an entry of kind failure.
func Of(r *ledger.Record) Failure {
	f := fields{
		ref: []byte(r.Ref), tool: []byte(r.Tool), code: []byte(r.Code), class: []byte(r.Class), session: []byte(r.SessionID),
		outcome: []byte(r.Outcome), cause: []byte(r.Cause), attempt: int64(r.Attempt), latency: r.LatencyUS,
	}
	if data, err := wire.ParseValue(r.Data, limits); err == nil {
		f.readData(data)
	}
	if len(f.server) == 0 {
		f.server = []byte(instanceOf(r.Chain))
	}
	if r.Origin != nil {
		f.origin = []byte(r.Origin.By)
	}
	if r.Retry != nil {
		f.retry = []byte(r.Retry.Kind())
	}
	if r.Upstream != nil {
		f.upstream = []byte(r.Upstream.Text)
	}
	if r.Envelope != nil {
		f.envelope = []byte(r.Envelope.Text)
	}
	return f.failure(ID{Chain: r.Chain, Seq: r.Seq}, r.Time)
}

// MessageOf returns the message of a failure as the contract reads it, which takes longer than a row of the list may:
// that of the server if it was received, else the one that was sent, else the cause.
func MessageOf(r *ledger.Record) string {
	for _, text := range []*ledger.RecordText{r.Upstream, r.Envelope} {
		if text == nil || text.Cut {
			continue
		}
		if message := readMessage([]byte(text.Text)); message != "" {
			return message
		}
	}
	return r.Cause
}

// readMessage returns the message in a response, or in an envelope without the response.
func readMessage(text []byte) string {
	m := wire.Parse(text, limits)
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
