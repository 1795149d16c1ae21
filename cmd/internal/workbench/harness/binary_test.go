package harness_test

import (
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// binary is the path of the shipped program. The tests of this package use it only as clients do.
var binary string

var all = flag.Bool("all", false, "run the long forms: a million errors, ten rounds of 64 clients")

func TestMain(m *testing.M) {
	flag.Parse()
	testbinary.Parallel(6)
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("H4|H9|H18|SurvivesKill|SessionsInParallel|TwoHarnesses") // these tests run calls in parallel; the others run without the detector
	}
	os.Exit(testbinary.Run(m, raced, &binary))
}
