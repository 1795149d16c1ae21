package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// protocolVersion is the version that is offered to servers.
const protocolVersion = "2025-11-25"

// answers is what a server has said about itself.
type answers struct {
	name, version, protocol string
	tools                   int
	hasTools                bool
	legacy                  bool // it was reached over the older SSE transport, and nothing was requested
}

func (a answers) words(took time.Duration) string {
	if a.legacy {
		return "answers over the older SSE transport; its tools were not requested"
	}
	tools := "no tools"
	if a.hasTools {
		tools = count(a.tools, "tool", "tools")
	}
	name := shown(a.name)
	if a.version != "" {
		name += " " + shown(a.version)
	}
	return fmt.Sprintf("%s answers, with %s, protocol %s, in %s", name, tools, shown(a.protocol), took.Round(time.Millisecond))
}

// conversation is a connection to a server.
type conversation interface {
	request(ctx context.Context, id int, method, params string) ([]byte, error)
	notify(ctx context.Context, method string) error
	agree(protocol string) // is called with the version that the server has chosen
}

// answerError is an answer that is an error or has the wrong form.
type answerError struct{ method, text string }

// Error returns the method and the text.
func (e *answerError) Error() string { return e.method + ": " + e.text }

func (e *answerError) finding() Finding {
	if e.method == "initialize" {
		return failed("server-initialize", "answers initialize with an error: "+shown(e.text), "check the settings and the credentials of the server")
	}
	return failed("server-tools", "answers "+e.method+" with an error: "+shown(e.text), "check the settings and the credentials of the server; candor probe tests it in detail")
}

// handshake initializes a session and requests the first page of tools.
func handshake(ctx context.Context, c conversation) (a answers, err error) {
	var hello struct {
		ProtocolVersion string                     `json:"protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"capabilities"`
		ServerInfo      struct{ Name, Version string }
	}
	const params = `{"protocolVersion":"` + protocolVersion + `","capabilities":{},"clientInfo":{"name":"candor-doctor","version":"1"}}`
	if err := ask(ctx, c, 1, "initialize", params, &hello); err != nil {
		return a, err
	}
	if hello.ProtocolVersion == "" {
		return a, &answerError{"initialize", "the answer has no protocolVersion"}
	}
	a = answers{name: hello.ServerInfo.Name, version: hello.ServerInfo.Version, protocol: hello.ProtocolVersion}
	if a.name == "" {
		a.name = "the server"
	}
	c.agree(a.protocol)
	if err := c.notify(ctx, "notifications/initialized"); err != nil {
		return a, err
	}
	if _, a.hasTools = hello.Capabilities["tools"]; !a.hasTools {
		return a, nil
	}
	var list struct{ Tools []json.RawMessage }
	if err := ask(ctx, c, 2, "tools/list", `{}`, &list); err != nil {
		return a, err
	}
	a.tools = len(list.Tools)
	return a, nil
}

// ask sends a request and decodes its result.
func ask(ctx context.Context, c conversation, id int, method, params string, into any) error {
	data, err := c.request(ctx, id, method, params)
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    json.Number
			Message string
		}
	}
	switch err := json.Unmarshal(data, &answer); {
	case err != nil:
		return &answerError{method, "the answer is not a JSON-RPC message"}
	case answer.Error != nil:
		return &answerError{method, answer.Error.Code.String() + " " + answer.Error.Message}
	case json.Unmarshal(answer.Result, into) != nil:
		return &answerError{method, "the result has another form than the protocol says"}
	}
	return nil
}

func message(id int, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"` + method + `","params":` + params + `}`
}

func notification(method string) string { return `{"jsonrpc":"2.0","method":"` + method + `"}` }

// isAnswer reports whether a message is the answer to the request with that id.
func isAnswer(data []byte, id int) bool {
	var head struct {
		ID     json.RawMessage
		Method *string
	}
	return json.Unmarshal(data, &head) == nil && head.Method == nil && string(head.ID) == strconv.Itoa(id)
}
