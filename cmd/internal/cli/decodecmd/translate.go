package decodecmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// translateCommand holds the flags of `candor translate`.
type translateCommand struct {
	env *term.Env
	cmd *cobra.Command

	from, to, pattern, at string
	asJSON, digestRoot    bool

	source  dialect.Dialect // nil detects it for every value
	target  dialect.Dialect
	options dialect.Options
	stamp   time.Time // of --at
	broken  bool      // some value could not be translated
}

func NewTranslate(env *term.Env) *cobra.Command {
	c := &translateCommand{env: env}
	c.cmd = &cobra.Command{
		Use:   "translate --to DIALECT [FILE]",
		Short: "Rewrite errors from one dialect into another, losing nothing",
		Long: `Read errors in one dialect and write them in another, one per line. The input is a stream of JSON values,
one per line or spread over several: bare envelopes, MCP results, JSON-RPC responses or problem documents.
Standard input is read if no FILE is given.

The output is the whole carrier: an MCP result, a JSON-RPC error, or a document. What a dialect has no member
for travels beside it, so that A to B to A gives A back.

What the carrier held besides the error is kept too, byte for byte and not redacted: other members of the response,
of the result or of the error, of _meta, other blocks of content. In a carrier of another kind they travel under
"` + CarrierKey + `", a member of _meta, of data or of the document, and translating back restores them. The
envelope is repeated in structuredContent for system-error and dual, as their servers do, and for other dialects if
the input did so; a structuredContent that is the tool's own is left as it is.

With --from auto, the default, the dialect of each value is recognised; an answer in no dialect is
translated too if the protocol's own fields call it a failure. An error from elsewhere that has no correlation id and no
time is given both. Stacks are kept as DEBUG_STACK and MCP_ERRORS_VERBOSE say.

The output is for your own eyes: workspace_root is written as a path in every dialect, where a server would show a
digest. Write --digest-root before you pass it on.

A value that cannot be translated is reported with its line; the others are written all the same.

Dialects: ` + strings.Join(dialect.Names(), ", "),
		Example: `  candor translate --to rpc < tool-errors.jsonl
  candor translate --from system-error --to tool-error envelope.json
  candor translate --to dual --pattern B envelope.json`,
		Args: atMostOneFile,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := c.cmd.Flags()
	flags.StringVar(&c.from, "from", "auto", "the dialect of the input, or auto")
	flags.StringVar(&c.to, "to", "", "the dialect of the output")
	flags.StringVar(&c.pattern, "pattern", "auto", "the form of the dual dialect: "+term.JoinWords(patternWords))
	flags.StringVar(&c.at, "at", "", "the time of errors that have none, such as 2026-01-02T15:04:05Z (default now)")
	flags.BoolVar(&c.digestRoot, "digest-root", false, "write the digest of workspace_root and not the path")
	flags.BoolVar(&c.asJSON, "json", false, "accepted for symmetry: the output is always JSON")
	term.CompleteFlag(c.cmd, "from", append([]string{"auto"}, dialect.Names()...))
	term.CompleteFlag(c.cmd, "to", dialect.Names())
	term.CompleteFlag(c.cmd, "pattern", patternWords)
	return c.cmd
}

var patternWords = []string{"auto", "A", "B"}

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
	src := sourcesOf(c.env, c.cmd, files)[0]
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
		return term.Unreadable()
	}
	return nil
}

// prepare reads the flags and the environment once.
func (c *translateCommand) prepare() error {
	names := dialect.Names()
	if c.to == "" {
		return term.BadInput("candor translate --to rpc; one of "+strings.Join(names, ", "), "--to is missing: the dialect to write")
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
		return term.BadInput("unset it to show no stacks", "%s", err)
	}
	c.options = dialect.Options{Stack: policy, PlainRoot: !c.digestRoot}
	switch strings.ToUpper(c.pattern) {
	case "A":
		c.options.Pattern = dialect.PatternA
	case "B":
		c.options.Pattern = dialect.PatternB
	case "AUTO":
	default:
		return term.Unknown("--pattern", c.pattern, patternWords)
	}
	if c.cmd.Flags().Changed("pattern") && c.target.Name() != "dual" {
		return term.BadInput("leave it out, or write --to dual", "--pattern means nothing to %s: only dual has two forms", c.target.Name())
	}
	c.stamp, err = c.env.ParseTime(c.at)
	return err
}

// one translates one value, or says why it cannot be.
func (c *translateCommand) one(src source, v value) error {
	text, err := c.rewrite(v)
	if err != nil {
		c.broken = true
		_ = c.env.Out.Flush() // the failure stays in the sink and ends the run
		c.env.Report(c.cmd, c.explain(src, v, err))
		return nil
	}
	c.env.Out.Write(wire.AppendLine(nil, text)) //nolint:errcheck // the sink remembers, and LineEnd tells
	return c.env.Out.LineEnd()
}

// rewrite reads an error with all that stands around it and writes both anew.
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
	if c.digestRoot { // one dialect shows the path to the session it belongs to, whatever the options say
		at := e.CallInfo()
		at.WorkspaceRoot = candor.RootDigest(at.WorkspaceRoot)
		e = e.With(candor.WithCallInfo(at))
	}
	o := c.options
	o.Now = c.clock()
	text, err := held.write(c.target, e, o)
	if err != nil {
		why, _ := whyNotJSON(err, nil)
		return nil, term.BadInput("take it out, or translate into a dialect with the same kind of carrier", "what stands beside the error cannot be kept: the output would be %s", why)
	}
	return text, nil
}

func (c *translateCommand) clock() time.Time {
	if c.stamp.IsZero() {
		return c.env.Now()
	}
	return c.stamp
}

// explain turns an error into a fault that names the line.
func (c *translateCommand) explain(src source, v value, err error) *term.Error {
	at := src.at(v.line)
	if v.err != nil {
		why, _ := whyNotJSON(v.err, v.raw)
		return term.BadInput("give a stream of JSON values", "%s: %s", at, why)
	}
	var told *term.Error
	if errors.As(err, &told) {
		return term.BadInput(told.Hint, "%s: %s", at, told.Text)
	}
	var refused *dialect.ReadError
	if errors.As(err, &refused) {
		return term.BadInput(refused.Hint, "%s: reading %s: %s", at, refused.Dialect, refused.Problem)
	}
	return term.BadInput("candor decode says what it is", "%s: %s", at, err)
}

// read returns the error, and the dialect it is in, nil for none.
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
		return e, from, nil // it is canonical already: what it does not say, nobody adds
	}
	return c.complete(e, v), from, nil
}

// IsBareNumber reports a JSON-RPC error that names itself by a number alone, or by none. Every server sends those, so that they say
// no more about a dialect than text does: the contract reads them, as it does in decode.
func IsBareNumber(d dialect.Dialect, v wire.Value) bool {
	_, whole := dialect.Embedded(v)
	return d.Carrier() == dialect.CarrierRPCError && !whole && v.Path("jsonrpc").Present() && !v.Path("error", "data", "symbol").Present()
}

// CompleteFlag gives an error from elsewhere what every error here has: a correlation id and a time.
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

// readForeign reads an answer that is in no dialect. Only what the protocol's own fields call a failure is translated: a
// suspicion is shown by decode, and rewriting it would make it a fact.
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
	return nil, fmt.Errorf("no error in any dialect, and no answer that is marked as failed")
}

// idOf returns the id of a JSON-RPC response, and whether there is one.
func idOf(v wire.Value) (id []byte, ok bool) {
	if !v.Path("result").Present() && !v.Path("error").Present() || v.Path("ok").Present() {
		return nil, false
	}
	token, ok := v.Get("id")
	return token.Raw(), ok
}
