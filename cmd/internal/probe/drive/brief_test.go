package drive

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestBriefDistinguishesMissingHostsFromFailedLookups has a resolver that does not answer, which a test over the
// network could not provide.
func TestBriefDistinguishesMissingHostsFromFailedLookups(t *testing.T) {
	t.Parallel()
	for err, want := range map[*net.DNSError]string{
		{Err: "no such host", IsNotFound: true}:        "no such host",
		{Err: "i/o timeout", IsTimeout: true}:          "cannot be resolved",
		{Err: "server misbehaving", IsTemporary: true}: "cannot be resolved",
	} {
		if got := brief(fmt.Errorf("dial: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%s reads %q, want %q", err.Err, got, want)
		}
	}
}
