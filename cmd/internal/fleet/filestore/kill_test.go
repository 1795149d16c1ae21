package filestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

const writerEnv = "CANDOR_TEST_FILESTORE_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		fmt.Fprintln(os.Stderr, write(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// write appends to four chains until it is killed, and prints the number of each entry that was acknowledged.
func write(dir string) error {
	s := filestore.Open(dir)
	ctx := context.Background()
	for i := 0; ; i++ {
		chain := fleet.Chain{Node: "n", Name: fmt.Sprintf("c%d", i%4)}
		head, err := s.Head(ctx, chain)
		if err != nil {
			return err
		}
		lines := storetest.MakeLines(chain, head, 1+i%50, 100*(i%90))
		err = s.Append(ctx, chain, head, lines)
		var conflict *fleet.ConflictError
		if errors.As(err, &conflict) {
			continue // the other process was faster
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Printf("%s %d\n", chain.Name, head.Seq+uint64(len(lines))); err != nil {
			return err
		}
	}
}

// TestKilledWritersLoseNothing kills two processes that write the same chains, again and again.
func TestKilledWritersLoseNothing(t *testing.T) {
	t.Parallel()
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	dir := t.TempDir()
	acknowledged := map[string]uint64{}
	for round := range rounds {
		var writers []*writer
		for range 2 {
			writers = append(writers, startWriter(t, dir))
		}
		for _, w := range writers {
			w.kill(t, 5+7*round, acknowledged)
		}
		s := open(t, dir)
		for name, seq := range acknowledged {
			wantWhole(t, s, fleet.Chain{Node: "n", Name: name}, seq)
		}
	}
	if len(acknowledged) != 4 {
		t.Errorf("entries of %d chains were acknowledged, want 4", len(acknowledged))
	}
}

type writer struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startWriter(t *testing.T, dir string) *writer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &writer{cmd: cmd, out: bufio.NewScanner(out)}
}

// kill kills the writer after it has acknowledged some batches, and notes all that it has acknowledged.
func (w *writer) kill(t *testing.T, batches int, acknowledged map[string]uint64) {
	t.Helper()
	count := 0
	for w.out.Scan() {
		name, number, _ := strings.Cut(w.out.Text(), " ")
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			continue // it was killed while it wrote the line
		}
		acknowledged[name] = max(acknowledged[name], seq)
		if count++; count == batches {
			if err := w.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = w.cmd.Wait() // it was killed
	if count < batches {
		t.Fatal("the writer ended by itself")
	}
}

// wantWhole reads a chain and checks every link.
func wantWhole(t *testing.T, s fleet.Store, chain fleet.Chain, least uint64) {
	t.Helper()
	head, err := s.Head(t.Context(), chain)
	if err != nil || head.Seq < least {
		t.Fatalf("%s ends with entry %d (%v); entry %d was acknowledged", chain, head.Seq, err, least)
	}
	at := fleet.Head{}
	for stored, err := range s.Lines(t.Context(), chain, 0) {
		if err == nil {
			at, err = fleet.CheckLines(chain, at, [][]byte{stored.Line})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if at != head {
		t.Errorf("%s: the lines end with entry %d, Head is %d", chain, at.Seq, head.Seq)
	}
}
