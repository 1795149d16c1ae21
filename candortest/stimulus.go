package candortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// stimulus is one invalid message and the answers that are allowed.
type stimulus struct {
	name string
	raw  func(*client) []byte
	// codes are the allowed JSON-RPC error codes; nil allows any.
	codes []int64
	// orResult also allows a result.
	orResult bool
}

// fixed returns a message that does not depend on the connection.
func fixed(raw string) func(*client) []byte { return func(*client) []byte { return []byte(raw) } }

const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
	headerMismatch = -32020
	badVersion     = -32022
)

// provokeEach sends the messages one by one. The server must give each an allowed answer and keep running.
func (c *client) provokeEach(v *visit, stimuli ...stimulus) ruling {
	for _, s := range stimuli {
		answers, dead := c.provoke(v.ctx, s.raw(c), 1)
		if problem := s.judge(answers); problem != "" {
			if dead != nil {
				problem += "; " + dead.Error()
			}
			return bad("%s: %s", s.name, problem)
		}
		if dead != nil {
			return bad("%s: %v", s.name, dead)
		}
	}
	return good()
}

// judge describes what is wrong with the answers, or returns "". Over HTTP a 4xx status is an answer: the specification
// lets a server refuse invalid requests that way.
func (s *stimulus) judge(answers []said) string {
	if len(answers) == 0 {
		return "nothing came back"
	}
	if len(answers) > 1 {
		return fmt.Sprintf("%d answers came back to one message", len(answers))
	}
	a := answers[0]
	if a.rejection() {
		if a.Status >= 500 {
			return fmt.Sprintf("the server answered HTTP %d: it broke where it should refuse", a.Status)
		}
		return ""
	}
	switch a.msg.Shape() {
	case wire.KindResult:
		if s.orResult {
			return ""
		}
		return "the server carried it out instead of refusing it"
	case wire.KindError:
		return wrongCode(a, s.codes)
	default:
		return "the answer is not a JSON-RPC response"
	}
}

// wrongCode returns a description if the code of a JSON-RPC error is not one of codes.
func wrongCode(a said, codes []int64) string {
	code, ok := a.code()
	if !ok {
		return "the error has no integer code"
	}
	if codes != nil && !slices.Contains(codes, code) {
		return fmt.Sprintf("the error's code is %d and not %s", code, orList(codes))
	}
	return ""
}

func orList(codes []int64) string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = fmt.Sprint(code)
	}
	return strings.Join(texts, " or ")
}

// refuses sends one valid request and requires a JSON-RPC error with its id and one of the codes.
func (c *client) refuses(v *visit, method, params string, codes ...int64) ruling {
	raw, id := c.request(method, params)
	answer, err := c.ask(v.ctx, raw, id)
	switch {
	case err != nil:
		return bad("the request was not answered: %v", err)
	case answer.rejection():
		return bad("a request was refused with HTTP %d and no JSON-RPC error", answer.Status)
	case !answer.msg.ID().Equal(wire.ID(id)):
		return bad("the answer does not carry the request's id")
	case answer.msg.Shape() != wire.KindError:
		return bad("the server answered with a result and not with a JSON-RPC error")
	}
	if problem := wrongCode(answer, codes); problem != "" {
		return bad("%s", problem)
	}
	return c.alive(v)
}
