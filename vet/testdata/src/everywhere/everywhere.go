// Package everywhere is analysed with -all.
package everywhere

import (
	"errors"
	"log"
	"os"
)

func drop() { _ = os.Chdir("a") } // want `swallowed`

func logs() error {
	if err := os.Chdir("a"); err != nil { // want `logandcontinue`
		log.Print(err)
	}
	if err := os.Chdir("b"); err != nil {
		return nil // want `swallowed`
	}
	return errors.New("plain errors are fine outside of handlers")
}

var literal = func() error {
	_ = os.Chdir("a") // want `swallowed`
	return nil
}

// main can only log the error.
func main() {
	if err := logs(); err != nil {
		log.Print(err)
	}
}
