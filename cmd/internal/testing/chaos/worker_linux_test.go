package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/engines"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/testing/load"
)

// roleVariable names what this executable is when a test starts it: a worker, or candor-cluster.
const (
	roleVariable = "CANDOR_CHAOS_ROLE"
	roleProgram  = "candor-cluster"
)

func TestMain(m *testing.M) {
	if load.Wanted() {
		os.Exit(load.Main())
	}
	switch role := os.Getenv(roleVariable); role {
	case "":
		_ = flag.Set("test.parallel", "4") // the tests mostly wait for elections; -parallel takes precedence
		os.Exit(m.Run())
	case roleProgram:
		env := term.ProcessEnv()
		engines.Register(env)
		os.Exit(cli.Run(env, os.Args[1:]))
	default:
		if err := work([]byte(role)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// task is what a worker process does. It works until its standard input ends, and then finishes.
type task struct {
	URL    string      `json:"url"`
	Chain  fleet.Chain `json:"chain"`
	Out    string      `json:"out"`    // file that gets the history or the acknowledgements
	Source string      `json:"source"` // file with the lines to append; empty for a competitor
	Client int         `json:"client"`
	Seed   uint64      `json:"seed"`
}

const (
	appendPause  = 40 * time.Millisecond // between the batches of a worker with its own chain
	competePause = 60 * time.Millisecond
	maxBatch     = 16
	held         = maxBatch // lines that a worker keeps for the end, so that it does not finish before the faults
)

func work(text []byte) error {
	var todo task
	if err := json.Unmarshal(text, &todo); err != nil {
		return err
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	out, err := os.OpenFile(todo.Out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx := context.Background()
	store, err := openStore(ctx, todo.URL)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(todo.Seed, uint64(todo.Client)))
	if todo.Source == "" {
		c := &competitor{store: store, chain: todo.Chain, client: todo.Client, life: todo.Seed, rng: rng, record: &recorder{to: out}, clock: monotonic}
		return errors.Join(c.run(ctx, stop, competePause, 5000), out.Close())
	}
	lines, err := (source{file: todo.Source}).lines()
	if err != nil {
		return err
	}
	w := &writer{store: store, chain: todo.Chain, lines: lines, out: out, rng: rng}
	return errors.Join(w.run(ctx, stop), out.Close())
}

// monotonic returns a time that all processes of the machine share.
func monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0
	}
	return now.Nano()
}

// retryPause lies between two attempts of a worker, as between those of a node.
func retryPause() { time.Sleep(appendPause) }

// openStore opens the store at a URL, and tries again while it is away.
func openStore(ctx context.Context, url string) (fleet.Store, error) {
	at, err := fleet.ParseLocation(url)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(2 * time.Minute); ; retryPause() {
		store, err := openAt(ctx, at)
		if err == nil || time.Now().After(deadline) {
			return store, err
		}
	}
}

// openAt opens a store with the engines of candor-cluster.
func openAt(ctx context.Context, at fleet.Location) (fleet.Store, error) {
	env := term.ProcessEnv()
	engines.Register(env)
	return env.Engines.Open(ctx, at, fleet.OpenOptions{Getenv: os.Getenv, Log: slog.New(slog.DiscardHandler)})
}

// writer appends the lines of a ledger to its own chain of the store, like the shipper: it reads the head, appends what follows, and after
// an error reads the head again.
type writer struct {
	store fleet.Store
	chain fleet.Chain
	lines [][]byte
	out   io.Writer // gets the number of acknowledged lines, and of those that a head has shown
	rng   *rand.Rand
}

func (w *writer) run(ctx context.Context, stop <-chan struct{}) error {
	done, err := w.head(ctx)
	if err != nil {
		return err
	}
	last := false
	for done < len(w.lines) {
		end := min(done+1+w.rng.IntN(maxBatch), len(w.lines))
		if !last {
			end = min(end, len(w.lines)-held)
		}
		if end > done && w.append(ctx, done, end) == nil {
			done = end
		} else if done, err = w.head(ctx); err != nil { // after a conflict or an unknown result, or while only the last lines are left
			return err
		}
		last = last || !pause(stop, appendPause)
	}
	return nil
}

// pause waits, and returns false at once if stop is closed.
func pause(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return false
	case <-time.After(d):
		return true
	}
}

// append appends the lines from done to end, and notes the acknowledgement.
func (w *writer) append(ctx context.Context, done, end int) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := w.store.Append(ctx, w.chain, w.headAt(done), w.lines[done:end]); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.out, "%d\n", end)
	return err
}

// head returns the number of lines that the store has, and tries again until it can be read. A head that is none of the writer's lines is
// an error that ends the worker: the chain was forked.
func (w *writer) head(ctx context.Context) (int, error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, callTimeout)
		head, err := w.store.Head(attempt, w.chain)
		cancel()
		if err != nil {
			retryPause()
			continue
		}
		if head.Seq > uint64(len(w.lines)) || head != w.headAt(int(head.Seq)) {
			return 0, fmt.Errorf("chain %s: entry %d of the store is not the writer's", w.chain, head.Seq)
		}
		_, err = fmt.Fprintf(w.out, "%d\n", head.Seq)
		return int(head.Seq), err
	}
}

// headAt returns the head of the chain after that many lines.
func (w *writer) headAt(count int) fleet.Head {
	if count == 0 {
		return fleet.Head{}
	}
	head := headOf(bytes.TrimSpace(w.lines[count-1]))
	head.Seq = uint64(count)
	return head
}
