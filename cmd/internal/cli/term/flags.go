package term

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/candor-mcp/candor/internal/plug"
)

// FormatFlag is an output format, chosen by --format or by --json, which means the same as --format json.
type FormatFlag struct {
	format string
	json   bool
	known  []string
}

func (c *FormatFlag) Register(cmd *cobra.Command, known ...string) {
	c.known = known
	cmd.Flags().StringVar(&c.format, "format", known[0], "how to print: "+JoinWords(known))
	cmd.Flags().BoolVar(&c.json, "json", false, "the same as --format json")
	CompleteFlag(cmd, "format", known)
}

// Value returns the chosen format, or what is wrong with the choice.
func (c *FormatFlag) Value(cmd *cobra.Command) (string, error) {
	if !slices.Contains(c.known, c.format) {
		return "", Unknown("--format", c.format, c.known)
	}
	if c.json && cmd.Flags().Changed("format") && c.format != "json" {
		return "", BadInput("leave one of them out", "--json and --format %s contradict each other", c.format)
	}
	if c.json {
		return "json", nil
	}
	return c.format, nil
}

// ParseAge reads a duration that is not negative. Days may be given too: 7d.
func ParseAge(text string) (time.Duration, error) {
	long := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && fmt.Sprint(n) == days && n < 100000 {
			long = fmt.Sprintf("%dh", 24*n)
		}
	}
	d, err := time.ParseDuration(long)
	if err != nil || d < 0 {
		return 0, errors.New("not a duration such as 15m, 24h or 7d")
	}
	return d, nil
}

// AgeFlag is a duration that may be given in days.
type AgeFlag time.Duration

var _ pflag.Value = (*AgeFlag)(nil)

func (a *AgeFlag) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *AgeFlag) Set(text string) error {
	d, err := ParseAge(text)
	if err == nil {
		*a = AgeFlag(d)
	}
	return err
}

func (a *AgeFlag) Type() string { return "duration" }

// BytesFlag is a size in bytes.
type BytesFlag int64

var _ pflag.Value = (*BytesFlag)(nil)

func (b *BytesFlag) String() string { return "" }

func (b *BytesFlag) Set(text string) error {
	n, err := plug.ParseBytes(text)
	if err == nil {
		*b = BytesFlag(n)
	}
	return err
}

func (b *BytesFlag) Type() string { return "size" }
