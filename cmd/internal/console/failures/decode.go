package failures

import (
	"bytes"
	"strconv"
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

// fields are the members of a line that the list needs. They are found without decoding the line, and may share memory
// with it.
type fields struct {
	ref, tool, code, class, origin, retry, session, outcome, server, verdict []byte

	cause, upstream, envelope text

	attempt, latency int64
}

// text is a text, or the JSON string of one, which is decoded only if the text is needed.
type text struct{ plain, quoted []byte }

func (t text) bytes() []byte {
	if t.quoted == nil {
		return t.plain
	}
	return unquote(t.quoted)
}

// fieldsOf returns the members of a line of kind failure. They are empty if the line is not JSON, so that it is still
// counted.
func fieldsOf(raw []byte, chain string) (f fields) {
	if !eachMember(raw, f.set) {
		f = fields{}
	}
	if len(f.server) == 0 {
		f.server = []byte(instanceOf(nameOf(chain)))
	}
	return f
}

// set sets a member of a line.
func (f *fields) set(name, value []byte) {
	switch string(name) {
	case `"ref"`:
		f.ref = unquote(value)
	case `"tool"`:
		f.tool = unquote(value)
	case `"code"`:
		f.code = unquote(value)
	case `"class"`:
		f.class = unquote(value)
	case `"origin"`:
		f.origin = unquote(member(value, `"by"`))
	case `"retry"`:
		f.retry = unquote(member(value, `"kind"`))
	case `"session_id"`:
		f.session = unquote(value)
	case `"cause"`:
		f.cause.quoted = value
	case `"outcome"`:
		f.outcome = unquote(value)
	case `"attempt"`:
		f.attempt, _ = strconv.ParseInt(string(value), 10, 64)
	case `"latency_us"`:
		f.latency, _ = strconv.ParseInt(string(value), 10, 64)
	case `"upstream"`:
		f.upstream.quoted = member(value, `"text"`)
	case `"envelope"`:
		f.envelope.quoted = member(value, `"text"`)
	case `"data"`:
		f.readData(value)
	}
}

// member returns the member of an object with a quoted name, or nil.
func member(object []byte, quoted string) (found []byte) {
	eachMember(object, func(name, value []byte) {
		if string(name) == quoted {
			found = value
		}
	})
	return found
}

func (f *fields) readData(data []byte) {
	eachMember(data, func(name, value []byte) {
		switch {
		case bytes.EqualFold(name, []byte(`"upstream"`)):
			f.server = unquote(value)
		case bytes.EqualFold(name, []byte(`"verdict"`)):
			f.verdict = unquote(value)
		}
	})
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
	for _, t := range []text{f.upstream, f.envelope} {
		if message := messageIn(t.bytes(), 0); message != "" {
			return truncate.Text(message, maxMessage)
		}
	}
	return truncate.Text(string(f.cause.bytes()), maxMessage)
}

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

// ofLine returns the row of a line of kind failure in the chain with this path.
func ofLine(l *ledger.Line, chain string) Failure {
	f := fieldsOf(l.Raw(), chain)
	return f.failure(ID{Chain: chain, Seq: l.Seq}, l.Time)
}

// Of returns the row of an entry of kind failure. Its ID has no node.
func Of(r *ledger.Record) Failure {
	f := fields{
		ref: []byte(r.Ref), tool: []byte(r.Tool), code: []byte(r.Code), class: []byte(r.Class), session: []byte(r.SessionID),
		outcome: []byte(r.Outcome), cause: text{plain: []byte(r.Cause)}, attempt: int64(r.Attempt), latency: r.LatencyUS,
	}
	f.readData(r.Data)
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
		f.upstream.plain = []byte(r.Upstream.Text)
	}
	if r.Envelope != nil {
		f.envelope.plain = []byte(r.Envelope.Text)
	}
	return f.failure(ID{Chain: r.Chain, Seq: r.Seq}, r.Time)
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
