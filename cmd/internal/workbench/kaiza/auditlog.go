package kaiza

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/wire"
)

type logArgs struct {
	Last   integer `json:"last"`
	Since  string  `json:"since"`
	Before string  `json:"before"`
	Tool   string  `json:"tool"`
	Code   string  `json:"code"`
}

func (k *System) readAuditLog() workbench.Tool {
	return workbench.Tool{
		Name: "read_audit_log", Title: "Read the trail", ReadOnly: true, Idempotent: true,
		About: "Read what the trail says about this workspace: calls, effects, failures. One entry a line, the newest last.",
		Input: `{"last":{"type":"integer","minimum":1,"maximum":500,"description":"How many entries, from the end. Default 50."},
"since":{"type":"string","format":"date-time","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$",
"description":"Only entries of this time or later."},
"before":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"Only entries before the one with this hash. The hash of the first entry of an answer leads to those before it."},
"tool":{"type":"string","maxLength":128,"description":"Only entries of this tool."},
"code":{"type":"string","maxLength":128,"description":"Only failures with this code."}}`,
		Codes: []candor.Code{kaizacode.FileReadFailed},
		Run:   workbench.Handle(k.auditLog),
	}
}

// logTime limits the time for reading a long trail.
const logTime = 20 * time.Second

// auditLog returns entries of the session's workspace only.
func (k *System) auditLog(ctx context.Context, c *workbench.Call, in logArgs) (workbench.Reply, error) {
	if in.Last == 0 {
		in.Last = 50
	}
	since, err := timeAt("/since", in.Since)
	if err != nil {
		return workbench.Reply{}, err
	}
	out := logPage{Entries: []json.RawMessage{}}
	if dir := c.Bench().Ledger(); dir != "" {
		within, cancel := context.WithTimeout(ctx, logTime)
		defer cancel()
		if err := out.read(within, dir, c.Session, in, since); err != nil {
			return workbench.Reply{}, err
		}
		out.More = within.Err() != nil && ctx.Err() == nil
	}
	var lines bytes.Buffer
	for _, e := range out.Entries {
		lines.Write(e)
		lines.WriteByte('\n')
	}
	if len(out.Entries) == 0 {
		lines.WriteString("No entry of the trail matched.\n")
	}
	return workbench.Reply{Text: []string{lines.String()}, Data: out}, nil
}

// logPage is the result of read_audit_log.
type logPage struct {
	Entries []json.RawMessage `json:"entries"`
	More    bool              `json:"incomplete,omitempty"` // the time limit was reached
}

// read fills a page. Reaching the time limit is not an error.
func (p *logPage) read(ctx context.Context, dir string, s *workbench.Session, in logArgs, since time.Time) error {
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return notReadable(err)
	}
	defer reader.Close() //nolint:errcheck // opened for reading
	options := ledger.ReadOptions{Last: int(in.Last), Since: since, Keep: in.keep(s)}
	if in.Before != "" {
		end, err := find(ctx, reader, s, in.Before)
		if err != nil || end == nil {
			return err
		}
		asked := options.Keep
		options.Keep = func(line *ledger.Line) bool { return positionOf(line).before(end) && asked(line) }
	}
	for line, err := range reader.Entries(ctx, options) {
		if err != nil {
			return notReadable(err)
		}
		p.Entries = append(p.Entries, hideSessionIDs(s.ID, line.Raw()))
	}
	return nil
}

// position is the position of an entry in reading order. Time alone is not sufficient, because entries written together
// share one.
type position struct {
	time  time.Time
	chain string
	seq   uint64
}

func positionOf(line *ledger.Line) *position { return &position{line.Time, line.Chain(), line.Seq} }

func (a *position) before(b *position) bool {
	return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.chain, b.chain), cmp.Compare(a.seq, b.seq)) < 0
}

// find returns the position of the entry with a hash among those that the session may see, or nil if the time limit was reached.
func find(ctx context.Context, reader *ledger.Reader, s *workbench.Session, hash string) (*position, error) {
	own := (&logArgs{}).keep(s)
	wanted := func(line *ledger.Line) bool { return hex.EncodeToString(line.Hash[:]) == hash && own(line) }
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Last: 1, Keep: wanted}) {
		if err != nil {
			return nil, notReadable(err)
		}
		return positionOf(line), nil
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	return nil, wrongValue("/before", "the trail has no such entry of this workspace")
}

// timeAt parses a time; an empty text is the zero time.
func timeAt(path, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, text); err != nil {
		return at, wrongValue(path, "not a valid time")
	}
	return at, nil
}

func notReadable(err error) error {
	return candor.New(kaizacode.FileReadFailed, "The trail could not be read.", candor.WithCause(err))
}

// keep returns a filter for the entries of the session's workspace that match the arguments. Lines that cannot match are
// not parsed; in the others only the members of the entry count, not its data.
func (in *logArgs) keep(s *workbench.Session) func(*ledger.Line) bool {
	root := candor.RootDigest(s.Root)
	return func(line *ledger.Line) bool {
		if !bytes.Contains(line.Raw(), []byte(root)) || !bytes.Contains(line.Raw(), []byte(in.Code)) {
			return false
		}
		entry, err := wire.ParseValue(line.Raw(), wire.Limits{})
		is := func(name, wanted string) bool { return wanted == "" || entry.Path(name).Is(wanted) }
		return err == nil && entry.Path("workspace_root").Is(root) && is("tool", in.Tool) && is("code", in.Code)
	}
}
