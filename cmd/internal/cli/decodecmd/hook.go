package decodecmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
)

// hookOutputs are the JSON around the added context, for each client.
var hookOutputs = map[string][2]string{
	"claude":  {`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":`, "}}\n"},
	"copilot": {`{"additionalContext":`, "}\n"},
}

// NewHook returns `candor hook`.
func NewHook(env *term.Env) *cobra.Command {
	clients := []string{"claude", "copilot"}
	return &cobra.Command{
		Use:   "hook " + strings.Join(clients, "|"),
		Short: "Explain a failed tool call to the model, as a hook of its client",
		Long: `Read one failure event of a client's hook on standard input, and print the JSON with which that client adds text
for its model: code, retry advice and next step of the failure, as in an answer of candor wrap. This reaches tools that
candor wrap cannot: those of remote servers that need a log-in, and those of the client itself.

  claude    Claude Code, event PostToolUseFailure
  copilot   GitHub Copilot CLI, event postToolUseFailure

candor install --hook writes the hook into the settings of both. Nothing is recorded, and no connection is opened.

Nothing is printed for a failure that Candor has explained already, for a call that the user has interrupted, and for one
of which only the tool's own words are known. The exit code is 0 even for an event that cannot be read, so that the client
is never disturbed; the reason is on standard error.`,
		Example:   `  echo '{"tool_name":"WebFetch","error":"429 Too Many Requests, retry-after: 30"}' | candor hook claude`,
		ValidArgs: clients,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return term.BadInput("such as candor hook claude", "name one client: %s", term.JoinWords(clients))
			}
			if _, known := hookOutputs[args[0]]; !known {
				return term.Unknown("client", args[0], clients)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := explainEvent(env.In)
			if err != nil {
				env.Notify(cmd, err.Error(), "")
			}
			if text == "" {
				return nil
			}
			around := hookOutputs[args[0]]
			out := jsontext.AppendString([]byte(around[0]), text)
			_, err = env.Out.Write(append(out, around[1]...))
			return err
		},
	}
}

// failureEvent is the event of a failed call. Copilot writes the names of its members with capitals, or, for a hook that is declared
// as those of Claude Code are, as Claude Code does.
type failureEvent struct {
	Event       string `json:"hook_event_name"`
	Tool        string `json:"tool_name"`
	CopilotTool string `json:"toolName"`
	Error       string `json:"error"`
	Interrupted bool   `json:"is_interrupt"`
}

// tool returns the name of the tool, without the server that Claude Code puts before it, as in mcp__github__get_issue.
func (e *failureEvent) tool() string {
	parts := strings.Split(cmp.Or(e.Tool, e.CopilotTool), "__")
	return parts[len(parts)-1]
}

// explainEvent returns the text that explains the failure of an event, or "" if there is nothing to add.
func explainEvent(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxLine+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxLine:
		return "", fmt.Errorf("the event is longer than %d MiB", maxLine>>20)
	}
	var event failureEvent
	if err := json.Unmarshal(data, &event); err != nil {
		return "", fmt.Errorf("the event is not JSON: %w", err)
	}
	switch {
	case event.Event != "" && !strings.EqualFold(event.Event, "PostToolUseFailure"):
		return "", fmt.Errorf("%q is not the event of a failed call", event.Event)
	case event.Error == "":
		return "", errors.New("the event has no error")
	case event.Interrupted || ownBlock.MatchString(event.Error):
		return "", nil
	}
	e := contract.ReadText(event.Error)
	if e.Code() == candor.CodeUnknownToolFailure {
		return "", nil
	}
	e = e.With(candor.WithRef(""), candor.WithTool(event.tool())) // nothing was recorded under a ref
	if !slices.Contains(readers, event.tool()) {
		e = contract.AvoidSecondEffect(e)
	}
	return strings.TrimRight(string(dialect.AppendText(nil, e)), "\n"), nil
}

// readers are the tools of the clients themselves that change nothing, so that a call may be repeated.
var readers = []string{"Glob", "Grep", "Read", "WebFetch", "WebSearch", "glob", "grep", "rg", "view", "web_fetch", "web_search"}

// ownBlock matches the advice in a text of [dialect.AppendText], also if a client has joined its lines.
var ownBlock = regexp.MustCompile(`(?:^|\s)Retry: (?:at once|after [0-9]+ ms|not the same call|only with corrected arguments)`)
