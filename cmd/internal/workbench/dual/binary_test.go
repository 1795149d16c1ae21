package dual_test

import (
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// binary is the path of the shipped program. The tests of this package use it only as clients do.
var binary string

var long = flag.Bool("long", false, "run the long forms: 200 kills, 500 fights")

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
	if len(os.Args) == 4 && os.Args[1] == upstreamArg {
		serveAsUpstream(os.Args[2], os.Args[3])
		return
	}
	flag.Parse()
	testbinary.Parallel(6)
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("D13|D11") // only these tests run calls in parallel; the others run without the detector
	}
	os.Exit(testbinary.Run(m, raced, &binary))
}
