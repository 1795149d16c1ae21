package term

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Ask asks the person at the terminal. Anything but a yes is a no.
func Ask(env *Env, question string) bool {
	fmt.Fprint(env.Out, question+" [y/N] ")
	if env.Out.Flush() != nil {
		return false
	}
	answer, _ := bufio.NewReader(env.In).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// Confirm asks for confirmation if there is a terminal to ask at. Otherwise it says how to run the command without being asked.
func Confirm(env *Env, cmd *cobra.Command, json bool, hint, question string) bool {
	if json || !env.Terminal {
		env.Notify(cmd, "not a terminal, cannot ask for confirmation; nothing was changed", hint)
		return false
	}
	if Ask(env, question) {
		return true
	}
	fmt.Fprintln(env.Out, "Nothing was changed.")
	return false
}
