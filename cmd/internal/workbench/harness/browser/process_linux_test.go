package browser

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/internal/scratch"
	"github.com/candor-mcp/candor/codes/common"
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

// using returns the processes whose command line contains a text.
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

// gone waits until no command line contains a text.
func gone(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); len(using(text)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("processes are left: %v", using(text))
		}
	}
}

func TestKilledProgramLeavesNoBrowser(t *testing.T) {
	t.Parallel()
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
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the guard holds the lock until it exits
		scratch.Sweep(profileRoot(), profilePrefix)
		if _, err := os.Stat(profile); os.IsNotExist(err) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the profile is left")
		}
	}
}

func TestIdleSessionsExpire(t *testing.T) {
	t.Parallel()
	k := newKit(t, Config{MaxSessions: 1, Idle: time.Second})
	defer k.close()
	session := k.launch(t, "pt")
	gone(t, k.chromium(t, session).profile)
	_, details := k.fails(t, common.SessionNotFound, "pt/content", args{"session": session})
	if details != `"the session is over: it was idle for too long"` {
		t.Error(details)
	}
}
