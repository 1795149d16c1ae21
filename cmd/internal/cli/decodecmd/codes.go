package decodecmd

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
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

// codesCommand has the flags of `candor codes`.
type codesCommand struct {
	term.FormatFlag
	domain, class, status, text string
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
  status          ` + term.JoinWords(statusNames()) + `
  successor       code to use instead, only if it is deprecated
  aliases         other spellings, only if there are some`,
		Example: `  candor codes --domain github
  candor codes --class rate_limited --json
  candor codes --grep "not found" --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(env, cmd) },
	}
	c.Register(cmd, "table", "json", "csv", "markdown")
	cmd.Flags().StringVar(&c.domain, "domain", "", "only this domain, such as github")
	cmd.Flags().StringVar(&c.class, "class", "", "only this class, such as rate_limited")
	cmd.Flags().StringVar(&c.status, "status", "", "only this status: "+term.JoinWords(statusNames()))
	cmd.Flags().StringVar(&c.text, "grep", "", "only codes that contain this text, in any case")
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
		env.Notify(cmd, "no code matches", "candor codes without filters lists all")
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
		if matches(c.domain, row.Domain) && matches(c.class, string(row.Class)) && matches(c.status, row.State) && row.contains(c.text) {
			rows = append(rows, row)
		}
	}
	return rows
}

// matches reports whether a word passes a filter; "" passes everything.
func matches(filter, word string) bool { return filter == "" || strings.EqualFold(filter, word) }

func (r *codeRow) contains(text string) bool {
	all := strings.Join(append([]string{
		r.Domain + "/" + r.Symbol, strconv.Itoa(r.Number), strconv.Itoa(r.RPC), string(r.Class), r.Retry.String(), r.Message, r.Action,
	}, r.Aliases...), "\n")
	return strings.Contains(strings.ToLower(all), strings.ToLower(text))
}

// writeRowsJSON writes one array with one code per line, so that line tools can read it too.
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

// sentence returns the message, marked if the code is reserved or deprecated.
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

func domainNames() []string {
	var names []string
	for _, d := range candor.Domains() {
		names = append(names, d.Name)
	}
	return names
}

func classNames() []string { return term.Strings(candor.Classes()) }

func verdictNames() []string { return term.Strings(contract.Verdicts()) }

func statusNames() []string {
	return []string{candor.StatusActive.String(), candor.StatusReserved.String(), candor.StatusDeprecated.String()}
}

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
