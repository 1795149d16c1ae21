package decodecmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// codeRow is one code as `candor codes --json` and `candor explain --json` print it.
type codeRow struct {
	Symbol    string       `json:"symbol"`
	Domain    string       `json:"domain"`
	Number    int          `json:"number"`
	Class     candor.Class `json:"class"`
	Retry     candor.Retry `json:"retry"`
	RPC       int          `json:"rpc,omitempty"`
	Message   string       `json:"message"`
	Action    string       `json:"action"`
	Since     string       `json:"since"`
	State     string       `json:"status"`
	Successor string       `json:"successor,omitempty"`
	Aliases   []string     `json:"aliases,omitempty"`
}

func rowOf(c candor.Code) codeRow {
	row := codeRow{
		Symbol: c.Symbol(), Domain: c.Domain(), Number: c.Number(), Class: c.Class(), Retry: c.Retry(), Message: c.Info().Sentence,
		Action: c.Info().Action, Since: c.Info().Since, State: c.Info().Status, Aliases: c.Info().Aliases,
	}
	if rpc := c.Info().RPCNumber; rpc != row.Number {
		row.RPC = rpc
	}
	if next := c.Info().Successor; next.Valid() {
		row.Successor = next.String()
	}
	return row
}

// codesCommand has the flags of `candor codes`.
type codesCommand struct {
	term.FormatFlag
	domain, status, text string
	class                candor.Class
}

// NewCodes returns `candor codes`.
func NewCodes(env *term.Env) *cobra.Command {
	c := &codesCommand{}
	cmd := &cobra.Command{
		Use:   "codes",
		Short: "List all codes with class, retry advice and message",
		Long: `List all codes of the catalogue by number, each with domain/SYMBOL, its class (which says what to do),
whether the same call may be retried, and its message. candor explain CODE shows more.

With --json the output is one list with one code per line, an object with these members, in this order:

  symbol, domain  the name of the code
  number          number in the catalogue
  class           what to do about it
  retry           {"kind":…}, with afterMs if the kind is retryable_after_ms
  rpc             number in a JSON-RPC error, only if it differs
  message         message
  action          what to do, in words
  since           first release
  status          ` + term.JoinWords(statuses) + `
  successor       code to use instead, only if it is deprecated
  aliases         other spellings, only if there are some`,
		Example: `  candor codes --domain github
  candor codes --class rate_limited --json
  candor codes --grep "not found"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(env, cmd) },
	}
	c.Register(cmd, "table", "json")
	term.Choice(cmd, &c.domain, "domain", "", "only this domain, such as github", domainNames())
	term.Choice(cmd, &c.class, "class", "", "only this class, such as rate_limited", candor.Classes())
	term.Choice(cmd, &c.status, "status", "", "only this status: "+term.JoinWords(statuses), statuses)
	cmd.Flags().StringVar(&c.text, "grep", "", "only codes that contain this text, in any case")
	return cmd
}

func (c *codesCommand) run(env *term.Env, cmd *cobra.Command) error {
	format, err := c.Value(cmd)
	if err != nil {
		return err
	}
	rows := c.rows()
	if len(rows) == 0 {
		env.Notify(cmd, "no code matches", "candor codes without filters lists all")
	}
	if format == "json" {
		return writeRowsJSON(env.Out, rows)
	}
	return writeRowsTable(env, rows)
}

func (c *codesCommand) rows() []codeRow {
	rows := []codeRow{}
	for code := range candor.Codes() {
		row := rowOf(code)
		if matches(c.domain, row.Domain) && matches(c.class, row.Class) && matches(c.status, row.State) && row.contains(c.text) {
			rows = append(rows, row)
		}
	}
	return rows
}

// matches reports whether a word passes a filter; "" passes everything.
func matches[T ~string](filter, word T) bool { return filter == "" || filter == word }

func (r *codeRow) contains(text string) bool {
	all := strings.Join(append([]string{
		r.Domain + "/" + r.Symbol, strconv.Itoa(r.Number), strconv.Itoa(r.RPC), string(r.Class), r.Retry.String(), r.Message, r.Action,
	}, r.Aliases...), "\n")
	return strings.Contains(strings.ToLower(all), strings.ToLower(text))
}

// writeRowsJSON writes one array with one code per line, so that line tools can read it too.
func writeRowsJSON(w io.Writer, rows []codeRow) error {
	var lines []string
	for _, row := range rows {
		data, err := term.MarshalJSON(row)
		if err != nil {
			return err
		}
		lines = append(lines, "\n"+string(data))
	}
	if len(lines) > 0 {
		lines[len(lines)-1] += "\n"
	}
	_, err := fmt.Fprintf(w, "[%s]\n", strings.Join(lines, ","))
	return err
}

func writeRowsTable(env *term.Env, rows []codeRow) error {
	p := env.Colors()
	var plain strings.Builder
	table := tabwriter.NewWriter(&plain, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NUMBER\tCODE\tCLASS\tRETRY\tSENTENCE")
	for _, r := range rows {
		fmt.Fprintf(table, "%d\t%s/%s\t%s\t%s\t%s\n", r.Number, r.Domain, r.Symbol, r.Class, term.RetryWords(r.Retry), r.sentence())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	head, rest, _ := strings.Cut(plain.String(), "\n")
	fmt.Fprintf(env.Out, "%s\n%s", p.Bold(head), rest)
	return nil
}

// sentence returns the message, marked if the code is reserved or deprecated.
func (r *codeRow) sentence() string {
	switch r.State {
	case "reserved":
		return r.Message + " (reserved)"
	case "deprecated":
		return r.Message + " (deprecated: use " + r.Successor + ")"
	case "active":
	}
	return r.Message
}

func domainNames() []string {
	var names []string
	for _, d := range candor.Domains() {
		names = append(names, d.Name)
	}
	return names
}

var statuses = []string{"active", "reserved", "deprecated"}

// codeNames returns the names that explain completes: each symbol once, and domain/SYMBOL.
func codeNames() []string {
	var symbols, full []string
	for c := range candor.Codes() {
		symbols = append(symbols, c.Symbol())
		full = append(full, c.String())
	}
	slices.Sort(symbols)
	return append(slices.Compact(symbols), full...)
}
