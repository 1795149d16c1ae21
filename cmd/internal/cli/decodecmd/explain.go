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
	"github.com/candor-mcp/candor/internal/similar"
)

// explainCommand has the flags of `candor explain`.
type explainCommand struct {
	json, wire bool
}

// NewExplain returns `candor explain`.
func NewExplain(env *term.Env) *cobra.Command {
	c := &explainCommand{}
	cmd := &cobra.Command{
		Use:   "explain CODE",
		Short: "Explain a code and what to do about it",
		Long: `Explain a code: its meaning, what to do about it, and whether the same call may be retried.

CODE is a symbol (RATE_LIMITED), a full name (github/E_GH_RATE_LIMIT), a number of the catalogue (3103)
or a JSON-RPC number (-32602). Case is ignored. A symbol that several domains share is explained for each
of them, the domain candor first, then by number.`,
		Example: `  candor explain FILE_NOT_FOUND
  candor explain workrail/timeout --wire
  candor explain -32602
  candor explain 2100 --json`,
		Args:              term.OneArg("code", "candor explain RATE_LIMITED; candor codes lists them all"),
		ValidArgsFunction: cobra.FixedCompletions(codeNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(_ *cobra.Command, args []string) error { return c.run(env, args[0]) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object per line and code")
	cmd.Flags().BoolVar(&c.wire, "wire", false, "show the error on the wire in every dialect")
	return cmd
}

func (c *explainCommand) run(env *term.Env, asked string) error {
	asked = strings.ReplaceAll(strings.TrimSpace(asked), "\u2212", "-") // a minus sign, as in texts
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
		fmt.Fprintf(env.Out, "\n%d domains share this symbol; candor explain %s shows one of them.\n", len(codes), codes[0])
	}
	return nil
}

// sharedBy returns the codes with this symbol and then those with this alias, each in the order of their numbers but that of the domain
// candor first.
func sharedBy(symbol string) []candor.Code {
	var own, bySymbol, byAlias []candor.Code
	for code := range candor.Codes() {
		isAlias := slices.Contains(code.Info().Aliases, symbol)
		switch {
		case code.Symbol() != symbol && !isAlias:
		case code.Domain() == "candor":
			own = append(own, code)
		case isAlias:
			byAlias = append(byAlias, code)
		default:
			bySymbol = append(bySymbol, code)
		}
	}
	return slices.Concat(own, bySymbol, byAlias)
}

// findCodes returns the code of that name or number, or all codes that share the symbol.
func findCodes(asked string) ([]candor.Code, error) {
	if shared := sharedBy(strings.ToUpper(asked)); len(shared) > 0 {
		return shared, nil
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

func rangeHint(number int) string {
	for _, d := range candor.Domains() {
		if number >= d.From && number <= d.To {
			return fmt.Sprintf("%d to %d belong to %s; candor codes --domain %s lists its codes", d.From, d.To, d.Name, d.Name)
		}
	}
	return "candor codes lists the numbers"
}

// nearCodes returns similar full names if asked contains a slash, else similar symbols.
func nearCodes(asked string) []string {
	name := candor.Code.Symbol
	if strings.Contains(asked, "/") {
		name = candor.Code.String
	}
	var names []string
	for c := range candor.Codes() {
		names = append(names, name(c))
	}
	return similar.Typed(asked, names)
}

// writeText prints the explanation of a code.
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
	line("class", string(row.Class)+": "+catalogue.ClassMeaning(string(row.Class)))
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

// pageOf returns the path of a code's page in the repository.
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
	out := explained{codeRow: row, ClassMeaning: catalogue.ClassMeaning(string(row.Class)), RetryMeaning: retrySentence(row.Retry), Page: pageOf(code)}
	if c.wire {
		out.Wire = wiresOf(code)
	}
	return term.WriteJSONLine(env.Out, out)
}

// NegativeNumberLast makes `explain -32602` work: it moves the number, which would begin a flag, behind a --.
func NegativeNumberLast(args []string) []string {
	at := slices.IndexFunc(args, func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == ""
	})
	if at < 0 || !slices.Contains(args[:at], "explain") || slices.Contains(args, "--") {
		return args
	}
	return slices.Concat(args[:at], args[at+1:], []string{"--", args[at]})
}
