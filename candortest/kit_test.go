package candortest_test

import (
	"testing"

	"github.com/candor-mcp/candor/candortest"
)

func TestPerfectServerPassesEveryCheckOverLines(t *testing.T) {
	candortest.TestServer(t, inProcess{}, everything())
}

func TestPerfectServerPassesEveryCheckOverHTTP(t *testing.T) {
	candortest.TestServer(t, overHTTP(mutant{}), everything())
}
