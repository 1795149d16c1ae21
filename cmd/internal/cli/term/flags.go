package term

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/similar"
)

// FormatFlag is the flag --format, and --json, which means --format json.
type FormatFlag struct {
	format string
	json   bool
}

// Register adds the flags. The first format is the default.
func (c *FormatFlag) Register(cmd *cobra.Command, known ...string) {
	Choice(cmd, &c.format, "format", known[0], "output format: "+JoinWords(known), known)
	cmd.Flags().BoolVar(&c.json, "json", false, "same as --format json")
}

// Value returns the chosen format.
func (c *FormatFlag) Value(cmd *cobra.Command) (string, error) {
	if c.json && cmd.Flags().Changed("format") && c.format != "json" {
		return "", BadInput("leave one of them out", "--json and --format %s: cannot be combined", c.format)
	}
	if c.json {
		return "json", nil
	}
	return c.format, nil
}

// choice is the value of a flag that takes one of several words, in any case.
type choice[T ~string] struct {
	flag     string
	value    *T
	known    []T
	optional bool // it may be empty
}

// Choice adds a flag that takes one of several words, in any case, and makes the shell complete it. The flag may be empty if standard is.
func Choice[T ~string](cmd *cobra.Command, value *T, flag string, standard T, usage string, known []T) {
	*value = standard
	cmd.Flags().Var(&choice[T]{flag, value, known, standard == ""}, flag, usage)
	CompleteFlag(cmd, flag, Strings(known))
}

func (c *choice[T]) String() string { return string(*c.value) }

// Type returns the name of the value in the help.
func (c *choice[T]) Type() string { return "string" }

// Set implements [pflag.Value].
func (c *choice[T]) Set(text string) error {
	i := slices.IndexFunc(c.known, func(word T) bool { return strings.EqualFold(string(word), text) })
	switch {
	case i >= 0:
		*c.value = c.known[i]
	case text == "" && c.optional:
		*c.value = ""
	default:
		return Unknown("--"+c.flag, text, Strings(c.known))
	}
	return nil
}

// ParseAge parses a duration that is not negative. It also accepts days: 7d.
func ParseAge(text string) (time.Duration, error) { return ledgerconfig.ParseAge(text) }

// AgeFlag is a flag for a duration, see [ParseAge].
type AgeFlag time.Duration

var _ pflag.Value = (*AgeFlag)(nil)

func (a *AgeFlag) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Set parses the value of the flag.
func (a *AgeFlag) Set(text string) error {
	d, err := ParseAge(text)
	if err == nil {
		*a = AgeFlag(d)
	}
	return err
}

// Type returns the name of the value in the help.
func (a *AgeFlag) Type() string { return "duration" }

// BytesFlag is a flag for a size in bytes.
type BytesFlag int64

var _ pflag.Value = (*BytesFlag)(nil)

func (b *BytesFlag) String() string { return "" }

// Set parses the value of the flag.
func (b *BytesFlag) Set(text string) error {
	n, err := ledgerconfig.ParseBytes(text)
	if err == nil {
		*b = BytesFlag(n)
	}
	return err
}

// Type returns the name of the value in the help.
func (b *BytesFlag) Type() string { return "size" }

// MaxArgs accepts at most n arguments.
func MaxArgs(n int, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return BadInput(example, "too many arguments: %q", args[n])
		}
		return nil
	}
}

// OneArg accepts exactly one argument.
func OneArg(what, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return BadInput(example, "give exactly one %s, not %d", what, len(args))
		}
		return nil
	}
}

// NoSuchCommand accepts no arguments, for a command that has subcommands.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if names := similar.Typed(args[0], CommandNames(cmd)); len(names) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + names[0] + "? " + hint
	}
	return BadInput(hint, "unknown command %q", args[0])
}

// CommandNames returns the names of the subcommands that help lists.
func CommandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// CompleteFlag makes the shell complete the value of a flag from a fixed list.
func CompleteFlag(cmd *cobra.Command, flag string, list []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
}
