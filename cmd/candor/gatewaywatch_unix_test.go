//go:build unix

package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/gatewaycmd"
)

const (
	reloaded = "was reloaded: 1 upstream"
	refusal  = "reload failed; still running the previous configuration"
)

func TestGatewayKeepsTheConfigurationWhileTheFileIsBroken(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, configText(web.URL, ""))
	broken := configText(web.URL, "    mode: strct\n    tiemout: 3s\n")
	g.write(t, broken[:len(broken)-4]) // half-written
	g.said.await(refusal, 1)
	if text, err := g.call(t.Context(), 1, "echo"); err != nil || !strings.Contains(text, "fine") {
		t.Errorf("answered %s, %v", text, err)
	}
	if text := printed(t, "gateway", "status", "--admin", strings.TrimPrefix(g.admin, "http://")); !strings.Contains(text, "is in use, because the file has a mistake: ") {
		t.Errorf("the status is %s", text)
	}
	said := g.said.String()
	if n := strings.Count(said, refusal); n != 1 {
		t.Errorf("%d warnings: %s", n, said)
	}
	if !regexp.MustCompile(`level=ERROR .*reason="\S+candor\.yaml:\d+:\d+: .*hint=.* moreProblems=1`).MatchString(said) {
		t.Errorf("the warning is %s", said)
	}
	g.write(t, configText(web.URL, "    mode: strict\n"))
	g.said.await(reloaded, 1)
	var status gatewaycmd.GatewayStatus
	if err := json.Unmarshal([]byte(g.look(t, "/status")), &status); err != nil || status.Config.Problem != nil || status.Upstreams[0].Mode != "strict" || !status.Config.Watched {
		t.Errorf("%+v, %v", status, err)
	}
}
