package readme

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/candor-mcp/candor/internal/mcpclient"
)

// openSession starts a server, initializes it and lists its tools, as clients do.
func openSession(ctx context.Context, cmd *exec.Cmd) (*mcpclient.Client, error) {
	conn, err := mcpclient.Start(cmd, mcpclient.StdioOptions{})
	if err != nil {
		return nil, err
	}
	client := mcpclient.NewClient(conn, "readme", nil)
	if _, err = client.Initialize(ctx); err == nil {
		_, err = client.Ask(ctx, "tools/list", `{}`)
	}
	if err != nil {
		client.Close(false)
		return nil, err
	}
	return client, nil
}

// ref is the reference of a failure, which differs in every run. The page has a fixed one.
var ref = regexp.MustCompile(`(?m)^Ref: [0-9a-f]{20}$`)

const fixedRef = "Ref: 38a826f0338e41a6b92d"

// callText calls a tool and returns the text blocks of the answer, which is what a model reads.
func callText(ctx context.Context, command []string, tool, arguments string) (string, error) {
	client, err := openSession(ctx, exec.CommandContext(ctx, command[0], command[1:]...))
	if err != nil {
		return "", fmt.Errorf("starting the server: %w", err)
	}
	defer client.Close(true)
	reply, err := client.Ask(ctx, "tools/call", mcpclient.CallParams(tool, arguments))
	if err != nil {
		return "", err
	}
	texts, err := textBlocks(reply.Frame.Data)
	if err != nil {
		return "", err
	}
	return ref.ReplaceAllLiteralString(strings.Join(texts, "\n"), fixedRef) + "\n", nil
}

func textBlocks(line []byte) ([]string, error) {
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	var texts []string
	for _, block := range answer.Result.Content {
		texts = append(texts, block.Text)
	}
	return texts, nil
}
