// Package decodecmd has the commands that read failures and explain codes: decode, translate, codes and explain.
package decodecmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// decodeCommand holds the flags of `candor decode` and what it has counted.
type decodeCommand struct {
	env *term.Env
	cmd *cobra.Command

	term.FormatFlag
	dialect, failOn, at string
	explain             bool

	stamp   time.Time // of --at
	several bool      // more than one input: each line of JSON names its file
	tally   tally
	broken  bool // some line or file could not be read
}

func NewDecode(env *term.Env) *cobra.Command {
	c := &decodeCommand{env: env}
	c.cmd = &cobra.Command{
		Use:   "decode [FILE...]",
		Short: "Read answers of any server and say which ones failed, and how",
		Long: `Read answers of any MCP server, one JSON value per line, and say what each one is: clean, or which kind of
failure, and the failure as one typed error. A line is a JSON-RPC response, or
{"request":…,"response":…}, which lets more be told, or {"request":…,"response":…,"tool":…} with the called tool as
its server lists it: with its inputSchema only arguments that the tool has are blamed. Standard input is read if no
FILE is given.

What the protocol's own fields say is certain. What is read from the shape or the words of an answer is
suspected, with a confidence: a tool that reads files may return anything.

Each line of input gives one line of output; blank lines are skipped. (The text for people is a line, and some
more below it if there is something to say.) With --json the line is an object with these members, in this order:

  verdict     what the answer is: ` + term.JoinWords(verdictNames()) + `
  certainty   certain, or suspected
  rule        the name of the rule that decided it
  error       the error in its canonical form, or null if the answer is clean
  violations  faults of form, a list of {"rule":…,"message":…}; a clean answer may have some too
  confidence  how sure the verdict is, from 0 to 1; 1 if it is certain
  line        the number of the line in its file, from 1; blank lines count
  file        the name of the file, only if there are several
  evidence    with --explain: what speaks for the error's code, in the order in which it is weighed, a list of
              {"kind":…,"code":…,"strength":…,"why":…,"decided":…}; one of them decided

A line that is no sound JSON (cut off, a raw control character or bytes that are not UTF-8 in a string, a member
named twice, nested too deep) is reported on standard error, and so is a request without its response. It counts as
a malformed message, the lines after it are read all the same, and the exit code is 2.

An absolute time, such as "resets at 2026-01-02T15:04:05Z", becomes a delay only if --at says when the answers
came. The errors that have no time of their own get that one.`,
		Example: `  candor decode answers.jsonl
  candor decode --json < answers.jsonl | jq -r .error.code
  candor decode --fail-on suspected answers.jsonl
  candor decode --explain answers.jsonl
  candor decode --at 2026-01-02T15:04:05Z answers.jsonl`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := c.cmd.Flags()
	c.Register(c.cmd, "text", "json")
	flags.StringVar(&c.dialect, "dialect", "", "the dialect that this server is known to speak: "+term.JoinWords(dialect.Names()))
	flags.StringVar(&c.failOn, "fail-on", "never", "exit with 1 if one was found: "+term.JoinWords(failOnWords))
	flags.BoolVar(&c.explain, "explain", false, "also show which evidence decided each error's code, and what else was found")
	flags.StringVar(&c.at, "at", "", "when the answers came, such as 2026-01-02T15:04:05Z, or now; turns absolute times into delays")
	term.CompleteFlag(c.cmd, "dialect", dialect.Names())
	term.CompleteFlag(c.cmd, "fail-on", failOnWords)
	return c.cmd
}

var failOnWords = []string{"failure", "suspected", "never"}

func (c *decodeCommand) run(files []string) error {
	format, err := c.Value(c.cmd)
	if err != nil {
		return err
	}
	if c.dialect != "" && !term.ContainsFold(dialect.Names(), c.dialect) {
		return term.Unknown("dialect", c.dialect, dialect.Names())
	}
	if !term.ContainsFold(failOnWords, c.failOn) {
		return term.Unknown("--fail-on", c.failOn, failOnWords)
	}
	if c.stamp, err = c.env.ParseTime(c.at); err != nil {
		return err
	}
	c.several = len(files) > 1
	for _, src := range sourcesOf(c.env, c.cmd, files) {
		if err := c.readSource(src, format == "json"); err != nil {
			return err
		}
	}
	if c.env.Terminal && format == "text" {
		c.tally.write(c.env)
	}
	switch {
	case c.broken:
		return term.Unreadable()
	case c.failOn == "failure" && c.tally.certain > 0, c.failOn == "suspected" && c.tally.certain+c.tally.suspected > 0:
		return term.Found()
	default:
		return nil
	}
}

// readSource reads one input to its end. A file that cannot be opened does not keep the others from being read.
func (c *decodeCommand) readSource(src source, asJSON bool) error {
	in, err := src.open()
	if err != nil {
		c.complain(term.UnreadableFile(err))
		return nil
	}
	defer in.Close() //nolint:errcheck // it was only read
	lines := newLines(in)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			c.complain(term.UnreadableFile(err))
			return nil
		}
		if err := c.readLine(src, l, asJSON); err != nil {
			return err
		}
	}
}

// complain reports what could not be read, behind the results that came before it.
func (c *decodeCommand) complain(f *term.Error) {
	c.broken = true
	_ = c.env.Out.Flush() // the failure stays in the sink and ends the run
	c.env.Report(c.cmd, f)
}

func (c *decodeCommand) readLine(src source, l line, asJSON bool) error {
	x, err := exchangeOf(l)
	if err != nil {
		why, hint := whyNotJSON(err, l.bytes)
		c.complain(term.BadInput(hint, "%s: %s", src.at(l.number), why))
	}
	if x == nil {
		x = malformed(l)
	}
	x.Dialect, x.At = c.dialect, c.stamp
	r := contract.Read(x)
	if r.Error != nil && r.Error.Ref() == "" {
		r.Error = r.Error.With(candor.WithRef(RefOf(l.bytes)))
	}
	c.tally.add(r)
	var evidence []contract.Evidence
	if c.explain {
		evidence = contract.Explain(x)
	}
	if asJSON {
		file := src.name
		if !c.several {
			file = ""
		}
		line := AppendReading(nil, r, l.number, file)
		if c.explain {
			line = appendEvidence(line, evidence)
		}
		c.env.Out.Write(append(line, '}', '\n')) //nolint:errcheck // the sink remembers, and LineEnd tells
	} else {
		writeReading(c.env, r, src.at(l.number))
		writeEvidence(c.env, evidence)
	}
	return c.env.Out.LineEnd()
}

// exchangeOf reads a line. Both results are set where the line is bad input, but there is something to judge all the same.
func exchangeOf(l line) (*contract.Exchange, error) {
	if l.tooLong {
		return nil, wire.Malformation{Flaw: wire.FlawTooLarge, Offset: maxLine}
	}
	x, err := contract.ParseExchange(l.bytes)
	if err != nil {
		return nil, err
	}
	if x.Lost || x.Response.Malformation().Flaw == wire.FlawNone {
		return x, nil
	}
	return x, unsound(l.bytes)
}

// errNoResponse is a recorded call without the member that says what came of it.
var errNoResponse = errors.New("a request without response")

// unsound says what is wrong with a line itself, nil if it is a good record of a malformed message.
func unsound(text []byte) error {
	v, err := Parse(bytes.TrimSpace(text))
	if err != nil {
		return err
	}
	_, asked := v.Get("request")
	_, answered := v.Get("response")
	if asked && !answered && !v.Path("jsonrpc").Present() {
		return errNoResponse
	}
	return nil
}

// malformed is the exchange of a line that holds no message: the bytes themselves are the answer.
func malformed(l line) *contract.Exchange {
	limits := wire.Limits{}
	if l.tooLong {
		limits.MaxBytes = len(l.bytes) - 1
	}
	return &contract.Exchange{Response: wire.Parse(bytes.TrimSpace(l.bytes), limits)}
}

// RefOf makes a correlation id for an error that has none. The same bytes give the same id, so that two runs can be compared.
func RefOf(data []byte) string {
	sum := sha256.Sum256(bytes.TrimSpace(data))
	return "c-" + hex.EncodeToString(sum[:6])
}

// AppendReading appends the line of --json without its end. The order of the members is part of the contract.
func AppendReading(dst []byte, r contract.Reading, number int, file string) []byte {
	dst = fmt.Appendf(dst, `{"verdict":%q,"certainty":%q,"rule":%q,"error":`, r.Verdict, r.Certainty, r.Rule)
	if r.Error == nil {
		dst = append(dst, "null"...)
	} else {
		dst = r.Error.AppendJSON(dst, candor.JSONOptions{})
	}
	dst = append(dst, `,"violations":[`...)
	for i, v := range r.Violations {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(append(dst, `{"rule":`...), v.Rule)
		dst = wire.AppendString(append(dst, `,"message":`...), v.Message)
		dst = append(dst, '}')
	}
	dst = fmt.Appendf(dst, `],"confidence":%g,"line":%d`, r.Confidence, number)
	if file != "" {
		dst = wire.AppendString(append(dst, `,"file":`...), file)
	}
	return dst
}
