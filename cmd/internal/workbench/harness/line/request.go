package line

import (
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// request is one message of the client.
type request struct {
	id     wire.ID // nil if it could not be decoded
	name   string  // of the method
	method *method // nil if unknown
	params []byte
	silent bool // the protocol forbids an answer
	trace  trace

	refused *candor.Error // why the method is not run
	// err is set if there is nothing to run.
	err     *candor.Error
	verdict contract.Verdict
}

func (c *conn) limits() wire.Limits { return wire.Limits{MaxBytes: c.s.o.MaxLine} }

// inspect reads a message. The request shares its memory.
func (c *conn) inspect(m *wire.Message) request {
	flaws, params := m.Flaws().Without(wireflaw.NullID), m.Params().Raw() // JSON-RPC allows a null id in requests
	if m.Params().IsNull() {                                              // many clients write it for no parameters
		flaws, params = flaws.Without(wireflaw.BadParams), nil
	}
	switch shape := m.Shape(); {
	case shape == wire.KindResult || shape == wire.KindError:
		return request{silent: true, verdict: contract.VerdictStray, err: candor.New(candor.CodeStrayAnswer, "", byServer)}
	case !flaws.Empty():
		e := argerror.Flaw(worst(m, flaws), candor.PartyServer)
		if e.Code() != candor.CodeParseError { // the taxonomy has one code for all other flaws
			e = candor.New(candor.CodeInvalidRequest, "", byServer, candor.WithDetails(e.Details()))
		}
		return request{id: argerror.AnswerID(m, e.Code()), verdict: contract.VerdictMalformed, err: e}
	}
	r := request{id: m.ID(), params: params, silent: m.Shape() == wire.KindNotification}
	if r.method = c.s.methods[string(m.Method())]; r.method != nil {
		r.name = r.method.Name
		return r
	}
	r.name, r.verdict = string(m.Method()), contract.VerdictProtocol
	_, r.err = c.s.find(r.name)
	return r
}

// worst returns the flaw to report, ignoring a null id.
func worst(m *wire.Message, flaws wireflaw.Set) wire.Malformation {
	if found := m.Malformation(); found.Flaw != wireflaw.NullID {
		return found
	}
	for flaw := range flaws.All() {
		return wire.Malformation{Flaw: flaw}
	}
	return wire.Malformation{}
}

// unreadable reports whether a batch has flaws because of which its messages cannot be answered separately.
func unreadable(m *wire.Message) bool {
	return argerror.Flaw(m.Malformation(), candor.PartyServer).Code() == candor.CodeParseError || m.Flaws().Has(wireflaw.TooDeep)
}

// tooLong returns the request for a line that was dropped because of its length.
func (c *conn) tooLong(size int64) request {
	return rejected(common.LimitExceeded, fmt.Sprintf("the line has %d bytes, more than the limit of %d", size, c.s.o.MaxLine))
}

func rejected(code candor.Code, details string) request {
	return request{verdict: contract.VerdictMalformed, err: candor.New(code, "", byServer, candor.WithDetails(details))}
}
