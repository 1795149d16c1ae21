package bridge

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// TestOneBadStartIsNotRemembered checks that a server that fails or is silent at its first start serves clients without a session
// at the second.
func TestOneBadStartIsNotRemembered(t *testing.T) {
	for first, want := range map[string]string{"exit 3": "UPSTREAM_GONE", "exec sleep 100": "CALL_TIMEOUT"} {
		script := `if [ ! -e "$0" ]; then : >"$0"; ` + first + `; fi
			while read -r line; do
				id=${line#*'"id":'}; id=${id%%,*}
				echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"resultType\":\"complete\",\"content\":[]}}"
			done`
		child := stdio.Child{Command: "sh", Args: []string{"-c", script, filepath.Join(t.TempDir(), "started")}, Env: os.Environ(), Grace: 500 * time.Millisecond}
		s := spanned(t, gateway.Options{Timeout: 2 * time.Second, Validate: gateway.ValidationOff}, child, Options{})
		call := func() string {
			return gatewaytest.CodeOf(s.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{},"_meta":{"`+
				gateway.ProtocolVersionKey+`":"`+statelessVersion+`"}}}`, httpgate.VersionHeader, statelessVersion, "Mcp-Method", "tools/call", "Mcp-Name", "work").body)
		}
		if got := call(); got != want {
			t.Errorf("%s: %q, want %s", first, got, want)
		}
		if got := call(); got != "" {
			t.Errorf("%s: the second start: %q", first, got)
		}
	}
}
