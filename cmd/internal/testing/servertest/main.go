package servertest

import (
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

var long = flag.Bool("long", false, "run the long forms of tests that repeat")

// Rounds returns the number of repetitions of a test: usual, fewer in short mode, or many with the flag -long.
func Rounds(usual, many int) int {
	switch {
	case *long:
		return many
	case testing.Short():
		return max(1, usual/4)
	default:
		return usual
	}
}

// Main builds the command, stores its path, runs the tests of a package, n at a time, and exits. A command that is built
// with the race detector starts slowly, so in short mode only the tests that the pattern concurrent matches run with it.
func Main(m *testing.M, path *string, n int, concurrent string) {
	flag.Parse()
	if only := flag.Lookup("test.run"); testbinary.Raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set(concurrent)
	}
	testbinary.Parallel(n)
	os.Exit(testbinary.Run(m, testbinary.Raced, path))
}
