package candortest_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
)

// serverVariable makes the test binary run as a misbehaving server.
const serverVariable = "CANDORTEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serverVariable) {
	case "":
		os.Exit(m.Run())
	case "hang":
		hang()
	case "parent":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), serverVariable+"=hang")
		child.ExtraFiles = []*os.File{os.NewFile(3, "held")}
		_ = child.Start()
		fmt.Fprintln(os.Stderr, "started a child, password=hunter2hunter2")
		_ = os.Stdout.Close() // so that the client does not wait for an answer
		hang()
	case "flood":
		for {
			fmt.Println(strings.Repeat("x", 1<<16))
		}
	}
}

// asServer returns a command that runs the test binary as a server of the given kind.
func asServer(t *testing.T, kind string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serverVariable+"="+kind, "GORACE=atexit_sleep_ms=0") // the race detector sleeps before it exits
	return cmd
}

// hang waits until the process is killed.
func hang() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	<-c
}
