package decodecmd

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// translateCommand has the flags of `candor translate`.
type translateCommand struct {
	env *term.Env
	cmd *cobra.Command

	from, to, pattern, at string
	asJSON, digestRoot    bool

	source  dialect.Dialect // nil: detect for each value
	target  dialect.Dialect
	options dialect.Options
	stamp   time.Time // of --at
	broken  bool      // some value could not be translated
}

// NewTranslate returns `candor translate`.
func NewTranslate(env *term.Env) *cobra.Command {
	c := &translateCommand{env: env}
	c.cmd = &cobra.Command{
		Use:   "translate --to DIALECT [FILE]",
		Short: "Rewrite errors from one dialect into another without loss",
		Long: `Read errors in one dialect and write them in another, one per line. The input is a stream of JSON values,
one per line or spread over several: bare envelopes, MCP results, JSON-RPC responses or problem documents.
Without FILE standard input is read.

The output is the whole carrier: an MCP result, a JSON-RPC error, or a document. Fields that a dialect cannot
express are added beside it, so that A to B to A gives A back.

All other parts of the carrier are kept byte for byte and not redacted: other members of the response, of the
result, of the error and of _meta, and other content blocks. In another kind of carrier they are stored under
"` + CarrierKey + `", a member of _meta, of data or of the document, and translating back restores them. The
envelope is repeated in structuredContent for system-error and dual, as their servers do, and for other dialects if
the input did so. A tool's own structuredContent is not changed.

With --from auto, the default, the dialect of each value is detected. A response in no dialect is translated if the
protocol's own fields mark it as a failure. An error without a correlation id or time gets them. DEBUG_STACK and
MCP_ERRORS_VERBOSE control whether stacks are kept.

The output is not meant for others: workspace_root is written as a path in every dialect, where a server would
write a digest. Use --digest-root before you share it.

A value that cannot be translated is reported with its line; the others are written.

Dialects: ` + strings.Join(dialect.Names(), ", "),
		Example: `  candor translate --to rpc < tool-errors.jsonl
  candor translate --from system-error --to tool-error envelope.json
  candor translate --to dual --pattern B envelope.json`,
		Args: atMostOneFile,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := c.cmd.Flags()
	flags.StringVar(&c.from, "from", "auto", "dialect of the input, or auto")
	flags.StringVar(&c.to, "to", "", "dialect of the output")
	flags.StringVar(&c.pattern, "pattern", "auto", "pattern of the dual dialect: "+term.JoinWords(patternNames))
	flags.StringVar(&c.at, "at", "", "time for errors without one, such as 2026-01-02T15:04:05Z; default now")
	flags.BoolVar(&c.digestRoot, "digest-root", false, "write the digest of workspace_root instead of the path")
	flags.BoolVar(&c.asJSON, "json", false, "accepted for consistency; the output is always JSON")
	term.CompleteFlag(c.cmd, "from", append([]string{"auto"}, dialect.Names()...))
	term.CompleteFlag(c.cmd, "to", dialect.Names())
	term.CompleteFlag(c.cmd, "pattern", patternNames)
	return c.cmd
}

var patternNames = []string{"auto", "A", "B"}

func atMostOneFile(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return term.BadInput("join them: cat FILE… | candor translate", "give at most one file, not %d", len(args))
	}
	return nil
}

func (c *translateCommand) run(files []string) error {
	if err := c.prepare(); err != nil {
		return err
	}
	src := openSources(c.env, c.cmd, files)[0]
	in, err := src.open()
	if err != nil {
		return term.UnreadableFile(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	values := newValues(in)
	for {
		v, err := values.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return term.UnreadableFile(err)
		}
		if err := c.one(src, v); err != nil {
			return err
		}
	}
	if c.broken {
		return term.AlreadyReported()
	}
	return nil
}

// prepare reads the flags and the environment once.
func (c *translateCommand) prepare() error {
	names := dialect.Names()
	if c.to == "" {
		return term.BadInput("candor translate --to rpc; one of "+strings.Join(names, ", "), "--to: missing")
	}
	var err error
	if c.target, err = dialect.Lookup(c.to); err != nil {
		return term.Unknown("--to", c.to, names)
	}
	if c.from != "auto" {
		if c.source, err = dialect.Lookup(c.from); err != nil {
			return term.Unknown("--from", c.from, append([]string{"auto"}, names...))
		}
	}
	policy, err := candor.ParseStackPolicy(c.env.Getenv("DEBUG_STACK"), c.env.Getenv("MCP_ERRORS_VERBOSE"))
	if err != nil {
		return term.BadInput("unset the variable to omit stacks", "%s", err)
	}
	c.options = dialect.Options{Stack: policy, PlainRoot: !c.digestRoot}
	switch strings.ToUpper(c.pattern) {
	case "A":
		c.options.Pattern = dialect.PatternA
	case "B":
		c.options.Pattern = dialect.PatternB
	case "AUTO":
	default:
		return term.Unknown("--pattern", c.pattern, patternNames)
	}
	if c.cmd.Flags().Changed("pattern") && c.target.Name() != "dual" {
		return term.BadInput("leave it out, or use --to dual", "--pattern: dialect %s has no patterns, only dual has", c.target.Name())
	}
	c.stamp, err = c.env.ParseTime(c.at)
	return err
}

// one translates one value, or reports its error.
func (c *translateCommand) one(src source, v value) error {
	text, err := c.rewrite(v)
	if err != nil {
		c.broken = true
		_ = c.env.Out.Flush() // Output keeps the error
		c.env.Report(c.cmd, c.explain(src, v, err))
		return nil
	}
	c.env.Out.Write(framing.AppendLine(nil, text)) //nolint:errcheck // EndLine returns the error
	return c.env.Out.EndLine()
}

// rewrite reads an error with its carrier and returns both in the target dialect.
func (c *translateCommand) rewrite(v value) ([]byte, error) {
	if v.err != nil {
		return nil, v.err
	}
	var held carrier
	v.json, held = takeRecord(v.json)
	e, from, err := c.read(v)
	if err != nil {
		return nil, err
	}
	held.look(v.json, from, e)
	if id, ok := idOf(v.json); ok {
		held.id = id
	}
	if c.digestRoot { // system-error writes the path whatever the options are
		at := e.CallInfo()
		at.WorkspaceRoot = candor.RootDigest(at.WorkspaceRoot)
		e = e.With(candor.WithCallInfo(at))
	}
	o := c.options
	o.Now = c.clock()
	text, err := held.write(c.target, e, o)
	if err != nil {
		why, _ := whyNotJSON(err, nil)
		return nil, term.BadInput("remove it, or choose a dialect with the same kind of carrier", "the members beside the error cannot be kept: the output would be %s", why)
	}
	return text, nil
}

func (c *translateCommand) clock() time.Time {
	if c.stamp.IsZero() {
		return c.env.Now()
	}
	return c.stamp
}

// explain adds the line and a next step to an error.
func (c *translateCommand) explain(src source, v value, err error) *term.Error {
	at := src.at(v.line)
	if v.err != nil {
		why, _ := whyNotJSON(v.err, v.raw)
		return term.BadInput("give a stream of JSON values", "%s: %s", at, why)
	}
	var e *term.Error
	if errors.As(err, &e) {
		return term.BadInput(e.Hint, "%s: %s", at, e.Text)
	}
	var refused *dialect.ReadError
	if errors.As(err, &refused) {
		return term.BadInput(refused.Hint, "%s: reading %s: %s", at, refused.Dialect, refused.Problem)
	}
	return term.BadInput("candor decode shows what it is", "%s: %s", at, err)
}

// read returns the error and its dialect, which may be nil.
func (c *translateCommand) read(v value) (*candor.Error, dialect.Dialect, error) {
	from := c.source
	if from == nil {
		from, _ = dialect.Detect(v.json)
	}
	if from == nil || c.source == nil && IsBareNumber(from, v.json) {
		e, err := readForeign(v.json)
		return c.complete(e, v), nil, err
	}
	e, err := from.Read(v.json)
	if err != nil {
		return nil, nil, err
	}
	if _, whole := dialect.Embedded(v.json); whole || from.Carrier() == dialect.CarrierDocument || from.Name() == "candor" {
		return e, from, nil // canonical: nothing is added
	}
	return c.complete(e, v), from, nil
}

// IsBareNumber reports whether v is a JSON-RPC error without a symbol. Every server sends those, so they do not identify a dialect;
// package contract classifies them, as in decode.
func IsBareNumber(d dialect.Dialect, v wire.Value) bool {
	_, whole := dialect.Embedded(v)
	return d.Carrier() == dialect.CarrierRPCError && !whole && v.Path("jsonrpc").Present() && !v.Path("error", "data", "symbol").Present()
}

// complete adds a correlation id and a time to an error without them.
func (c *translateCommand) complete(e *candor.Error, v value) *candor.Error {
	if e == nil {
		return nil
	}
	if e.Ref() == "" {
		e = e.With(candor.WithRef(RefOf(v.raw)))
	}
	if e.Time().IsZero() {
		e = e.With(candor.WithTime(c.clock()))
	}
	return e
}

// readForeign reads a response that is in no dialect. It translates only certain failures, because a translation does not show doubt.
func readForeign(v wire.Value) (*candor.Error, error) {
	raw := v.Raw()
	if v.Path("content").Present() && v.Path("isError").Present() { // a result without its response
		raw = append(append([]byte(`{"jsonrpc":"2.0","id":0,"result":`), raw...), '}')
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

// idOf returns the id of a JSON-RPC response, and whether there is one.
func idOf(v wire.Value) (id []byte, ok bool) {
	if !v.Path("result").Present() && !v.Path("error").Present() || v.Path("ok").Present() {
		return nil, false
	}
	token, ok := v.Get("id")
	return token.Raw(), ok
}
