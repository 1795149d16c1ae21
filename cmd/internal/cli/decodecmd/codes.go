package decodecmd

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// codeRow is one code as `candor codes --json` and `candor explain --json` print it.
type codeRow struct {
	Symbol    string        `json:"symbol"`
	Domain    string        `json:"domain"`
	Number    int           `json:"number"`
	Class     candor.Class  `json:"class"`
	Retry     candor.Retry  `json:"retry"`
	RPC       int           `json:"rpc,omitempty"`
	Message   string        `json:"message"`
	Action    string        `json:"action"`
	Since     string        `json:"since"`
	Status    candor.Status `json:"-"`
	State     string        `json:"status"`
	Successor string        `json:"successor,omitempty"`
	Aliases   []string      `json:"aliases,omitempty"`
}

func rowOf(c candor.Code) codeRow {
	row := codeRow{
		Symbol: c.Symbol(), Domain: c.Domain(), Number: c.Number(), Class: c.Class(), Retry: c.Retry(), Message: c.Sentence(),
		Action: c.Action(), Since: c.Since(), Status: c.Status(), State: c.Status().String(), Aliases: c.Aliases(),
	}
	if rpc := c.RPCNumber(); rpc != row.Number {
		row.RPC = rpc
	}
	if next := c.Successor(); next.Valid() {
		row.Successor = next.String()
	}
	return row
}

// codesCommand holds the flags of `candor codes`.
type codesCommand struct {
	term.FormatFlag
	domain, class, status, text string
}

func NewCodes(env *term.Env) *cobra.Command {
	c := &codesCommand{}
	cmd := &cobra.Command{
		Use:   "codes",
		Short: "List every code with its class, retry advice and sentence",
		Long: `List every code in the catalogue in the order of its number: its number, its identity
domain/SYMBOL, its class (what to do about it), whether the same call may be sent again, and its
sentence. candor explain CODE tells more about one of them.

With --json the output is one list with a code per line, an object with these members, in this order:

  symbol, domain  its identity
  number          its number in the catalogue
  class           what to do about it
  retry           {"kind":…}, with afterMs if the kind is retryable_after_ms
  rpc             the number in a JSON-RPC error, only if that is another one
  message         its sentence
  action          what to do, in words
  since           the release that brought it
  status          ` + term.JoinWords(statusNames()) + `
  successor       the code to use instead, only if it is deprecated
  aliases         other spellings that are read as this code, only if there are some`,
		Example: `  candor codes --domain github
  candor codes --class rate_limited --json
  candor codes --grep "not found" --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(env, cmd) },
	}
	c.Register(cmd, "table", "json", "csv", "markdown")
	cmd.Flags().StringVar(&c.domain, "domain", "", "only this vocabulary, such as github")
	cmd.Flags().StringVar(&c.class, "class", "", "only this class, such as rate_limited")
	cmd.Flags().StringVar(&c.status, "status", "", "only this state: "+term.JoinWords(statusNames()))
	cmd.Flags().StringVar(&c.text, "grep", "", "only codes that hold this text anywhere, in any case")
	term.CompleteFlag(cmd, "domain", domainNames())
	term.CompleteFlag(cmd, "class", classNames())
	term.CompleteFlag(cmd, "status", statusNames())
	return cmd
}

func (c *codesCommand) run(env *term.Env, cmd *cobra.Command) error {
	format, err := c.Value(cmd)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, got string
		known     []string
	}{{"domain", c.domain, domainNames()}, {"class", c.class, classNames()}, {"status", c.status, statusNames()}} {
		if f.got != "" && !term.ContainsFold(f.known, f.got) {
			return term.Unknown(f.name, f.got, f.known)
		}
	}
	rows := c.rows()
	if len(rows) == 0 {
		env.Notify(cmd, "no code matches", "leave a filter out; candor codes lists them all")
	}
	switch format {
	case "json":
		return writeRowsJSON(env.Out, rows)
	case "csv":
		return writeRowsCSV(env.Out, rows)
	case "markdown":
		writeRowsMarkdown(env.Out, rows)
		return nil
	default:
		return writeRowsTable(env, rows)
	}
}

func (c *codesCommand) rows() []codeRow {
	rows := []codeRow{}
	for code := range candor.Codes() {
		row := rowOf(code)
		if is(c.domain, row.Domain) && is(c.class, string(row.Class)) && is(c.status, row.State) && row.holds(c.text) {
			rows = append(rows, row)
		}
	}
	return rows
}

// is reports whether a filter lets a word pass; no filter lets everything.
func is(filter, word string) bool { return filter == "" || strings.EqualFold(filter, word) }

func (r *codeRow) holds(text string) bool {
	all := strings.Join(append([]string{
		r.Domain + "/" + r.Symbol, strconv.Itoa(r.Number), strconv.Itoa(r.RPC), string(r.Class), r.Retry.String(), r.Message, r.Action,
	}, r.Aliases...), "\n")
	return strings.Contains(strings.ToLower(all), strings.ToLower(text))
}

// writeRowsJSON writes one array, a code per line, so that it can be read by programs and by line tools.
func writeRowsJSON(w io.Writer, rows []codeRow) error {
	sep := "[\n"
	for _, row := range rows {
		data, err := term.MarshalJSON(row)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s%s", sep, data)
		sep = ",\n"
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "[]")
		return nil
	}
	fmt.Fprintln(w, "\n]")
	return nil
}

func writeRowsCSV(w io.Writer, rows []codeRow) error {
	out := csv.NewWriter(w)
	records := [][]string{{"number", "domain", "symbol", "class", "retry", "after_ms", "rpc", "status", "since", "message", "action", "successor", "aliases"}}
	for _, r := range rows {
		records = append(records, []string{
			strconv.Itoa(r.Number), r.Domain, r.Symbol, string(r.Class), string(r.Retry.Kind()), orBlank(r.Retry.AfterMs()), orBlank(int64(r.RPC)),
			r.State, r.Since, r.Message, r.Action, r.Successor, strings.Join(r.Aliases, " "),
		})
	}
	return out.WriteAll(records)
}

func orBlank(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func writeRowsMarkdown(w io.Writer, rows []codeRow) {
	fmt.Fprint(w, "| number | code | class | retry | sentence |\n|---:|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %d | `%s/%s` | `%s` | %s | %s |\n", r.Number, r.Domain, r.Symbol, r.Class, term.RetryWords(r.Retry), strings.ReplaceAll(r.sentence(), "|", `\|`))
	}
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

// sentence marks what nothing raises, or nothing should raise any more.
func (r *codeRow) sentence() string {
	switch r.Status {
	case candor.StatusReserved:
		return r.Message + " (reserved)"
	case candor.StatusDeprecated:
		return r.Message + " (deprecated: use " + r.Successor + ")"
	case candor.StatusActive:
	}
	return r.Message
}
