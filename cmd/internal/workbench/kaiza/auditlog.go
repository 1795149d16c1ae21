package kaiza

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/rootdigest"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

type logArgs struct {
	Last integer `json:"last"`
	Tool string  `json:"tool"`
	Code string  `json:"code"`
}

func (k *System) readAuditLog() workbench.Tool {
	return workbench.Tool{
		Name: "read_audit_log", Title: "Read the trail", ReadOnly: true, Idempotent: true,
		About: "Read what the trail says about this workspace: calls, effects, failures. One entry a line, the newest last.",
		Input: `{"last":{"type":"integer","minimum":1,"maximum":500,"description":"How many entries, from the end. Default 50."},
"tool":{"type":"string","maxLength":128,"description":"Only entries of this tool."},
"code":{"type":"string","maxLength":128,"description":"Only failures with this code."}}`,
		Codes: []candor.Code{kaizacode.FileReadFailed},
		Run:   workbench.Handle(k.auditLog),
	}
}

// auditLog returns entries of the session's workspace only.
func (k *System) auditLog(ctx context.Context, c *workbench.Call, in logArgs) (workbench.Reply, error) {
	if in.Last == 0 {
		in.Last = 50
	}
	entries := []json.RawMessage{}
	text := bytes.NewBufferString("No entry of the trail matched.\n")
	if dir := c.Bench().Ledger(); dir != "" {
		reader, err := ledger.OpenReader(dir)
		if err != nil {
			return workbench.Reply{}, notReadable(err)
		}
		defer reader.Close() //nolint:errcheck // opened for reading
		for line, err := range reader.Entries(ctx, ledger.ReadOptions{Last: int(in.Last), Keep: in.keep(c.Session)}) {
			if err != nil {
				return workbench.Reply{}, notReadable(err)
			}
			if len(entries) == 0 {
				text.Reset()
			}
			entry := hideSessionIDs(c.Session.ID, line.Raw())
			entries = append(entries, entry)
			text.Write(entry)
			text.WriteByte('\n')
		}
	}
	return workbench.Reply{Text: []string{text.String()}, Data: map[string]any{"entries": entries}}, nil
}

func notReadable(err error) error {
	return candor.New(kaizacode.FileReadFailed, "The trail could not be read.", candor.WithCause(err))
}

// keep returns a filter for the entries of the session's workspace that match the arguments. Lines that cannot match are
// not parsed; in the others only the members of the entry count, not its data.
func (in *logArgs) keep(s *workbench.Session) func(*ledger.Line) bool {
	root := rootdigest.Of(s.Root)
	return func(line *ledger.Line) bool {
		if !bytes.Contains(line.Raw(), []byte(root)) || !bytes.Contains(line.Raw(), []byte(in.Code)) {
			return false
		}
		entry, err := wire.ParseValue(line.Raw(), wire.Limits{})
		is := func(name, wanted string) bool { return wanted == "" || entry.Path(name).Is(wanted) }
		return err == nil && entry.Path("workspace_root").Is(root) && is("tool", in.Tool) && is("code", in.Code)
	}
}
