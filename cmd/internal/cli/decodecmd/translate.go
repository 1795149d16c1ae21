package decodecmd

import (
	"bytes"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// translateCommand has the flags of `candor translate`.
type translateCommand struct {
	env *term.Env
	cmd *cobra.Command

	from, to, at string

	source  dialect.Dialect // nil: detect for each value
	target  dialect.Dialect
	options dialect.Options // Now is --at or the time of the start
	broken  bool            // some value could not be translated
}

// NewTranslate returns `candor translate`.
func NewTranslate(env *term.Env) *cobra.Command {
	c := &translateCommand{env: env}
	c.cmd = &cobra.Command{
		Use:   "translate --to DIALECT [FILE]",
		Short: "Rewrite errors from one dialect into another",
		Long: `Read errors in one dialect, one JSON value per line, and write them in another. A value is a bare envelope, an MCP
result, a JSON-RPC response or a problem document. Without FILE standard input is read.

The output is an MCP result, a JSON-RPC error or a document. The error and the id of the response are kept; other
members of the response, of the result and of _meta, and other content blocks, are not. The envelope is repeated in
structuredContent for system-error and dual, as their servers do.

With --from auto, the default, the dialect of each value is detected. A response in no dialect is translated if the
protocol's own fields mark it as a failure. An error without a correlation id or time gets them. DEBUG_STACK and
MCP_ERRORS_VERBOSE control whether stacks are kept.

The output is not meant for others: workspace_root is written as a path in every dialect, where a server would
write a digest.

A value that cannot be translated is reported with its line; the others are written.

Dialects: ` + strings.Join(dialect.Names(), ", "),
		Example: `  candor translate --to rpc < tool-errors.jsonl
  candor translate --from system-error --to tool-error envelope.json`,
		Args: term.MaxArgs(1, "join them: cat FILE… | candor translate"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	term.Choice(c.cmd, &c.from, "from", "auto", "dialect of the input, or auto", append([]string{"auto"}, dialect.Names()...))
	term.Choice(c.cmd, &c.to, "to", "", "dialect of the output", dialect.Names())
	c.cmd.Flags().StringVar(&c.at, "at", "", "time for errors without one, such as 2026-01-02T15:04:05Z; default now")
	return c.cmd
}

func (c *translateCommand) run(files []string) error {
	if err := c.prepare(); err != nil {
		return err
	}
	src := openSources(c.env, c.cmd, files)[0]
	unreadable, err := src.eachLine(func(l line) error { return c.one(src, l) })
	switch {
	case unreadable:
		return term.UnreadableFile(err)
	case err != nil:
		return err
	}
	if c.broken {
		return term.AlreadyReported()
	}
	return nil
}

// prepare reads the flags and the environment once.
func (c *translateCommand) prepare() error {
	if c.to == "" {
		return term.BadInput("candor translate --to rpc; one of "+strings.Join(dialect.Names(), ", "), "--to: missing")
	}
	c.target = dialect.Must(c.to)
	if c.from != "auto" {
		c.source = dialect.Must(c.from)
	}
	policy, err := candor.ParseStackPolicy(c.env.Getenv("DEBUG_STACK"), c.env.Getenv("MCP_ERRORS_VERBOSE"))
	if err != nil {
		return term.BadInput("unset the variable to omit stacks", "%s", err)
	}
	now, err := c.env.ParseTime(c.at)
	if now.IsZero() {
		now = c.env.Now()
	}
	c.options = dialect.Options{Stack: policy, PlainRoot: true, NoOutputSchema: mirrors(c.target), Now: now}
	return err
}

// mirrors reports whether servers of a dialect repeat the envelope in structuredContent.
func mirrors(d dialect.Dialect) bool {
	return d.Name() == "system-error" || d.Name() == "dual" || d.Name() == "dual-unified"
}

// one translates one line, or reports its error.
func (c *translateCommand) one(src source, l line) error {
	text, err := c.rewrite(l)
	if err != nil {
		c.broken = true
		_ = c.env.Out.Flush() // Output keeps the error
		c.env.Report(c.cmd, explain(src.at(l.number), l, err))
		return nil
	}
	c.env.Out.Write(framing.AppendLine(nil, text)) //nolint:errcheck // EndLine returns the error
	return c.env.Out.EndLine()
}

// rewrite returns the error of a line in the target dialect.
func (c *translateCommand) rewrite(l line) ([]byte, error) {
	if l.tooLong {
		return nil, wire.Malformation{Flaw: wireflaw.TooLarge, Offset: maxLine}
	}
	v, err := parse(bytes.TrimSpace(l.bytes))
	if err != nil {
		return nil, err
	}
	e, err := c.read(v)
	if err != nil {
		return nil, err
	}
	o := c.options
	o.ID, o.Response = idOf(v)
	return c.target.Write(nil, e, o), nil
}

// parse parses a JSON value. Lone surrogates are allowed.
func parse(text []byte) (wire.Value, error) {
	return wire.ParseValue(text, wire.Limits{AllowLoneSurrogates: true})
}

// explain adds the line and a next step to an error.
func explain(at string, l line, err error) *term.Error {
	if flaw := (wire.Malformation{}); errors.As(err, &flaw) {
		why, hint := whyNotJSON(err, l.bytes)
		return term.BadInput(hint, "%s: %s", at, why)
	}
	if refused := (*dialect.ReadError)(nil); errors.As(err, &refused) {
		return term.BadInput(refused.Hint, "%s: reading %s: %s", at, refused.Dialect, refused.Problem)
	}
	return term.BadInput("candor decode shows its form", "%s: %s", at, err)
}

// read returns the error in a value.
func (c *translateCommand) read(v wire.Value) (*candor.Error, error) {
	from := c.source
	if from == nil {
		from, _ = dialect.Detect(v)
	}
	if from == nil || c.source == nil && isBareNumber(from, v) {
		e, err := readForeign(v)
		return c.complete(e, v), err
	}
	e, err := from.Read(v)
	if err != nil {
		return nil, err
	}
	if _, whole := dialect.Embedded(v); whole || from.Name() == "problem" || from.Name() == "candor" {
		return e, nil // canonical: nothing is added
	}
	return c.complete(e, v), nil
}

// isBareNumber reports whether v is a JSON-RPC error without a symbol. Every server sends those, so they do not identify a dialect;
// package contract classifies them, as in decode.
func isBareNumber(d dialect.Dialect, v wire.Value) bool {
	_, whole := dialect.Embedded(v)
	return d.Name() == "rpc" && !whole && v.Path("jsonrpc").Present() && !v.Path("error", "data", "symbol").Present()
}

// complete adds a correlation id and a time to an error without them.
func (c *translateCommand) complete(e *candor.Error, v wire.Value) *candor.Error {
	if e == nil {
		return nil
	}
	if e.Ref() == "" {
		e = e.With(candor.WithRef(refOf(v.Raw())))
	}
	if e.Time().IsZero() {
		e = e.With(candor.WithTime(c.options.Now))
	}
	return e
}

// readForeign reads a response that is in no dialect. It translates only certain failures, because a translation does not show doubt.
func readForeign(v wire.Value) (*candor.Error, error) {
	raw := v.Raw()
	if isResult(v) && v.Path("isError").Present() {
		raw = asResponse(raw)
	}
	x, err := contract.ParseExchange(raw)
	if err != nil {
		return nil, err
	}
	r := contract.Read(x)
	if (r.Verdict == contract.VerdictTool || r.Verdict == contract.VerdictProtocol) && r.Certainty == contract.Certain {
		return r.Error, nil
	}
	return nil, errors.New("not an error in any dialect, and not a response that is marked as failed")
}

// isResult reports whether v is the result of a tool without its response.
func isResult(v wire.Value) bool {
	return v.Path("content").Present() && !v.Path("jsonrpc").Present()
}

// asResponse returns the response with a result.
func asResponse(result []byte) []byte {
	return append(append([]byte(`{"jsonrpc":"2.0","id":0,"result":`), result...), '}')
}

// idOf returns the id of a JSON-RPC response, and whether there is one.
func idOf(v wire.Value) (id []byte, ok bool) {
	if !v.Path("result").Present() && !v.Path("error").Present() || v.Path("ok").Present() {
		return nil, false
	}
	token, ok := v.Get("id")
	return token.Raw(), ok
}
