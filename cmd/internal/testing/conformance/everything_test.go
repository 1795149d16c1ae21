package conformance_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

const miniature = `package main

import (
	"net/http"
)

func main() {
	registerPrompts(server)
	log.Fatal(http.ListenAndServe(*httpAddr, handler))
}
`

func TestBoundaryIsPutIntoTheServer(t *testing.T) {
	got, err := conformance.WithBoundary([]byte(miniature))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"github.com/candor-mcp/candor/boundary"`,
		"registerPrompts(server)\n\tguard := boundary.Install(server, boundary.Options{})\n",
		"guard.HTTP(handler)",
	} {
		if strings.Count(string(got), want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
}

func TestServerThatHasChangedIsRefused(t *testing.T) {
	for _, place := range []string{"import (\n", "\tregisterPrompts(server)\n", "http.ListenAndServe(*httpAddr, handler)"} {
		gone := strings.Replace(miniature, place, "", 1)
		twice := strings.Replace(miniature, place, place+place, 1)
		for _, source := range []string{gone, twice} {
			if _, err := conformance.WithBoundary([]byte(source)); err == nil {
				t.Errorf("the boundary was put into a server in which %q is not there once:\n%s", place, source)
			}
		}
	}
}
