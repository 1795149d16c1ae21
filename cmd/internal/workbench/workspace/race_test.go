package workspace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rounds is the number of attempts of each worker in a race. The swapper continues until all have finished.
const rounds = 100

// race swaps names continuously while workers read, list, search and change d/secret.txt through the folder.
type race struct {
	*bench
	reads, writes, refused atomic.Int64
}

func (r *race) run(swap func()) {
	stop := make(chan struct{})
	var swapper, workers sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				swap()
				time.Sleep(rand.N(8 * time.Millisecond)) // varies how far the attempts get
			}
		}
	})
	workers.Go(r.reader)
	workers.Go(r.lister)
	workers.Go(r.writer)
	workers.Wait()
	close(stop)
	swapper.Wait()
	r.t.Logf("%d reads and %d changes went through, %d were refused", r.reads.Load(), r.writes.Load(), r.refused.Load())
	r.noTemps()
}

func (r *race) reader() {
	for range 10 * rounds {
		file, err := r.folder.Read(Path{"d/secret.txt"})
		if bytes.Contains(file.Content, []byte(secret)) {
			r.t.Error("read outside")
		}
		if err == nil {
			r.reads.Add(1)
		}
	}
}

func (r *race) lister() {
	for range rounds {
		items, _, _ := r.folder.List(Path{"d"})
		for _, i := range items {
			if strings.Contains(i.Path.name, "only-outside") {
				r.t.Errorf("listed outside: %+v", i)
			}
		}
	}
}

func (r *race) writer() {
	for i := range rounds {
		if err := r.change(i); err != nil {
			r.refused.Add(1)
		} else {
			r.writes.Add(1)
		}
	}
}

// change replaces one file and creates two in one set of changes, and undoes it.
func (r *race) change(i int) error {
	now, err := r.folder.Read(Path{"d/secret.txt"})
	if err != nil {
		return err
	}
	set := []Change{
		{Path: Path{"d/secret.txt"}, Before: &now, After: fmt.Appendf(nil, "mine %d", i)},
		{Path: Path{"d/planted"}, After: []byte("planted")},
		{Path: Path{"d/sub/planted"}, After: []byte("planted"), MakeDirs: true},
	}
	s, err := r.folder.Stage(r.state, fmt.Sprint("id-", i), set, nil)
	if err != nil {
		return err
	}
	defer s.Done() //nolint:errcheck // the test checks remains at its end
	if err := s.Commit(context.Background()); err != nil {
		return err
	}
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for range 50 { // the folder is missing at times
		if err = s.Undo(false); err == nil {
			return nil
		}
		<-again.C
	}
	return err
}

func newRace(t *testing.T) *race {
	r := &race{bench: newBench(t, Options{})}
	r.put("d/secret.txt", "mine")
	return r
}

func TestFolderSwappedForALinkIsNotFollowed(t *testing.T) {
	r := newRace(t)
	d, away := filepath.Join(r.in, "d"), filepath.Join(r.in, "away")
	r.run(func() {
		r.must(os.Rename(d, away))
		r.must(os.Symlink("../outside", d))
		r.must(os.Remove(d))
		r.must(os.Rename(away, d))
	})
	if r.text("d/secret.txt") != "mine" || r.text("d/planted") != "-" || r.text("d/sub/planted") != "-" {
		t.Errorf("a change was left half done: %q %q %q", r.text("d/secret.txt"), r.text("d/planted"), r.text("d/sub/planted"))
	}
}

func TestFileSwappedForALinkIsNotFollowed(t *testing.T) {
	r := newRace(t)
	file, away, door := filepath.Join(r.in, "d/secret.txt"), filepath.Join(r.in, "away"), filepath.Join(r.in, "door")
	out := filepath.Join(r.out, "secret.txt")
	r.run(func() {
		_ = os.Rename(file, away)
		_ = os.Symlink("../../outside/secret.txt", door)
		_ = os.Rename(door, file)
		_ = os.Remove(file)
		_ = os.Link(out, file)
		_ = os.Remove(file)
		_ = os.Rename(away, file)
	})
}

// TestAFolderMovedAtAnyStepOfACommitKeepsItsContent moves the folder away at each step of a commit and puts a link to
// the outside under its name. The change is undone in the moved folder.
func TestAFolderMovedAtAnyStepOfACommitKeepsItsContent(t *testing.T) {
	for _, to := range []string{"away", "../outside", "../moved-out"} {
		for step := 1; ; step++ {
			b := newBench(t, Options{})
			b.put("d/secret.txt", "mine")
			b.put("d/gone", "mine")
			set := []Change{
				{Path: b.path("d/secret.txt"), Before: b.read("d/secret.txt"), After: []byte("new")},
				{Path: b.path("d/planted"), After: []byte("new")},
				{Path: b.path("d/gone"), Before: b.read("d/gone"), Delete: true},
			}
			s := b.stage("id", set...)
			seen, at := 0, ""
			b.folder.testHook = func(name string) {
				if at == "checked" && name == "in place" {
					t.Errorf("moved to %s at step %d, and still taken for in place", to, step)
				}
				if seen++; seen == step {
					at = name
					b.swapFolder(to)
				}
			}
			err := s.Commit(context.Background())
			b.folder.testHook = func(string) {}
			if at == "" {
				break
			}
			if err == nil && at != "replaced" {
				t.Errorf("moved to %s at step %d (%s), and nobody noticed", to, step, at)
			}
			if err := s.Done(); err != nil && to != "../outside" { // there the folder with the file was removed
				t.Errorf("moved to %s at step %d (%s): %v", to, step, at, err)
			}
			b.noTemps()
			where := filepath.Join(b.in, "d")
			if to != "../outside" {
				where = filepath.Join(b.in, to)
			}
			data, _ := os.ReadFile(filepath.Join(where, "secret.txt"))
			_, planted := os.Stat(filepath.Join(where, "planted"))
			_, gone := os.Stat(filepath.Join(where, "gone"))
			if before := string(data) == "mine" && planted != nil && gone == nil; before == (err == nil) && to != "../outside" {
				t.Errorf("moved to %s at step %d (%s): %q, %v, %v; %v", to, step, at, data, planted, gone, err)
			}
		}
	}
}

// swapFolder moves d away and puts a link to the outside under its name. For "../outside" it removes d instead of moving
// it.
func (b *bench) swapFolder(to string) {
	d := filepath.Join(b.in, "d")
	if to == "../outside" {
		b.must(os.RemoveAll(d))
	} else {
		b.must(os.Rename(d, filepath.Join(b.in, to)))
	}
	b.must(os.Symlink("../outside", d))
}
