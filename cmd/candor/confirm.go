package main

import (
	"bufio"
	"fmt"
	"strings"
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
