// Package decodecmd has the commands that read failures and explain codes: decode, preview, translate, codes and explain.
package decodecmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// decodeCommand has the flags of `candor decode` and its counts.
type decodeCommand struct {
	env *term.Env
	cmd *cobra.Command

	term.FormatFlag
	dialect, failOn, at string
	explain             bool

	stamp   time.Time // of --at
	several bool      // more than one input: JSON lines have the file name
	tally   tally
	broken  bool // some line or file could not be read
}

// NewDecode returns `candor decode`.
func NewDecode(env *term.Env) *cobra.Command {
	c := &decodeCommand{env: env}
	c.cmd = &cobra.Command{
		Use:   "decode [FILE...]",
		Short: "Read responses of any MCP server and show which failed, and why",
		Long: `Read responses of any MCP server, one JSON value per line, and print for each whether it is clean or which kind
of failure it is, with the failure as one typed error. A line is a JSON-RPC response; or {"request":…,"response":…},
which allows a more precise answer; or {"request":…,"response":…,"tool":…} with the tool as its server lists it: its
inputSchema limits which arguments an error can be about. Without FILE standard input is read.

A verdict from the protocol's own fields is certain. A verdict from the shape or the text of a response is suspected,
with a confidence: a tool that reads files may return any text.

Each line of input gives one line of output, with details below it; blank lines are skipped. With --json each line
is an object with these members, in this order:

  verdict     kind of response: ` + term.JoinWords(term.Strings(contract.Verdicts())) + `
  certainty   certain or suspected
  rule        name of the rule that decided
  error       the error in its canonical form, or null if the response is clean
  violations  violations of the protocol, a list of {"rule":…,"message":…}; a clean response may have some too
  confidence  confidence of the verdict, from 0 to 1; 1 if it is certain
  line        line number in the file, from 1, with blank lines counted
  file        file name, only if there are several files
  evidence    with --explain: evidence for the code of the error, in order of weight, a list of
              {"kind":…,"code":…,"strength":…,"why":…,"decided":…}; one of them decided

A line that is not valid JSON (truncated, a raw control character or invalid UTF-8 in a string, a duplicate member,
nested too deep) is reported on standard error, and so is a request without a response. It counts as a malformed
message, the following lines are read, and the exit code is 2.

An absolute time, such as "resets at 2026-01-02T15:04:05Z", becomes a delay only if --at gives the time of the
responses. Errors without a time get that time too.`,
		Example: `  candor decode answers.jsonl
  candor decode --json < answers.jsonl | jq -r .error.code
  candor decode --fail-on suspected answers.jsonl
  candor decode --explain answers.jsonl
  candor decode --at 2026-01-02T15:04:05Z answers.jsonl`,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := c.cmd.Flags()
	c.Register(c.cmd, "text", "json")
	term.Choice(c.cmd, &c.dialect, "dialect", "", "dialect of the server: "+term.JoinWords(dialect.Names()), dialect.Names())
	term.Choice(c.cmd, &c.failOn, "fail-on", "never", "exit with code 1 if there is one: "+term.JoinWords(failOnValues), failOnValues)
	flags.BoolVar(&c.explain, "explain", false, "also show the evidence for the code of each error")
	flags.StringVar(&c.at, "at", "", "time of the responses, such as 2026-01-02T15:04:05Z, or now; turns absolute times into delays")
	return c.cmd
}

var failOnValues = []string{"failure", "suspected", "never"}

func (c *decodeCommand) run(files []string) error {
	format, err := c.Value(c.cmd)
	if err != nil {
		return err
	}
	if c.stamp, err = c.env.ParseTime(c.at); err != nil {
		return err
	}
	c.several = len(files) > 1
	for _, src := range openSources(c.env, c.cmd, files) {
		unreadable, err := src.eachLine(func(l line) error { return c.readLine(src, l, format == "json") })
		if err != nil && !unreadable {
			return err
		}
		if err != nil {
			c.report(term.UnreadableFile(err)) // the next one is read
		}
	}
	if c.env.Terminal && format == "text" {
		c.tally.write(c.env)
	}
	switch {
	case c.broken:
		return term.AlreadyReported()
	case c.failOn == "failure" && c.tally.certain > 0, c.failOn == "suspected" && c.tally.certain+c.tally.suspected > 0:
		return term.Found()
	default:
		return nil
	}
}

// report prints an input error after the results before it.
func (c *decodeCommand) report(e *term.Error) {
	c.broken = true
	_ = c.env.Out.Flush() // Output keeps the error
	c.env.Report(c.cmd, e)
}

func (c *decodeCommand) readLine(src source, l line, asJSON bool) error {
	x, err := exchangeOf(l)
	if err != nil {
		why, hint := whyNotJSON(err, l.bytes)
		c.report(term.BadInput(hint, "%s: %s", src.at(l.number), why))
	}
	if x == nil {
		x = malformed(l)
	}
	x.Dialect, x.At = c.dialect, c.stamp
	r := contract.Read(x)
	if r.Error != nil && r.Error.Ref() == "" {
		r.Error = r.Error.With(candor.WithRef(refOf(l.bytes)))
	}
	c.tally.add(r)
	var evidence []contract.Evidence
	if c.explain {
		evidence = append([]contract.Evidence{}, contract.Explain(x)...)
	}
	if !asJSON {
		writeReading(c.env, r, src.at(l.number))
		writeEvidence(c.env, evidence)
		return c.env.Out.EndLine()
	}
	read := newReading(r, l.number)
	if c.several {
		read.File = src.name
	}
	if evidence != nil {
		read.Evidence = evidenceRows(evidence)
	}
	if err := term.WriteJSONLine(c.env.Out, read); err != nil {
		return err
	}
	return c.env.Out.EndLine()
}

// exchangeOf parses a line. It returns both results for bad input that can be classified nevertheless.
func exchangeOf(l line) (*contract.Exchange, error) {
	if l.tooLong {
		return nil, wire.Malformation{Flaw: wireflaw.TooLarge, Offset: maxLine}
	}
	x, err := contract.ParseExchange(l.bytes)
	if err != nil {
		return nil, err
	}
	if x.Lost || x.Response.Malformation().Flaw == wireflaw.None {
		return x, nil
	}
	return x, lineError(l.bytes)
}

// errNoResponse is the error for a request without a response member.
var errNoResponse = errors.New("request without response")

// lineError returns the error of a line, or nil if it is a valid record of a malformed message.
func lineError(text []byte) error {
	v, err := parse(bytes.TrimSpace(text))
	if err != nil {
		return err
	}
	_, request := v.Get("request")
	_, response := v.Get("response")
	if request && !response && !v.Path("jsonrpc").Present() {
		return errNoResponse
	}
	return nil
}

// malformed returns the exchange for a line without a message: its bytes are the response.
func malformed(l line) *contract.Exchange {
	limits := wire.Limits{}
	if l.tooLong {
		limits.MaxBytes = len(l.bytes) - 1
	}
	return &contract.Exchange{Response: wire.Parse(bytes.TrimSpace(l.bytes), limits)}
}

// refOf returns a correlation id for an error without one. It depends only on the bytes, so that two runs can be compared.
func refOf(data []byte) string {
	sum := sha256.Sum256(bytes.TrimSpace(data))
	return "c-" + hex.EncodeToString(sum[:6])
}

// reading is a line of --json. The order of the members is part of the contract.
type reading struct {
	Verdict    contract.Verdict     `json:"verdict"`
	Certainty  contract.Certainty   `json:"certainty"`
	Rule       string               `json:"rule"`
	Error      *candor.Error        `json:"error"`
	Violations []contract.Violation `json:"violations"`
	Confidence float64              `json:"confidence"`
	Line       int                  `json:"line"`
	File       string               `json:"file,omitempty"`
	Evidence   []evidenceRow        `json:"evidence,omitzero"`
}

// evidenceRow is the evidence for the code of an error.
type evidenceRow struct {
	Kind     string `json:"kind"`
	Code     string `json:"code"`
	Strength string `json:"strength"`
	Why      string `json:"why"`
	Decided  bool   `json:"decided"`
}

// newReading returns the reading of a line.
func newReading(r contract.Reading, number int) reading {
	return reading{Verdict: r.Verdict, Certainty: r.Certainty, Rule: r.Rule, Error: r.Error,
		Violations: append([]contract.Violation{}, r.Violations...), Confidence: r.Confidence, Line: number}
}

func evidenceRows(list []contract.Evidence) []evidenceRow {
	rows := []evidenceRow{}
	for _, e := range list {
		rows = append(rows, evidenceRow{e.Kind, e.Code.Symbol(), e.Strength, e.Why, e.Decided})
	}
	return rows
}
