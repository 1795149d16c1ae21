package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/workbench/harness/internal/scratch"
)

// launchAndWait launches a session, prints its profile and waits to be killed.
func launchAndWait() {
	path, _ := os.Executable()
	chromium, err := find("")
	if err == nil {
		var s *session
		if s, err = open(context.Background(), "x", Config{Guard: []string{path, "guard"}}.withDefaults(), chromium); err == nil {
			fmt.Println(s.browser.profile)
			_, _ = io.Copy(io.Discard, os.Stdin)
			return
		}
	}
	fmt.Println("error", err)
}

// using returns the processes whose command line names a text.
func using(text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), text) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// gone waits until no process names a text.
func gone(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); len(using(text)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("processes are left: %v", using(text))
		}
	}
}

func TestKilledProgramLeavesNoBrowser(t *testing.T) {
	needChromium(t)
	cmd := exec.Command(self(t)[0], "launch")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	profile, _ := bufio.NewReader(out).ReadString('\n')
	profile = strings.TrimSpace(profile)
	if !strings.Contains(profile, "candor-browser-") || len(using(profile)) < 2 {
		t.Fatalf("launched: %q with %v", profile, using(profile))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, profile)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the guard keeps the lock until it has ended itself
		scratch.Sweep(profileRoot(), profilePrefix)
		if _, err := os.Stat(profile); os.IsNotExist(err) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the profile is left")
		}
	}
}

// shortTemp gives the test a temporary folder of its own whose path is short.
func shortTemp(t *testing.T) {
	t.Helper()
	folder, err := os.MkdirTemp("", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	t.Setenv("TMPDIR", folder)
}

// profileOf returns the profile of the only Chromium that this test has started.
func profileOf(t *testing.T) string {
	t.Helper()
	var found string
	for _, pid := range using("candor-browser-") {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		for arg := range strings.SplitSeq(string(line), "\x00") {
			if profile, ok := strings.CutPrefix(arg, "--user-data-dir="); ok && belongsToUs(profile) {
				found = profile
			}
		}
	}
	if found == "" {
		t.Fatal("no profile found")
	}
	return found
}

// belongsToUs reports whether the profile is below the temporary folder of this test.
func belongsToUs(profile string) bool { return strings.HasPrefix(profile, os.TempDir()+"/") }

func TestBrowserThatDiesEndsItsSession(t *testing.T) {
	shortTemp(t)
	k := newKit(t, Config{MaxSessions: 1})
	defer k.close()
	session := k.launch(t, "pw")
	profile := profileOf(t)
	begun := make(chan struct{}, 4)
	never := k.site.handle("/never", func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	go func() {
		<-begun
		for _, pid := range using(profile) {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(line), "remote-debugging-pipe") && !strings.Contains(string(line), "guard") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}()
	_, details := k.fails(t, candor.CodePlaywrightPwLaunch, "pw/navigate", args{"session": session, "url": never})
	if details != `"the browser ended during the call; the session is closed"` {
		t.Error(details)
	}
	_, details = k.fails(t, candor.CodeCommonSessionNotFound, "pw/content", args{"session": session})
	if details != `"the session is over: its browser ended unexpectedly"` {
		t.Error(details)
	}
	gone(t, profile)
	if _, err := os.Stat(profile); !os.IsNotExist(err) {
		t.Errorf("the profile is left: %v", err)
	}
}

func TestIdleSessionsExpire(t *testing.T) {
	shortTemp(t)
	k := newKit(t, Config{MaxSessions: 1, Idle: time.Second})
	defer k.close()
	session := k.launch(t, "pt")
	profile := profileOf(t)
	gone(t, profile)
	_, details := k.fails(t, candor.CodeCommonSessionNotFound, "pt/content", args{"session": session})
	if details != `"the session is over: it was idle for too long"` {
		t.Error(details)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	k := newKit(t, Config{MaxMemory: 2 << 30})
	defer k.close()
	session := k.launch(t, "pt")
	eat := k.site.page("/eat", `<script>const all=[];for(;;){const b=new Uint8Array(1<<24);b.fill(1);all.push(b)}</script>`)
	result, err := k.try(t.Context(), "pt/navigate", args{"session": session, "url": eat})
	var e *candor.Error
	if !errors.As(err, &e) || e.Code() != candor.CodeCommonLimitExceeded && e.Code() != candor.CodePuppeteerPtNav {
		t.Errorf("%v %v", result, err)
	}
	t.Log(explain(err))
}
