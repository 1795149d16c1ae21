package democmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/dialect"
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

// demoDeadline is the time limit of the tool that never answers.
const demoDeadline = 400 * time.Millisecond

// demoStage has the connections for the scenes.
type demoStage struct {
	env     *term.Env
	p       term.Colors
	through *demoClient
}

// demoStory runs the scenes. When it returns, all its processes have ended and all its files are removed.
func demoStory(ctx context.Context, env *term.Env, asJSON, slowly bool) (err error) {
	dir, err := os.MkdirTemp("", "candor-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	counts, err := demoPlay(ctx, env, self, dir, asJSON, slowly)
	if err != nil || asJSON {
		return err
	}
	return demoProof(env, env.Colors(), dir, counts)
}

// demoPlay starts the gateway, runs the scenes and stops the gateway.
func demoPlay(ctx context.Context, env *term.Env, self, dir string, asJSON, slowly bool) (counts *meter.Meter, err error) {
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
	defer s.start(ctx, up, self)()
	if err := s.through.hello(); err != nil {
		return nil, err
	}
	if !asJSON {
		fmt.Fprintf(env.Out, "%s\n%s\n\n", s.p.Bold("An agent, a bad MCP server, and Candor between them."),
			"Each call is made twice: to the server alone, and through the gateway.")
	}
	for i, scene := range demoScenes {
		if err := s.play(ctx, self, i, scene, asJSON); err != nil {
			return nil, err
		}
		if err := errors.Join(env.Out.EndLine(), demoPause(ctx, slowly)); err != nil {
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
func (s *demoStage) start(ctx context.Context, up *gateway.Upstream, self string) func() {
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
	s.through = newDemoClient(toGateway, fromGateway)
	return func() {
		_ = toGateway.Close()
		cancel()
		<-done
	}
}

// demoAlone starts the server without a gateway.
func demoAlone(ctx context.Context, self string) (*demoClient, func(), error) {
	cmd := exec.CommandContext(ctx, self, DemoServerName)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	c := newDemoClient(in, out)
	end := func() {
		_ = in.Close()
		_ = cmd.Wait() // a crash is part of the demo
	}
	return c, end, c.hello()
}

// play makes the call of a scene and prints the responses.
func (s *demoStage) play(ctx context.Context, self string, i int, scene demoScene, asJSON bool) error {
	client, end, err := demoAlone(ctx, self)
	if err != nil {
		return err
	}
	timeout := demoTimeout
	if scene.Silent {
		timeout = demoDeadline
	}
	before := demoAnswered(client.call(scene.Tool, scene.Arguments, timeout))
	end()
	m, err := s.through.call(scene.Tool, scene.Arguments, demoTimeout)
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
	if status := e.Details().Get("status").String(); status != "" {
		lines = append(lines, "status "+strings.Trim(status, `"`)+", stderr: "+strings.Trim(e.Details().Get("stderr").String(), `"`))
	}
	for _, line := range lines {
		fmt.Fprintf(s.env.Out, "           %s\n", term.Truncate(term.OneLine(line), demoWidth))
	}
	if then != "" {
		fmt.Fprintf(s.env.Out, "  %s  %s\n", s.p.Name("then   "), then)
	}
}

// demoAnswered returns the part of a response, or of an error, that a client shows.
func demoAnswered(m *wire.Message, err error) string {
	if err != nil {
		return err.Error()
	}
	return responseText(m)
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
	return fmt.Sprintf("repaired from the envelope alone, %s → %s", arguments, demoAnswered(s.through.call("search_orders", string(arguments), demoTimeout)))
}

// demoAgain makes another call on the same connection after the restart of the server.
func demoAgain(s *demoStage, _ *candor.Error) string {
	return "started again, same connection → " + demoAnswered(s.through.call("search_orders", `{"query":"boots"}`, demoTimeout))
}
