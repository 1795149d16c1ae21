package democmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
	"github.com/candor-mcp/candor/wire"
)

// demoScene is one call, made to the server alone and through the gateway.
type demoScene struct {
	Title     string
	Tool      string
	Arguments string
	Silent    bool // the server alone never answers
	Then      func(s *demoStage, e *candor.Error) string
}

var demoScenes = []demoScene{
	{Title: "The agent misspells an argument", Tool: "search_orders", Arguments: `{"qurey":"boots"}`, Then: demoRepair},
	{Title: "The service behind the tool wants fewer calls", Tool: "get_rates", Arguments: `{}`},
	{Title: "A failure sent as a success, recognised by a rule for get_invoice", Tool: "get_invoice", Arguments: `{"id":7}`},
	{Title: "A password in an error", Tool: "list_customers", Arguments: `{}`},
	{Title: "The server crashes", Tool: "rebuild_index", Arguments: `{}`, Then: demoAgain},
	{Title: "A tool never answers", Tool: "export_report", Arguments: `{}`, Silent: true},
}

// demoTimeout is the time limit of calls that are answered at once.
const demoTimeout = 10 * time.Second

// demoDeadline is the time limit of the tool that never answers.
const demoDeadline = 400 * time.Millisecond

// demoStage has the connections for the scenes.
type demoStage struct {
	env     *term.Env
	p       term.Colors
	through *mcpclient.Client
}

// demoStory runs the scenes, and then the proof, or the console until the context ends. When it returns, all its processes have ended
// and all its files are removed.
func demoStory(ctx context.Context, cmd *cobra.Command, env *term.Env, o options) (err error) {
	dir, err := os.MkdirTemp("", "candor-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if o.console {
		running, err := consolecmd.Start(ctx, env, consolecmd.Options{Dir: dir, Listen: consolecmd.DefaultListen, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		env.Notify(cmd, "console on "+running.Link(), "")
		_, err = demoPlay(ctx, env, self, dir, o)
		if err == nil {
			err = showUntilDone(ctx, env, running, o.json)
		}
		return errors.Join(err, running.Close(context.Background()))
	}
	counts, err := demoPlay(ctx, env, self, dir, o)
	if err != nil || o.json {
		return err
	}
	return demoProof(env, env.Colors(), dir, counts)
}

// showUntilDone verifies the ledger in the console and leaves it open until the context ends.
func showUntilDone(ctx context.Context, env *term.Env, running *consolecmd.Running, asJSON bool) error {
	running.Verify()
	if !asJSON {
		fmt.Fprintf(env.Out, "\nThe failures are on %s until Ctrl-C.\n", running.Address())
	}
	if err := env.Out.Flush(); err != nil { // also to a file: the command does not end by itself
		return err
	}
	<-ctx.Done()
	return nil
}

// demoPlay starts the gateway, runs the scenes and stops the gateway.
func demoPlay(ctx context.Context, env *term.Env, self, dir string, o options) (counts *meter.Meter, err error) {
	record, err := ledger.Open(dir, ledger.Options{Instance: "demo", WitnessCopy: filepath.Join(dir, "checkpoints")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, record.Close()) }()
	if counts, err = meter.New(meter.Options{}); err != nil {
		return nil, err
	}
	rules := &gateway.Rules{Masks: []gateway.Mask{{Tool: "get_invoice", Path: "/success", Equals: "false"}}}
	if err := rules.Compile(); err != nil {
		return nil, err
	}
	up := gateway.New(gateway.Options{
		Name: "orders", Timeouts: map[string]time.Duration{"export_report": demoDeadline},
		Rules: rules, Ledger: record, Meter: counts,
	})
	s := &demoStage{env: env, p: env.Colors()}
	end, err := s.start(ctx, up, self)
	defer end()
	if err != nil {
		return nil, err
	}
	if !o.json {
		fmt.Fprintf(env.Out, "%s\n%s\n\n", s.p.Bold("An agent, a bad MCP server, and Candor between them."),
			"Each call is made twice: to the server alone, and through the gateway.")
	}
	for i, scene := range demoScenes {
		if err := s.play(ctx, self, i, scene, o.json); err != nil {
			return nil, err
		}
		if err := errors.Join(env.Out.EndLine(), demoPause(ctx, env.Terminal && !o.once && !o.json)); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// demoPause waits between scenes if slowly is set.
func demoPause(ctx context.Context, slowly bool) error {
	if slowly {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// start starts the server behind the gateway and returns a function that stops both.
func (s *demoStage) start(ctx context.Context, up *gateway.Upstream, self string) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	fromAgent, toGateway := io.Pipe()
	fromGateway, toAgent := io.Pipe()
	done := make(chan struct{})
	child := stdio.Child{Command: self, Args: []string{DemoServerName}, Restart: stdio.RestartPolicy{Tries: 3, Wait: time.Millisecond}, Grace: time.Second}
	go func() {
		defer close(done)
		_, err := stdio.Wrap(ctx, up, stdio.Streams{In: fromAgent, Out: toAgent}, child)
		_ = toAgent.CloseWithError(err)
	}()
	s.through, err = newClient(ctx, mcpclient.NewPipe(fromGateway, toGateway, 0))
	return func() {
		s.through.Close(true)
		cancel()
		_ = fromGateway.Close()
		<-done
	}, err
}

// newClient returns a client with a session.
func newClient(ctx context.Context, conn mcpclient.Conn) (*mcpclient.Client, error) {
	c := mcpclient.NewClient(conn, "demo", nil)
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	_, err := c.Initialize(ctx)
	return c, err
}

// call calls a tool. An agent waits forever for a server that never answers.
func call(c *mcpclient.Client, tool, arguments string, timeout time.Duration) (*wire.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	answer, err := c.Ask(ctx, "tools/call", mcpclient.CallParams(tool, arguments))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.New("no answer, and the client waits forever")
	case err != nil:
		return nil, errors.New("no answer: the connection is closed")
	}
	return &answer.Message, nil
}

// callAlone calls a tool of the server without a gateway.
func callAlone(ctx context.Context, self, tool, arguments string, timeout time.Duration) (string, error) {
	conn, err := mcpclient.Start(exec.CommandContext(ctx, self, DemoServerName), mcpclient.StdioOptions{})
	if err != nil {
		return "", err
	}
	c, err := newClient(ctx, conn)
	if err != nil {
		c.Close(true)
		return "", err
	}
	defer c.Close(true)
	return demoAnswered(call(c, tool, arguments, timeout)), nil
}

// play makes the call of a scene and prints the responses.
func (s *demoStage) play(ctx context.Context, self string, i int, scene demoScene, asJSON bool) error {
	timeout := demoTimeout
	if scene.Silent {
		timeout = demoDeadline
	}
	before, err := callAlone(ctx, self, scene.Tool, scene.Arguments, timeout)
	if err != nil {
		return err
	}
	m, err := call(s.through, scene.Tool, scene.Arguments, demoTimeout)
	if err != nil {
		return fmt.Errorf("scene %d: %w", i+1, err)
	}
	e, err := native.Read(m.Value())
	if err != nil {
		return fmt.Errorf("scene %d: %w in %s", i+1, err, m.Bytes())
	}
	then := ""
	if scene.Then != nil {
		then = scene.Then(s, e)
	}
	if asJSON {
		return term.WriteJSONLine(s.env.Out, map[string]any{"scene": scene.Title, "call": scene.Tool, "alone": before, "through": e, "code": e.Code().Symbol(), "then": then})
	}
	s.show(i, scene, before, e, then)
	return nil
}

var native = dialect.Must("candor")

func (s *demoStage) show(i int, scene demoScene, before string, e *candor.Error, then string) {
	fmt.Fprintf(s.env.Out, "%s\n", s.p.Bold(fmt.Sprintf("%d %s", i+1, scene.Title)))
	fmt.Fprintf(s.env.Out, "  %s  %s\n", s.p.Bad("alone  "), term.Truncate(before, demoWidth))
	fmt.Fprintf(s.env.Out, "  %s  %s %s\n", s.p.Good("through"), s.p.Bold(e.Code().Symbol()), s.p.Faint("class "+string(e.Class())+", retry "+term.RetryWords(e.Retry())))
	lines := []string{e.Message()}
	for _, issue := range e.Details().Issues() {
		words := decodecmd.IssueWords(issue)
		if issue.Hint != "" {
			words += "; " + issue.Hint
		}
		lines = append(lines, words)
	}
	for _, line := range lines {
		fmt.Fprintf(s.env.Out, "           %s\n", term.Truncate(term.OneLine(line), demoWidth))
	}
	if then != "" {
		fmt.Fprintf(s.env.Out, "  %s  %s\n", s.p.Name("then   "), then)
	}
}

// demoWidth is the width at which messages are truncated.
const demoWidth = 100

// demoAnswered returns the part of a response that a client shows: the text of the result, or the error.
func demoAnswered(m *wire.Message, err error) string {
	if err != nil {
		return err.Error()
	}
	if e := m.Error(); e.Present() {
		return "error   " + string(e.Raw())
	}
	text, _ := m.Result().Path("content", 0, "text").Str()
	if failed, _ := m.Result().Path("isError").Bool(); failed {
		return "isError " + term.OneLine(text)
	}
	return "success " + term.OneLine(text)
}

// demoRepair corrects a call like an agent that reads only the envelope: it fills in the template.
func demoRepair(s *demoStage, e *candor.Error) string {
	var template map[string]any
	if err := e.Details().Get("correctTemplate").Decode(&template); err != nil || template == nil {
		return "the envelope has no template"
	}
	template["query"] = "boots"
	arguments, err := term.MarshalJSON(template)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("repaired from the envelope alone, %s → %s", arguments, demoAnswered(call(s.through, "search_orders", string(arguments), demoTimeout)))
}

// demoAgain makes another call on the same connection after the restart of the server.
func demoAgain(s *demoStage, _ *candor.Error) string {
	return "started again, same connection → " + demoAnswered(call(s.through, "search_orders", `{"query":"boots"}`, demoTimeout))
}
