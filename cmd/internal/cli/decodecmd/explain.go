package decodecmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/internal/near"
)

// explainCommand holds the flags of `candor explain`.
type explainCommand struct {
	json, wire bool
}

func NewExplain(env *term.Env) *cobra.Command {
	c := &explainCommand{}
	cmd := &cobra.Command{
		Use:   "explain CODE",
		Short: "Say what a code means and what to do about it",
		Long: `Say what a code means, what to do about it, and whether the same call may be sent again.

CODE is a symbol (RATE_LIMITED), a full name (github/E_GH_RATE_LIMIT), a number of the catalogue (3103)
or a number of JSON-RPC (-32602). Upper and lower case are the same. A symbol that several domains
share is explained for each of them, candor's own first and the others by their numbers.`,
		Example: `  candor explain FILE_NOT_FOUND
  candor explain workrail/timeout --wire
  candor explain -32602
  candor explain 2100 --json`,
		Args:              oneCode,
		ValidArgsFunction: cobra.FixedCompletions(codeNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(_ *cobra.Command, args []string) error { return c.run(env, args[0]) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object per line and code")
	cmd.Flags().BoolVar(&c.wire, "wire", false, "show the error on the wire in every dialect")
	return cmd
}

func oneCode(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return term.BadInput("candor explain RATE_LIMITED; candor codes lists them all", "give exactly one code, not %d", len(args))
	}
	return nil
}

func (c *explainCommand) run(env *term.Env, asked string) error {
	asked = strings.ReplaceAll(strings.TrimSpace(asked), minusSign, "-")
	if number, err := strconv.Atoi(asked); err == nil {
		if about, ok := aboutRPC(number); ok {
			return c.explainRPC(env, number, about)
		}
	}
	codes, err := findCodes(asked)
	if err != nil {
		return err
	}
	for i, code := range codes {
		if c.json {
			if err := c.writeJSON(env, code); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(env.Out)
		}
		c.writeText(env, code)
	}
	if len(codes) > 1 && !c.json {
		fmt.Fprintf(env.Out, "\n%d domains share this symbol; candor explain %s asks for one of them.\n", len(codes), codes[0])
	}
	return nil
}

// findCodes returns the codes that a person may mean: one, or all that share a symbol.
func findCodes(asked string) ([]candor.Code, error) {
	if shared := candor.SharedBy(strings.ToUpper(asked)); len(shared) > 0 {
		return ownFirst(shared), nil
	}
	code, err := candor.ParseCode(asked)
	if err == nil {
		return []candor.Code{code}, nil
	}
	if number, bare := strconv.Atoi(asked); bare == nil {
		return nil, term.BadInput(rangeHint(number), "%s", err)
	}
	hint := "candor codes lists them all"
	if near := nearCodes(asked); len(near) > 0 {
		hint = "did you mean " + term.JoinWords(near) + "? " + hint
	}
	return nil, term.BadInput(hint, "%s", err)
}

// ownFirst puts the code of this project before those of the others, which stay in the order of their numbers.
func ownFirst(codes []candor.Code) []candor.Code {
	slices.SortStableFunc(codes, func(a, b candor.Code) int { return foreign(a) - foreign(b) })
	return codes
}

func foreign(c candor.Code) int {
	if c.Domain() == "candor" {
		return 0
	}
	return 1
}

func rangeHint(number int) string {
	for _, d := range candor.Domains() {
		if number >= d.From && number <= d.To {
			return fmt.Sprintf("%d to %d belong to %s; candor codes --domain %s lists what is registered there", d.From, d.To, d.Name, d.Name)
		}
	}
	return "candor codes lists the numbers"
}

// nearCodes compares with full names if one was typed, else with symbols.
func nearCodes(asked string) []string {
	name := candor.Code.Symbol
	if strings.Contains(asked, "/") {
		name = candor.Code.String
	}
	var names []string
	for c := range candor.Codes() {
		names = append(names, name(c))
	}
	return near.Typed(asked, names)
}

// writeText explains one code to a person.
func (c *explainCommand) writeText(env *term.Env, code candor.Code) {
	p := env.Colors()
	row := rowOf(code)
	fmt.Fprintf(env.Out, "%s  %s\n%s\n\n", p.Bold(row.Symbol), p.Faint(row.Domain+" "+strconv.Itoa(row.Number)), row.Message)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(env.Out, "  %s %s\n", p.Name(term.Pad(name, 8)), text)
		}
	}
	line("do", row.Action)
	line("class", string(row.Class)+": "+classWords(row.Class))
	line("retry", row.Retry.String()+": "+retrySentence(row.Retry))
	line("number", numberWords(&row))
	line("status", row.State+", since "+row.Since)
	line("use", row.Successor)
	line("aliases", strings.Join(row.Aliases, ", "))
	line("more", pageOf(code))
	if c.wire {
		writeWires(env.Out, p, code)
	}
}

func numberWords(row *codeRow) string {
	if row.RPC == 0 {
		return strconv.Itoa(row.Number)
	}
	return fmt.Sprintf("%d, and %d in a JSON-RPC error", row.Number, row.RPC)
}

// classWords says what a class asks for.
func classWords(class candor.Class) string {
	for _, c := range catalogue.Classes() {
		if c.Name == string(class) {
			return c.Do
		}
	}
	return ""
}

func retrySentence(r candor.Retry) string {
	switch r.Kind() {
	case candor.RetryImmediate:
		return "the same call may be sent again at once"
	case candor.RetryAfterMs:
		return fmt.Sprintf("the same call may be sent again after %d ms, unless the error names another delay", r.AfterMs())
	case candor.RetryNever:
	}
	return "the same call is not to be repeated unchanged"
}

// pageOf is where the written documentation of a code stands in the repository.
func pageOf(c candor.Code) string { return "docs/codes/" + c.String() + ".md" }

// explained is a line of `candor explain --json`.
type explained struct {
	codeRow
	ClassMeaning string `json:"classMeaning"`
	RetryMeaning string `json:"retryMeaning"`
	Page         string `json:"page"`
	Wire         wires  `json:"wire,omitempty"`
}

func (c *explainCommand) writeJSON(env *term.Env, code candor.Code) error {
	row := rowOf(code)
	out := explained{codeRow: row, ClassMeaning: classWords(row.Class), RetryMeaning: retrySentence(row.Retry), Page: pageOf(code)}
	if c.wire {
		out.Wire = wiresOf(code)
	}
	return term.WriteJSONLine(env.Out, out)
}

// EscapeNegativeNumbers lets `explain -32602` through: a number below zero is no flag. The sign is replaced by the minus that a
// typesetter would use, which explain reads like the other.
func EscapeNegativeNumbers(args []string) []string {
	out := append([]string(nil), args...)
	asked := false
	for i, arg := range out {
		if arg == "--" {
			break
		}
		if asked && isNegative(arg) {
			out[i] = minusSign + arg[1:]
		}
		asked = asked || arg == "explain"
	}
	return out
}

const minusSign = "\u2212"

func isNegative(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == ""
}
