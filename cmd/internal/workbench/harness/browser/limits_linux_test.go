package browser

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// TestLeastMemoryIsEnoughForAPage checks that the minimum memory is enough for a small page, and that a session is not
// listed when its browser has exited.
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
	p := k.drivers[0].pool
	if n := len(p.list()); n != 1 {
		t.Errorf("%d sessions before the browser exits", n)
	}
	browser := k.chromium(t, session)
	killChromium(browser.profile)
	<-browser.client.done
	if n := len(p.list()); n != 0 {
		t.Errorf("%d sessions after the browser has exited", n)
	}
}

// killChromium kills the browser with a profile, but not its guard.
func killChromium(profile string) {
	for _, pid := range using(profile) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), "remote-debugging-pipe") && !strings.Contains(string(line), "guard") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
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
