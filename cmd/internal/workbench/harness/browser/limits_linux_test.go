package browser

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/common"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// TestLeastMemoryIsEnoughForAPage checks that the minimum memory is enough for a small page.
func TestLeastMemoryIsEnoughForAPage(t *testing.T) {
	t.Parallel()
	c, err := configFromEnv(domain.Environment{Getenv: func(name string) string { return map[string]string{EnvMemory: "512"}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := configFromEnv(domain.Environment{Getenv: func(name string) string { return map[string]string{EnvMemory: "511"}[name] }}); err == nil || !strings.Contains(err.Error(), "512") {
		t.Errorf("511: %v", err)
	}
	k := newKit(t, c)
	defer k.close()
	session := k.launch(t, "pw")
	k.call(t, "pw/navigate", args{"session": session, "url": k.site.page("/fine", "<title>fine</title><p>text")})
	for range 3 { // its memory is checked meanwhile
		k.call(t, "pw/screenshot", args{"session": session})
	}
	if text := pageOf(t, k.call(t, "pw/content", args{"session": session}))["text"]; text != "text" {
		t.Errorf("the text is %v", text)
	}
}

// TestMemoryLimitIsNamedAtLaunch checks that the error for a browser that exceeds its memory names the limit, even
// before the browser could be used.
func TestMemoryLimitIsNamedAtLaunch(t *testing.T) {
	t.Parallel()
	k := newKit(t, Config{MaxMemory: 1 << 20})
	defer k.close()
	result, err := k.try(t.Context(), "pw/launch", args{})
	for err == nil { // it may be fast
		_, err = k.try(t.Context(), "pw/content", args{"session": result["session"]})
	}
	var e *candor.Error
	if !errors.As(err, &e) || e.Code() != common.LimitExceeded || !strings.Contains(fmt.Sprint(e.Details()), "more than 1 MiB of memory") {
		t.Errorf("%s", explain(err))
	}
}

// TestDeadSessionIsNotListed checks that a session is not listed when its browser has exited.
func TestDeadSessionIsNotListed(t *testing.T) {
	t.Parallel()
	needChromium(t)
	p := newPool(Config{Guard: self(t)}.withDefaults(), "x-")
	defer p.close()
	s, err := p.launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.list()); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	for _, pid := range using(s.browser.profile) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), "remote-debugging-pipe") && !strings.Contains(string(line), "guard") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-s.browser.client.done
	if n := len(p.list()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}
