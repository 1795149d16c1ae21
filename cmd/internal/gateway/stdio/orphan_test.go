//go:build linux

package stdio

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

// A gateway is killed. One second later, no process that its server has started may exist, even if it ignores signals and has
// left the process group.
func TestNothingOutlivesAKilledGateway(t *testing.T) {
	for _, fault := range []string{"ignoreterm", "fork", "forkaway"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			gateway, pids := startGateway(t, fault)
			if err := gateway.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = gateway.Wait()
			gatewaytest.AllEnd(t, pids)
		})
	}
}

func TestNothingOutlivesASessionThatEnds(t *testing.T) {
	for _, fault := range []string{"fork", "forkaway"} {
		for _, guarded := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/guarded=%v", fault, guarded), func(t *testing.T) {
				t.Parallel()
				child := badChild()
				if !guarded {
					child.Guard = nil
				}
				s := wrapped(t, gateway.Options{}, child)
				s.greet()
				s.call(1, fault, `{}`)
				pids := gatewaytest.PidsIn(t, s.answer("1"))
				s.hangUp()
				if fault == "forkaway" && !guarded {
					_ = syscall.Kill(pids[1], syscall.SIGKILL) // the guard must end it
				}
				gatewaytest.AllEnd(t, pids)
			})
		}
	}
}

// TestMemoryStaysBoundedWhateverTheServerSends checks the memory bound of the whole process (R9), with lines of 32 MiB and a
// million notifications.
func TestMemoryStaysBoundedWhateverTheServerSends(t *testing.T) {
	t.Parallel()
	const most = 128 << 10 // KiB
	cmd, stdin, stdout := gatewayProcess(t)
	flood := 1_000_000 // what R9 requires
	if testbinary.Raced {
		flood /= 10 // each notification takes ten times as long
	}
	for id, call := range []string{gatewaytest.ToolCall(0, "huge", `{}`), gatewaytest.ToolCall(1, "hugenoise", `{}`), gatewaytest.ToolCall(2, "flood", fmt.Sprintf(`{"n":%d}`, flood))} {
		if _, err := fmt.Fprintln(stdin, call); err != nil {
			t.Fatal(err)
		}
		for seen := 0; ; seen++ {
			line, err := stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
				if id == 2 && seen != flood {
					t.Errorf("%d of %d notifications came", seen, flood)
				}
				break
			}
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(peak)[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("at most %d MiB", kib>>10)
	if kib > most && !testbinary.Raced { // the race detector needs several times as much
		t.Errorf("%d KiB", kib)
	}
}

func startGateway(t *testing.T, fault string) (*exec.Cmd, []int) {
	t.Helper()
	cmd, stdin, stdout := gatewayProcess(t)
	if _, err := fmt.Fprintln(stdin, gatewaytest.ToolCall(1, fault, `{}`)); err != nil {
		t.Fatal(err)
	}
	answer, err := stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, gatewaytest.PidsIn(t, answer)
}

// gatewayProcess starts a gateway in another process.
func gatewayProcess(t *testing.T) (*exec.Cmd, io.Writer, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), gatewayEnv+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, stdin, bufio.NewReaderSize(stdout, 1<<20)
}
