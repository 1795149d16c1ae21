package drive

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestANameThatCouldNotBeLookedUpMayWellExist has a resolver that does not answer, which no test could have over the network.
func TestANameThatCouldNotBeLookedUpMayWellExist(t *testing.T) {
	t.Parallel()
	for err, want := range map[*net.DNSError]string{
		{Err: "no such host", IsNotFound: true}:        "no host of that name",
		{Err: "i/o timeout", IsTimeout: true}:          "could not be looked up",
		{Err: "server misbehaving", IsTemporary: true}: "could not be looked up",
	} {
		if got := brief(fmt.Errorf("dial: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%s reads %q, want %q", err.Err, got, want)
		}
	}
}
