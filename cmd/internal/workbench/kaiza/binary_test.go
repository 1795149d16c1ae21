package kaiza_test

import (
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// binary is the shipped program. These tests use it as a black box, like clients.
var binary string

// sideBySide matches the tests with concurrent calls, for which the race detector is useful. A server that is built with
// the detector starts slowly, so in short mode only these tests run with it.
const sideBySide = "Story|Races|ManyClients|K10OneOf|K11Second|K18|ARaceFor|ManySessions|K6"

func TestMain(m *testing.M) {
	asLauncher()
	flag.Parse()
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set(sideBySide)
	}
	testbinary.Parallel(8)
	os.Exit(testbinary.Run(m, raced, &binary))
}
