package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// confirm asks the person at the terminal. Anything but a yes is a no.
func confirm(w *world, question string) bool {
	fmt.Fprint(w.out, question+" [y/N] ")
	if w.out.Flush() != nil {
		return false
	}
	answer, _ := bufio.NewReader(w.in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// agreed asks for confirmation if there is a terminal to ask at. Otherwise it says how to run the command without being asked.
func agreed(w *world, cmd *cobra.Command, json bool, hint, question string) bool {
	if json || !w.terminal {
		w.notify(cmd, "not a terminal, cannot ask for confirmation; nothing was changed", hint)
		return false
	}
	if confirm(w, question) {
		return true
	}
	fmt.Fprintln(w.out, "Nothing was changed.")
	return false
}
