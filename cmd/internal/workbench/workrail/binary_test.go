package workrail_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// binary is the path of the shipped program. The tests of this package use it only as clients do.
var binary string

var long = flag.Bool("long", false, "run the long forms: 1,000 fights, 200 kills, 1,000 runs of the scripted agent")

// rounds returns the number of repetitions of a test.
func rounds(usual, many int) int {
	switch {
	case *long:
		return many
	case testing.Short():
		return max(1, usual/4)
	default:
		return usual
	}
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		fmt.Fprintln(os.Stderr, holdLock(dir))
		os.Exit(1)
	}
	flag.Parse()
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("W10|Every.*Has") // only these tests run calls in parallel; the others run without the detector
	}
	testbinary.Parallel(8)
	os.Exit(testbinary.Run(m, raced, &binary))
}
