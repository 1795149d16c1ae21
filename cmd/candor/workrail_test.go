package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/mcpclient"
)

// railClient is a client of a `candor workbench` server over standard input and output.
type railClient struct {
	*mcpclient.Client
	process *mcpclient.Stdio
}

// railAnswer has the parts of an answer that tests use.
type railAnswer struct {
	Text  []string
	Error bool
	Data  struct {
		Kind     string `json:"kind"`
		Session  string `json:"sessionId"`
		Continue string `json:"continueToken"`
		Retry    string `json:"retryContinueToken"`
		Resume   string `json:"resumeToken"`
	}
}

// token returns the token for the next call.
func (a *railAnswer) token() string { return a.Data.Continue + a.Data.Retry }

// startBench starts a `candor workbench` server in a folder and does the handshake.
func startBench(binary, dir string, env []string, args ...string) (*railClient, error) {
	cmd := exec.Command(binary, append([]string{"workbench"}, args...)...)
	cmd.Dir, cmd.Env = dir, env
	process, err := mcpclient.Start(cmd, mcpclient.StdioOptions{})
	if err != nil {
		return nil, err
	}
	c := &railClient{mcpclient.NewClient(process, "test", nil), process}
	_, err = c.Initialize(context.Background())
	return c, err
}

// call calls a tool.
func (c *railClient) call(tool string, in map[string]any) (*railAnswer, error) {
	arguments, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	answer, err := c.Ask(context.Background(), "tools/call", mcpclient.CallParams(tool, string(arguments)))
	if err != nil {
		return nil, err
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Error bool            `json:"isError"`
		Data  json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(answer.Result().Raw(), &result); err != nil {
		return nil, err
	}
	a := &railAnswer{Error: result.Error}
	for _, part := range result.Content {
		a.Text = append(a.Text, part.Text)
	}
	if len(result.Data) > 0 {
		err = json.Unmarshal(result.Data, &a.Data)
	}
	return a, err
}

// stop ends the server by closing its input, as a client does.
func (c *railClient) stop() { c.Close(true) }

// binaryOf finds candor in the PATH of a script.
func binaryOf(ts *testscript.TestScript) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		for _, suffix := range []string{"", ".exe"} {
			name := filepath.Join(dir, term.ProgramName+suffix)
			if info, err := os.Stat(name); err == nil && !info.IsDir() {
				return name
			}
		}
	}
	ts.Fatalf("%s is not in the PATH of the script", term.ProgramName)
	return ""
}
