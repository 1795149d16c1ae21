package dual_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

// TestBothPatternsOverHTTP decodes a failure of each pattern over HTTP with client.Decode.
func TestBothPatternsOverHTTP(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "workbench", "dual", "--state", filepath.Join(t.TempDir(), "state"), "--listen", "127.0.0.1:0")
	cmd.Env = servertest.Env()
	endpoint := servertest.Listen(t, cmd)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: endpoint, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatalf("%q: %v", endpoint, err)
	}
	defer session.Close() //nolint:errcheck // the server is killed after it
	for _, row := range []struct {
		tool   string
		in     args
		code   candor.Code
		marked bool
	}{
		{"task_get", args{"id": missing}, dualcode.NotFound, false},
		{"vrf_eval", args{"priv_key_hex": ""}, dualcode.InvalidKey, true},
	} {
		result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: row.tool, Arguments: row.in})
		if got := client.Decode(result, err); got == nil || got.Code() != row.code || result.IsError != row.marked {
			t.Errorf("%s: %v, %+v", row.tool, got, result)
		}
	}
}

// TestServerWorksWithoutLedger checks that sessions are finalised and chains verified without attestations.
func TestServerWorksWithoutLedger(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--ledger", "none")
	s := p.start()
	s.call("audit_session_start", args{"session_id": "s"}).fine()
	_, records := s.interleaved(2)
	if a := s.call("merkle_finalize", args{"session_id": "s"}).fine(); a.number("record_count") != 4 || a.value("ledger").Present() {
		t.Errorf("%s", a.value().Raw())
	}
	if a := s.valid(true, args{}); a.number("attested_count") != 0 {
		t.Errorf("%s", a.value().Raw())
	}
	p.sql("UPDATE thoughts SET content = 'forged' WHERE id = ?", records[0])
	s.valid(false, args{})
	s.End()
	// A server with a ledger attests the existing records.
	q := &place{t: t, state: p.state}
	q.sql("UPDATE thoughts SET content = 'thought 0' WHERE id = ?", records[0])
	if a := q.start().valid(true, args{}); a.number("attested_count") != 4 {
		t.Errorf("%s", a.value().Raw())
	}
}
