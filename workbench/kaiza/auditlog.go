package kaiza

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/workbench"
)

const timeForm = `"type":"string","format":"date-time","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$"`

type logArgs struct {
	Last  whole  `json:"last"`
	Since string `json:"since"`
	Until string `json:"until"`
	Tool  string `json:"tool"`
	Code  string `json:"code"`
}

func (k *System) readAuditLog() workbench.Tool {
	return workbench.Tool{
		Name: "read_audit_log", Title: "Read the trail", ReadOnly: true, Idempotent: true,
		About: "Read what the trail says about this workspace: calls, effects, failures. One entry a line, the newest last.",
		Input: `{"last":{"type":"integer","minimum":1,"maximum":500,"description":"How many entries, from the end. Default 50."},
"since":{` + timeForm + `,"description":"Only entries of this time or later."},
"until":{` + timeForm + `,"description":"Only entries of this time or earlier. The time of the first entry leads to those before it."},
"tool":{"type":"string","maxLength":128,"description":"Only entries of this tool."},
"code":{"type":"string","maxLength":128,"description":"Only failures with this code."}}`,
		Codes: []candor.Code{candor.CodeKaizaFileReadFailed},
		Run:   workbench.Handle(k.auditLog),
	}
}

// logTime bounds the reading of a long trail.
const logTime = 20 * time.Second

// auditLog shows a session the entries of its own workspace, and of nobody else's.
func (k *System) auditLog(ctx context.Context, c *workbench.Call, in logArgs) (workbench.Reply, error) {
	if in.Last == 0 {
		in.Last = 50
	}
	since, err := timeAt("/since", in.Since)
	if err != nil {
		return workbench.Reply{}, err
	}
	until, err := timeAt("/until", in.Until)
	if err != nil {
		return workbench.Reply{}, err
	}
	out := struct {
		Entries []json.RawMessage `json:"entries"`
		More    bool              `json:"incomplete,omitempty"` // the time was up before the end
	}{Entries: []json.RawMessage{}}
	if dir := c.Bench().Ledger(); dir != "" {
		within, cancel := context.WithTimeout(ctx, logTime)
		defer cancel()
		reader, err := ledger.OpenReader(dir)
		if err != nil {
			return workbench.Reply{}, notReadable(err)
		}
		defer reader.Close() //nolint:errcheck // it was only read
		for line, err := range reader.Entries(within, ledger.ReadOptions{Last: int(in.Last), Since: since, Keep: in.keep(c.Session, until)}) {
			if err != nil {
				return workbench.Reply{}, notReadable(err)
			}
			out.Entries = append(out.Entries, discreet(c.Session.ID, line.Raw()))
		}
		out.More = within.Err() != nil && ctx.Err() == nil
	}
	var lines bytes.Buffer
	for _, e := range out.Entries {
		lines.Write(e)
		lines.WriteByte('\n')
	}
	return workbench.Reply{Text: []string{lines.String()}, Data: out}, nil
}

// timeAt reads a time; the zero one if none is given.
func timeAt(path, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, text); err != nil {
		return at, wrongValue(path, "there is no such time")
	}
	return at, nil
}

func notReadable(err error) error {
	return candor.New(candor.CodeKaizaFileReadFailed, "The trail could not be read.", candor.WithCause(err))
}

// keep lets through what belongs to the workspace of a session and was asked for. An entry is decoded only if its bytes could be meant: a
// member's name cannot stand in a text, where its quotes are escaped.
func (in *logArgs) keep(s *workbench.Session, until time.Time) func(*ledger.Line) bool {
	root := candor.RootDigest(s.Root)
	mark := []byte(`"workspace_root":"` + root + `"`)
	return func(line *ledger.Line) bool {
		switch {
		case !until.IsZero() && line.Time.After(until), !bytes.Contains(line.Raw(), mark), !bytes.Contains(line.Raw(), []byte(in.Code)):
			return false
		case in.Tool == "" && in.Code == "":
			return true
		}
		r, err := line.Record()
		return err == nil && r.WorkspaceRoot == root && (in.Tool == "" || in.Tool == r.Tool) && (in.Code == "" || in.Code == r.Code)
	}
}
