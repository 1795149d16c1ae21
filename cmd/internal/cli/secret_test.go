package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestNoChildGetsTheVariableOfASecret starts a process for each flag that names a variable with a secret, after what every command
// does before it runs.
func TestNoChildGetsTheVariableOfASecret(t *testing.T) {
	const name, secret = "CANDOR_TEST_SECRET", "hunter2hunter2"
	if os.Getenv("CANDOR_TEST_CHILD") != "" {
		if value, has := os.LookupEnv(name); has {
			t.Fatalf("the child has %s", value)
		}
		return
	}
	t.Setenv("CANDOR_TEST_CHILD", "1")
	t.Cleanup(func() { _ = os.Unsetenv(name) })
	seen := 0
	visitFlags(newRoot(term.ProcessEnv()), func(cmd *cobra.Command, f *pflag.Flag) {
		if !term.NamesSecret(f) {
			if strings.Contains(f.Usage, "variable with ") {
				t.Errorf("%s --%s: a flag that names a variable with a secret ends in -env", cmd.CommandPath(), f.Name)
			}
			return
		}
		seen++
		t.Setenv(name, secret)
		env := term.ProcessEnv()
		here, _, err := newRoot(env).Find(strings.Fields(cmd.CommandPath())[1:])
		if err != nil {
			t.Fatal(err)
		}
		if err := here.ParseFlags([]string{"--" + f.Name, name}); err != nil {
			t.Fatal(err)
		}
		if err := before(here)(here, nil); err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%s --%s: %v\n%s", cmd.CommandPath(), f.Name, err, out)
		}
		if got, err := env.Secret("--"+f.Name, name); got != secret || err != nil {
			t.Errorf("%s --%s: the command itself reads %q, %v", cmd.CommandPath(), f.Name, got, err)
		}
		term.Release()
		if os.Getenv(name) != secret {
			t.Error("a program that takes the place of this one does not get the variable")
		}
	})
	if seen < 9 {
		t.Errorf("%d flags name a variable with a secret", seen)
	}
}

// before returns what cobra runs before a command.
func before(cmd *cobra.Command) func(*cobra.Command, []string) error {
	for ; cmd.PersistentPreRunE == nil; cmd = cmd.Parent() {
	}
	return cmd.PersistentPreRunE
}

func visitFlags(cmd *cobra.Command, visit func(*cobra.Command, *pflag.Flag)) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { visit(cmd, f) })
	for _, sub := range cmd.Commands() {
		visitFlags(sub, visit)
	}
}
