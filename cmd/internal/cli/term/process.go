package term

import (
	"context"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/candor/early"
	"github.com/candor-mcp/candor/cmd/internal/guard"
)

// StopContext returns a context that ends when somebody asks the program to. A client that hangs up is not such a one: the write
// to it fails, and the ledger is closed in order. Also lists further signals that ask for it. Signals that were ignored when the program
// started, as by nohup or in the background of a script, stay ignored, here and in what the program starts.
func StopContext(cmd *cobra.Command, also ...os.Signal) (context.Context, func()) {
	wanted := slices.DeleteFunc(append(also, os.Interrupt, syscall.SIGTERM), signal.Ignored)
	if len(wanted) == 0 {
		wanted = []os.Signal{syscall.SIGTERM} // none would mean all of them
	}
	ctx, stop := signal.NotifyContext(Context(cmd.Context()), wanted...)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return ctx, func() { stop(); signal.Stop(pipes) }
}

// GuardCommand is the command line of a guard, which stands between this program and a command that it has started. On Linux it is this very
// program, also when a newer one has taken its place on the disk.
//
// With it this process adopts what a server leaves behind that kills its guard, see [guard.AdoptOrphans]: it starts processes in no
// other way while servers run.
func GuardCommand() []string {
	_ = guard.AdoptOrphans() // without it a guard still ends all but those who escape a guard that is killed
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil && runtime.GOOS == "linux" {
		return []string{running, early.Word}
	}
	return SelfCommand(early.Word)
}

// SelfCommand is the command line of one of our own hidden commands; nil if this program does not know where it is.
func SelfCommand(word string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, word}
}

func Context(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// AbsolutePath is a name that means the same wherever it is looked at from.
func AbsolutePath(name string) string {
	if full, err := filepath.Abs(name); err == nil { // it fails only without a working folder
		return full
	}
	return name
}

// CheckListen refuses an address that other machines reach without a token: the tools change files.
func CheckListen(listen, token string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return BadInput("such as --listen 127.0.0.1:8080", "--listen %q is no address", listen)
	}
	ip := net.ParseIP(host)
	if token == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return BadInput("name the variable that holds a token with --token-env, or listen on 127.0.0.1",
			"other machines reach %q, and nothing asks who they are", listen)
	}
	return nil
}
