package crashfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/crashfs"
)

// cuts is how many crashes of one state a test examines, enough to see every case.
const cuts = 500

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put writes a file and makes it durable.
func put(t *testing.T, f *crashfs.FS, name string, content []byte) *crashfs.File {
	t.Helper()
	h, err := f.Create(name, 0o600)
	must(t, err)
	_, err = h.Write(content)
	must(t, err)
	must(t, h.Sync())
	must(t, f.SyncDir("."))
	return h
}

// content returns the content of a file as a reader sees it, or nil if it does not exist.
func content(t *testing.T, f *crashfs.FS, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(f.Files(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(t, err)
	return b
}

// writeFile creates a file and makes it durable.
func writeFile(f *crashfs.FS, name string, data []byte) error {
	h, err := f.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = h.Write(data)
	return errors.Join(err, h.Sync(), h.Close(), f.SyncDir(path.Dir(name)))
}

// survivors crashes the file system many times and counts the resulting contents of a file.
func survivors(t *testing.T, f *crashfs.FS, name string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(cuts) {
		left := f.Crash(seeded(seed))
		if b := content(t, left, name); b == nil {
			seen["(gone)"]++
		} else {
			seen[string(b)]++
		}
	}
	return seen
}

func TestSyncedFilesSurvive(t *testing.T) {
	f := crashfs.New()
	want := bytes.Repeat([]byte("a"), 3*crashfs.Sector+7)
	put(t, f, "a", want)
	if seen := survivors(t, f, "a"); seen[string(want)] != cuts {
		t.Errorf("of %d cuts only %d left the file whole", cuts, seen[string(want)])
	}
}

func TestUnsyncedSectorsSurviveSeparately(t *testing.T) {
	f := crashfs.New()
	h := put(t, f, "a", []byte("kept"))
	_, err := h.Write(bytes.Repeat([]byte("n"), 3*crashfs.Sector))
	must(t, err)
	var lost, whole, holes, torn int
	for left := range survivors(t, f, "a") {
		switch b := []byte(left); {
		case !bytes.HasPrefix(b, []byte("kept")):
			t.Fatalf("synced bytes were lost: %q", b[:4])
		case len(b) == 4:
			lost++
		case len(b) == 4+3*crashfs.Sector && bytes.IndexByte(b, 0) < 0:
			whole++
		case bytes.Contains(b, []byte("\x00n")):
			holes++
		default:
			torn++
		}
	}
	if lost == 0 || whole == 0 || holes == 0 || torn == 0 {
		t.Errorf("lost %d, whole %d, with holes %d, torn %d: each should be seen", lost, whole, holes, torn)
	}
}

func TestRenamesSurviveInAnyOrder(t *testing.T) {
	f := crashfs.New()
	put(t, f, "active", []byte("old"))
	must(t, f.Rename("active", "closed"))
	h, err := f.Create("active", 0o600)
	must(t, err)
	_, err = h.Write([]byte("new"))
	must(t, err)
	must(t, h.Sync())
	seen := map[[2]string]bool{}
	for seed := range uint64(cuts) {
		left := f.Crash(seeded(seed))
		seen[[2]string{string(content(t, left, "active")), string(content(t, left, "closed"))}] = true
	}
	for _, want := range [][2]string{{"old", ""}, {"new", ""}, {"", "old"}, {"new", "old"}} {
		if !seen[want] {
			t.Errorf("no cut left active %q and closed %q", want[0], want[1])
		}
	}
	must(t, f.SyncDir("."))
	if seen := survivors(t, f, "closed"); seen["old"] != cuts {
		t.Errorf("after SyncDir: %v", seen)
	}
}

func TestUnsyncedFolderLosesItsFiles(t *testing.T) {
	f := crashfs.New()
	must(t, f.MkdirAll("d/e", 0o700))
	h, err := f.Create("d/e/a", 0o600)
	must(t, err)
	_, err = h.Write([]byte("a"))
	must(t, err)
	must(t, h.Sync())
	must(t, f.SyncDir("d/e"))
	must(t, f.SyncDir("d"))
	if seen := survivors(t, f, "d/e/a"); seen["(gone)"] == 0 {
		t.Error("the folder was never lost")
	}
	must(t, f.SyncDir("."))
	if seen := survivors(t, f, "d/e/a"); seen["a"] != cuts {
		t.Errorf("after SyncDir: %v", seen)
	}
}

func TestFailedSyncMayLoseData(t *testing.T) {
	f := crashfs.New()
	h := put(t, f, "a", nil)
	_, err := h.Write([]byte("new"))
	must(t, err)
	f.Plant(crashfs.FaultSyncOnce, f.Ops())
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	must(t, h.Sync()) // a program must never do this
	if seen := survivors(t, f, "a"); seen["new"] == cuts || seen["new"] == 0 {
		t.Errorf("the second sync made it durable, or the data never survived: %v", seen)
	}
	if broken := f.Broken(); len(broken) != 1 {
		t.Errorf("the retry was not noticed: %v", broken)
	}
	if got := content(t, f.Restart(), "a"); string(got) != "new" {
		t.Errorf("the cache shows %q", got)
	}
}

func TestPlantedFaultsStrike(t *testing.T) {
	script := func(f *crashfs.FS) (errs []error) {
		note := func(err error) { errs = append(errs, err) }
		note(f.MkdirAll("d", 0o700))
		note(writeFile(f, "d/small", []byte("small")))
		release, err := f.Lock("lock", []byte("me"))
		note(err)
		if err == nil {
			note(release())
		}
		_, err = fs.ReadDir(f.Files(), "d")
		note(err)
		return errs
	}
	for _, fault := range crashfs.Faults() {
		struck := 0
		for i := range 30 {
			f := crashfs.New()
			f.Plant(fault, i)
			failed := slices.ContainsFunc(script(f), func(err error) bool { return err != nil })
			if hit := f.Heal(); hit != failed {
				t.Errorf("%s at %d: struck %v, seen %v", fault, i, hit, failed)
			} else if hit {
				struck++
			}
			if f.Open() != 0 {
				t.Errorf("%s at %d: %d left open", fault, i, f.Open())
			}
		}
		if struck == 0 {
			t.Errorf("%s never struck", fault)
		}
	}
}

func TestLimitAndReserve(t *testing.T) {
	f := crashfs.New()
	f.SetLimit(100)
	a, err := f.Create("a", 0o600)
	must(t, err)
	must(t, a.Reserve(60))
	b, err := f.Create("b", 0o600)
	must(t, err)
	if n, err := b.Write(make([]byte, 50)); n != 40 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if err := b.Reserve(1); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("reserve: %v", err)
	}
	if n, err := a.Write(make([]byte, 60)); n != 60 || err != nil {
		t.Errorf("into the reserved space: %d, %v", n, err)
	}
	must(t, f.Remove("b"))
}
