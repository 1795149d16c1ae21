package term

import (
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// withheld has the variables with secrets, by name. They are not in the environment of this process any more, so that no process that
// it starts gets them, however it is started.
var withheld sync.Map

// Withhold removes a variable with a secret from the environment of this process. [Env.Getenv] of [ProcessEnv] still
// returns it. Other processes can no longer read the environment from outside either, also if name is "": one of the
// servers of a gateway may need a variable that another must not have.
func Withhold(name string) {
	hideEnviron()
	if value, ok := os.LookupEnv(name); ok {
		withheld.Store(name, value)
		_ = os.Unsetenv(name) // the name was found
	}
}

// WithholdFlags withholds the variables that the flags of a command name.
func WithholdFlags(cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if NamesSecret(f) {
			Withhold(f.Value.String())
		}
	})
}

// NamesSecret reports whether the value of a flag is the name of a variable with a secret. The names of these flags end alike.
func NamesSecret(f *pflag.Flag) bool { return strings.HasSuffix(f.Name, "-env") }

// Release puts the withheld variables back, for a program that takes the place of this one.
func Release() {
	withheld.Range(func(name, value any) bool {
		_ = os.Setenv(name.(string), value.(string)) //nolint:forcetypeassert,errcheck // Withhold stores strings
		return true
	})
}

func getenv(name string) string {
	if value, ok := os.LookupEnv(name); ok {
		return value
	}
	value, _ := withheld.Load(name)
	text, _ := value.(string)
	return text
}

// Secret returns the value of the variable that a flag names, or "" if the flag is not set. A variable without a value is an error.
func (env *Env) Secret(flag, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if value := env.Getenv(name); value != "" {
		return value, nil
	}
	return "", BadInput("export "+name+" before the start", "%s %s: not set", flag, name)
}
