package kaiza_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// inspector runs the command line of the MCP Inspector. Each run is a separate connection.
type inspector struct {
	p       *env
	command []string
	target  []string // the server and how to reach it
	home    string
}

func (p *env) inspect(target ...string) inspector {
	p.t.Helper()
	box, err := conformance.OpenToolbox()
	conformance.OkOrSkip(p.t, err)
	command, err := box.Inspector(p.t.Context())
	conformance.OkOrSkip(p.t, err)
	return inspector{p, command, target, p.t.TempDir()}
}

// Exit codes of the inspector, which has one for a failed tool.
const (
	inspectorFine   = 0
	inspectorFailed = 5
)

// run makes one request and returns the printed result.
func (i inspector) run(exit int, args ...string) json.RawMessage {
	i.p.t.Helper()
	line := slices.Concat(i.command, i.target, []string{"--format", "json"}, args)
	cmd := exec.CommandContext(i.p.t.Context(), line[0], line[1:]...)
	cmd.Env = append(servertest.Env(), "HOME="+i.home) // it may store files there
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		i.p.t.Fatal(err)
	}
	var printed struct{ Result json.RawMessage }
	if err := json.Unmarshal(out, &printed); err != nil || cmd.ProcessState.ExitCode() != exit {
		i.p.t.Fatalf("%q ended with %d, not %d: %v\n%s\n%s", args, cmd.ProcessState.ExitCode(), exit, err, out, complaints.Bytes())
	}
	return printed.Result
}

// call calls a tool; the arguments have the form name=value.
func (i inspector) call(exit int, tool string, args ...string) answer {
	i.p.t.Helper()
	line := []string{"--method", "tools/call", "--tool-name", tool}
	for _, arg := range args {
		line = append(line, "--tool-arg", arg)
	}
	return i.p.result(i.run(exit, line...))
}

// list lists the tools. In strict mode the inspector fails for valid schemas that some clients do not support.
func (i inspector) list() {
	i.p.t.Helper()
	var listed struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(i.run(inspectorFine, "--method", "tools/list", "--strict"), &listed); err != nil {
		i.p.t.Fatal(err)
	}
	i.p.sameTools(listed.Tools)
}

func TestInspectorListsAndCallsTheToolsOverStdio(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	i := p.inspect(p.command()...)
	i.list()
	i.call(inspectorFine, "begin_session", "workspace_root="+p.work, "role=WINDSURF").fine()
	i.call(inspectorFailed, "read_file", "path=src/hello.txt").enveloped("SESSION_NOT_INITIALIZED") // each run is a new connection
}

func TestInspectorGoesOnWithASessionOverHTTP(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			i := p.inspect(p.listen().url, "--transport", "http", "--protocol-era", era)
			if era == "modern" {
				i.list()
			}
			begun := i.call(inspectorFine, "begin_session", "workspace_root="+p.work, "role=WINDSURF")
			begun.fine()
			i.call(inspectorFailed, "read_file", "path=src/hello.txt").enveloped("SESSION_NOT_INITIALIZED")
			session := begun.text("structuredContent", "session_id")
			i.call(inspectorFine, "read_file", "path=src/hello.txt", "session_id="+session).readsHello()
			i.call(inspectorFailed, "write_file", "path=src/new.txt", "content=new", "plan_hash="+unknownPlan, "session_id="+session).planNotFound(session)
		})
	}
}
