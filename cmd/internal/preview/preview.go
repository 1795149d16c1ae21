// Package preview shows what the models of client programs read of a failing answer.
package preview

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

// Other is the name of all programs that are not in spec/clients.json.
const Other = "other"

// Answer is an answer to preview.
type Answer struct {
	Ref    string `json:"ref,omitempty"`
	Code   string `json:"code,omitempty"` // "" if the answer is a success
	Tool   string `json:"tool,omitempty"`
	Client string `json:"client,omitempty"` // the program that got the answer, or "" if it is unknown
	Passed bool   `json:"unchanged"`        // every client gets the answer of the server unchanged

	base   wire.Message  // what the answers for all clients are made of
	as     *candor.Error // attached to base for each client; nil if they all get base
	call   string        // the tool in an error, also of an unknown one; "" if the request was not tools/call
	server *wire.Message // the server's own answer, or nil if it is unknown
}

// View is what some clients show their model.
type View struct {
	Clients []string `json:"clients"`
	Shown
	Server *Shown `json:"server,omitempty"` // what they show without Candor

	Titles []string `json:"-"` // of the clients
}

// Shown is a text and its length.
type Shown struct {
	Bytes int    `json:"bytes"`
	Text  string `json:"text"`
}

// The reasons why an entry of the ledger has no preview.
var (
	ErrNoAnswer    = errors.New("the client got no answer to this call")
	ErrCut         = errors.New("only the beginning of the answer was recorded")
	ErrNotResponse = errors.New("not a JSON-RPC response")
)

// OfExchange returns the preview of an answer. Ref is for an error that has none. The retry advice is that for a tool which is not
// declared read-only.
func OfExchange(x *contract.Exchange, ref string) (*Answer, error) {
	a := &Answer{base: x.Response, call: "unknown"}
	if !isResponse(&a.base) {
		return nil, ErrNotResponse
	}
	if x.Request != nil {
		a.call = ""
		if x.Request.MethodIs("tools/call") {
			a.Tool, _ = x.Request.Params().Path("name").Str()
			a.call = a.Tool
		}
	}
	e := a.attached()
	if e == nil {
		a.server = &x.Response
		r := contract.Read(x)
		e, a.Passed = r.Error, !r.Verdict.Failure() || r.Certainty == contract.Suspected
		if e != nil && e.Ref() == "" {
			e = e.With(candor.WithRef(ref))
		}
		if !a.Passed {
			a.as = a.forTool(e)
			e = a.as
		}
	}
	if e != nil {
		a.Ref, a.Code = e.Ref(), e.Code().Symbol()
	}
	return a, nil
}

// attached returns the canonical error that an answer carries already, or nil.
func (a *Answer) attached() *candor.Error {
	own, _ := dialect.Embedded(a.base.Value())
	e, err := dialect.ReadCandor(own)
	if err != nil {
		return nil
	}
	if a.call != "" {
		e = e.With(candor.WithTool(a.call))
	}
	if own.Path("message").Present() { // else it is the brief form, which does not make a readable text
		a.as = e
	}
	return e
}

// forTool returns an error that was read as the gateway changes it for a tool that is not declared read-only.
func (a *Answer) forTool(e *candor.Error) *candor.Error {
	if a.call == "" {
		return e
	}
	return contract.AvoidSecondEffect(e.With(candor.WithTool(a.call)))
}

// OfRecord returns the preview of a failure in the ledger.
func OfRecord(r *ledger.Record) (*Answer, error) {
	var data struct{ Client string }
	_ = json.Unmarshal(r.Data, &data) // a failure without data has no client
	a := &Answer{Ref: r.Ref, Code: r.Code, Tool: r.Tool, call: r.Tool, Client: data.Client}
	text := r.Envelope
	if text == nil && r.Outcome == ledger.OutcomeSuspected {
		text = r.Upstream
	}
	switch {
	case text == nil:
		return nil, ErrNoAnswer
	case text.Cut:
		return nil, ErrCut
	}
	if a.base = messageOf(text); !isResponse(&a.base) && !a.build() {
		return nil, ErrNotResponse
	}
	if r.Upstream != nil {
		if said := messageOf(r.Upstream); isResponse(&said) {
			a.server = &said
			a.Passed = bytes.Equal(said.Bytes(), a.base.Bytes())
		}
	}
	if e := a.attached(); e != nil && !a.Passed {
		a.reproduce(e)
	}
	return a, nil
}

// build makes an answer of an envelope that was recorded alone, as those of servers in Go are.
func (a *Answer) build() bool {
	d, ok := dialect.Detect(a.base.Value())
	if !ok || d.Name() == "sep3313" { // its envelope has no message
		return false
	}
	e, err := d.Read(a.base.Value())
	if err != nil {
		return false
	}
	o := dialect.Options{Readable: true, Response: true, ID: []byte("0"), Lean: d.Name() == "candor", Now: e.Time()}
	a.base = wire.Parse(d.Write(nil, e, o), wire.Limits{})
	return isResponse(&a.base)
}

// reproduce finds the answer of the server and the error from which the answer that was sent was made. The answers for other clients
// are then made in the same way. Otherwise they are made of the one that was sent.
func (a *Answer) reproduce(e *candor.Error) {
	sent, to := a.base, contract.ClientOf(a.Client)
	if a.server != nil {
		candidates := []*candor.Error{e}
		if read := contract.Read(&contract.Exchange{Response: *a.server, Ref: a.Ref}).Error; read != nil && a.call != "" { // for a brief e
			candidates = append(candidates, read.With(candor.WithTool(a.call)), a.forTool(read))
		}
		for _, e := range candidates {
			if same(a.server, &sent, e, to) {
				a.base, a.as = *a.server, e
				return
			}
		}
	}
	if a.as != nil && !same(&sent, &sent, a.as, to) {
		a.as = nil // it is in another dialect
	}
}

// same reports whether a client gets the bytes of sent for an answer and an error.
func same(m, sent *wire.Message, e *candor.Error, to contract.Client) bool { //nolint:gocritic // a row is read once
	out, err := contract.Normalise(nil, m, e, to)
	return err == nil && bytes.Equal(bytes.TrimSpace(out), bytes.TrimSpace(sent.Bytes()))
}

// Views returns what the clients show, each different pair of texts once. The first one is that of the program that got the answer, or
// of an unknown one.
func (a *Answer) Views() []View {
	var views []View
	for _, to := range append(slices.Clone(contract.Clients()), contract.Client{Title: "any other client"}) {
		name, v := to.Name, View{Shown: shown(a.sentTo(&to), &to)}
		if name == "" {
			name = Other
		}
		if a.server != nil && !a.Passed {
			alone := shown(a.server, &to)
			v.Server = &alone
		}
		at := slices.IndexFunc(views, func(have View) bool {
			return have.Text == v.Text && (v.Server == nil || have.Server.Text == v.Server.Text)
		})
		if at < 0 {
			at, views = len(views), append(views, v)
		}
		views[at].Clients, views[at].Titles = append(views[at].Clients, name), append(views[at].Titles, to.Title)
	}
	own := a.Client
	if own == "" {
		own = Other
	}
	first := max(0, slices.IndexFunc(views, func(v View) bool { return slices.Contains(v.Clients, own) }))
	return slices.Concat(views[first:first+1], views[:first], views[first+1:])
}

func shown(m *wire.Message, to *contract.Client) Shown {
	text := to.Shown(m)
	return Shown{len(text), text}
}

// sentTo returns the answer that a client gets.
func (a *Answer) sentTo(to *contract.Client) *wire.Message {
	if a.as == nil {
		return &a.base
	}
	out, err := contract.Normalise(nil, &a.base, a.as, *to)
	if err != nil {
		return &a.base
	}
	m := wire.Parse(out, wire.Limits{AllowLoneSurrogates: true})
	return &m
}

func messageOf(t *ledger.RecordText) wire.Message {
	if t == nil {
		return wire.Message{}
	}
	return wire.Parse([]byte(t.Text), wire.Limits{AllowLoneSurrogates: true})
}

func isResponse(m *wire.Message) bool {
	return m.Value().Type() == wire.TypeObject && (m.Shape() == wire.KindResult || m.Shape() == wire.KindError)
}

// Only returns the view of one client.
func Only(views []View, client string) []View {
	for _, v := range views {
		if i := slices.Index(v.Clients, client); i >= 0 {
			v.Clients, v.Titles = v.Clients[i:i+1], v.Titles[i:i+1]
			return []View{v}
		}
	}
	return nil
}
