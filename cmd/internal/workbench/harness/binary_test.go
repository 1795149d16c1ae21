package harness_test

import (
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// binary is the shipped program. The tests of this package drive it as clients do.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	testbinary.Parallel(6)
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set("H4|H9|H18|SurvivesKill|SessionsInParallel|TwoHarnesses") // calls run beside each other there; the rest runs without the detector
	}
	os.Exit(testbinary.Run(m, raced, &binary))
}
