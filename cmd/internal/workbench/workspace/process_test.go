package workspace

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestMain runs the test binary in a role if the environment names one: a process that changes a workspace and kills
// itself at a given step.
func TestMain(m *testing.M) {
	if role := os.Getenv("CANDOR_WORKSPACE_ROLE"); role != "" {
		step, _ := strconv.Atoi(os.Getenv("CANDOR_WORKSPACE_STEP"))
		os.Exit(roles[role](os.Getenv("CANDOR_WORKSPACE_TOP"), step))
	}
	os.Exit(m.Run())
}

// roles lists the roles of the test binary. Exit code 0 means that the role completed.
var roles map[string]func(top string, step int) int

func init() {
	roles = map[string]func(string, int) int{"commit": commitRole, "undo": undoRole, "recover": recoverRole}
}

// process starts the test binary in a role.
func (b *bench) process(role string, step int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CANDOR_WORKSPACE_ROLE="+role, "CANDOR_WORKSPACE_STEP="+strconv.Itoa(step), "CANDOR_WORKSPACE_TOP="+filepath.Dir(b.in))
	cmd.Stderr = os.Stderr
	return cmd
}

// there opens the workspace and state of a bench in another process, with a hook that kills the process at its step.
func there(top string, step int) (*Folder, *os.Root) {
	folder, err := Open(filepath.Join(top, "proj"), Options{})
	if err != nil {
		panic(err)
	}
	state, err := os.OpenRoot(filepath.Join(top, "state"))
	if err != nil {
		panic(err)
	}
	folder.testHook = killer(step)
	return folder, state
}

func killer(step int) func(string) {
	seen := 0
	return func(string) {
		if seen++; seen == step {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	}
}

// everythingThere is like bench.everything, for existing files.
func everythingThere(f *Folder) []Change {
	read := func(name string) *File {
		file, err := f.Read(Path{name})
		if err != nil {
			panic(err)
		}
		return &file
	}
	return []Change{
		{Path: Path{"old"}, Before: read("old"), After: []byte("after")},
		{Path: Path{"new"}, After: []byte("made")},
		{Path: Path{"x/y/new"}, After: []byte("deep"), MakeDirs: true},
		{Path: Path{"x/z"}, After: nil, MakeDirs: true},
		{Path: Path{"d/gone"}, Before: read("d/gone"), Delete: true},
	}
}

func stageThere(top string) (*Staged, *Folder) {
	f, state := there(top, 0)
	s, err := f.Stage(state, "one", everythingThere(f), []byte(`{"call":7}`))
	if err != nil {
		panic(err)
	}
	return s, f
}

func commitRole(top string, step int) int {
	s, f := stageThere(top)
	f.testHook = killer(step)
	if err := s.Commit(context.Background()); err != nil {
		panic(err)
	}
	return 0 // without Done, as if killed right after
}

func undoRole(top string, step int) int {
	s, f := stageThere(top)
	if err := s.Commit(context.Background()); err != nil {
		panic(err)
	}
	f.testHook = killer(step)
	if err := s.Undo(false); err != nil {
		panic(err)
	}
	return 0
}

// recoverRole commits and is then killed while it recovers.
func recoverRole(top string, step int) int {
	s, _ := stageThere(top)
	if err := s.Commit(context.Background()); err != nil {
		panic(err)
	}
	_, state := there(top, 0)
	_, err := Recover(state, func(root string) (*Folder, error) {
		f, err := Open(root, Options{})
		f.testHook = killer(step)
		return f, err
	}, func(Journal) Verdict { return Undo })
	if err != nil {
		panic(err)
	}
	return 0
}
