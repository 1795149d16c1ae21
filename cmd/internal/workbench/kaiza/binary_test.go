package kaiza_test

import (
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// binary is the shipped program. These tests drive it as clients do and see nothing of its inside.
var binary string

// sideBySide are the tests in which calls run beside each other: what the race detector is for. All others have one client, and a server
// that is built with the detector starts slowly; in a hurry they run without it only.
const sideBySide = "Story|Races|ManyClients|K10OfMany|K11ASecond|K18|ARaceFor|ManySessions|K6"

func TestMain(m *testing.M) {
	asLauncher()
	flag.Parse()
	if only := flag.Lookup("test.run"); raced && testing.Short() && only.Value.String() == "" {
		_ = only.Value.Set(sideBySide)
	}
	testbinary.Parallel(8)
	os.Exit(testbinary.Run(m, raced, &binary))
}
