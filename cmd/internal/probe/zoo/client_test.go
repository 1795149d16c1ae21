package zoo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
	"github.com/candor-mcp/candor/cmd/internal/probe/zoo"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

const (
	era2025 = "2025-11-25"
	era2026 = "2026-07-28"
)

// client talks to a zoo over lines. It needs no clock: the zoo answers in order, so that all lines before the answer to
// a request that follows a case belong to the case.
type client struct {
	*mcpclient.Pipe
	t     *testing.T
	era   string
	ended chan error
	asked int
}

func open(t *testing.T, era string, o zoo.Options) *client {
	t.Helper()
	toServer, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Pipe: mcpclient.NewPipe(fromServer, in, 0), t: t, era: era, ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		err := zoo.Serve(ctx, toServer, out, o)
		_, _ = out.Close(), toServer.Close()
		c.ended <- err
	}()
	t.Cleanup(func() {
		stop()
		c.Close(false)
		_ = fromServer.Close()
	})
	return c
}

// seen is the result of a case.
type seen struct {
	request  string
	response string   // the answer with the id of the request, "" for none
	other    []string // all other lines
	died     bool
}

// ask sends a line and returns the result. id is the id of the line, "" for none.
func (c *client) ask(line, id string) seen {
	c.t.Helper()
	c.asked++
	sentinel := fmt.Sprintf("sentinel-%d", c.asked)
	method := "ping"
	if c.era == era2026 {
		method = "server/discover"
	}
	s := seen{request: line}
	if !c.send(line) || !c.send(request(c.era, `"`+sentinel+`"`, method, "{}")) {
		s.died = true
	}
	for {
		line, more := <-c.Messages()
		if !more {
			s.died = true
			return s
		}
		got, m := string(line.Data), wire.Parse(line.Data, wire.Limits{})
		switch {
		case m.ID().Value().Is(sentinel):
			return s
		case id != "" && s.response == "" && string(m.ID()) == id && m.Method() == nil:
			s.response = got
		default:
			s.other = append(s.other, got)
		}
	}
}

func (c *client) send(line string) bool {
	return c.Send(c.t.Context(), 0, []byte(line)) == nil
}

// died returns the error with which the server ended.
func (c *client) died() error {
	c.t.Helper()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(time.Minute):
		c.t.Fatal("the server has not ended")
		return nil
	}
}

// request returns a request of an era.
func request(era, id, method, params string) string {
	if era == era2026 {
		if with, err := splice.SetMember(nil, []byte(params), []string{"_meta"},
			[]byte(`{"io.modelcontextprotocol/protocolVersion":"`+era2026+`","io.modelcontextprotocol/clientCapabilities":{}}`)); err == nil {
			params = string(with)
		}
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":` + string(jsontext.AppendString(nil, method)) + `,"params":` + params + `}`
}

// put sends the messages of a case.
func (c *client) put(k *probe.Case) seen {
	c.t.Helper()
	if k.Raw != nil {
		m := wire.Parse(k.Raw, wire.Limits{})
		return c.ask(string(k.Raw), string(m.ID()))
	}
	id := fmt.Sprint(1000 + c.asked)
	if k.Params == nil {
		return c.ask(`{"jsonrpc":"2.0","id":`+id+`,"method":`+string(jsontext.AppendString(nil, k.Method))+`}`, id)
	}
	return c.ask(request(c.era, id, k.Method, string(k.Params)), id)
}

// tools lists the tools of the server.
func (c *client) tools() []probe.Tool {
	c.t.Helper()
	s := c.ask(request(c.era, "1", "tools/list", "{}"), "1")
	var listed struct {
		Result struct {
			Tools []struct {
				probe.Tool
				Meta map[string]json.RawMessage `json:"_meta"`
			}
		}
	}
	if err := json.Unmarshal([]byte(s.response), &listed); err != nil {
		c.t.Fatalf("reading the list of tools: %v in %q", err, s.response)
	}
	out := make([]probe.Tool, len(listed.Result.Tools))
	for i, tool := range listed.Result.Tools {
		out[i] = tool.Tool
		if codes, ok := tool.Meta["dev.candor/codes"]; ok {
			if err := json.Unmarshal(codes, &out[i].Codes); err != nil {
				c.t.Fatalf("reading the codes of %s: %v", tool.Name, err)
			}
		}
	}
	return out
}

// planned returns the cases of probe for the tool only, or those without a tool if only is "".
func planned(tools []probe.Tool, only string, faults ...string) []probe.Case {
	mine := slices.DeleteFunc(slices.Clone(tools), func(t probe.Tool) bool { return t.Name != only })
	all, _ := cases.Plan(mine, cases.Options{Yes: true, MaxCalls: 1 << 20, Faults: faults, NoProtocol: only != ""})
	var out []probe.Case
	for _, k := range all {
		// Large messages and cancelled calls have separate tests.
		if k.Tool == only && len(k.Raw) < 1<<20 && (k.Name != probe.CaseCancel || only == "") {
			out = append(out, k)
		}
	}
	return out
}

// mustCrash fails the test if the server ended for another reason than a defect.
func mustCrash(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, zoo.ErrCrash) {
		t.Errorf("the server ended with %v, not with a crash", err)
	}
}
