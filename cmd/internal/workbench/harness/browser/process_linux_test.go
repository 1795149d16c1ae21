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
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/scratch"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// launchAndWait launches a session, prints its profile and waits to be killed.
func launchAndWait() {
	chromium, err := find("")
	if err == nil {
		var s *session
		if s, err = open(context.Background(), "x", Config{}.withDefaults(), chromium); err == nil {
			fmt.Println(s.profile.Path)
			_, _ = io.Copy(io.Discard, os.Stdin)
			return
		}
	}
	fmt.Println("error", err)
}

// using returns the processes with a text in their command line.
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

// killChromium kills the browser with a profile.
func killChromium(profile string) {
	for _, pid := range using(profile) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), "remote-debugging-pipe") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// gone waits until no command line contains a text.
func gone(t *testing.T, text string) {
	t.Helper()
	wait.Until(t, "the end of the processes", func() bool { return len(using(text)) == 0 })
}

func TestKilledProgramLeavesNoBrowser(t *testing.T) {
	t.Parallel()
	needChromium(t)
	cmd := exec.Command(os.Args[0], "launch")
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
	wait.Until(t, "the removal of the profile", func() bool { // the guard holds the lock until it exits
		scratch.Sweep(profileRoot(), profilePrefix)
		_, err := os.Stat(profile)
		return os.IsNotExist(err)
	})
}

func TestIdleSessionsExpire(t *testing.T) {
	t.Parallel()
	k := newKit(t, Config{MaxSessions: 1, Idle: time.Second})
	defer k.close()
	session := k.launch(t, "pt")
	gone(t, k.profile(t, session))
	_, details := k.fails(t, common.SessionNotFound, "pt/content", args{"session": session})
	if details != `"the session is over: it was idle for too long"` {
		t.Error(details)
	}
}
