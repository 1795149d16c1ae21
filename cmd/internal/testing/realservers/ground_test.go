package realservers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ground is the directory in which servers run. It has the same path and content for every conversation, so that
// answers about it can be compared.
type Ground struct {
	dir string
	// Marker is an environment variable of every process that was started on this ground; [Ground.Leftovers] finds them
	// by it.
	Marker string
}

// NewGround returns a ground in dir, which is emptied for every conversation.
func NewGround(dir string) Ground {
	return Ground{dir: filepath.Join(dir, "ground"), Marker: fmt.Sprintf("CANDOR_REAL_SERVER=%d-%s", os.Getpid(), filepath.Base(dir))}
}

// prepare resets the directory to its initial content.
func (g Ground) prepare() error {
	if err := os.RemoveAll(g.dir); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"notes.txt":         "one\ntwo\nthree\n",
		"folder/inside.txt": "inside\n",
		"home/.keep":        "",
		"tmp/.keep":         "",
	} {
		path := filepath.Join(g.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// hide replaces the directories of this machine by words in a text to be shown.
func (g Ground) hide(text string) string {
	words := []string{g.dir, groundWord}
	if home, err := os.UserHomeDir(); err == nil {
		words = append(words, home, "HOME")
	}
	return strings.NewReplacer(words...).Replace(text)
}

// Seal runs commands without a network and with the file system outside their own directory read-only. The zero Seal
// runs them without restrictions.
type Seal struct {
	Closed bool // nothing can be written outside the directory, except on other mounted file systems
	dir    string
}

// closing makes everything except the directory read-only and then executes the command.
const closing = `mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"`

// NewSeal returns a seal around dir, the zero Seal if this machine does not allow one. Servers whose tools are really
// called need it, because a call may create a file.
func NewSeal(dir string) Seal {
	s := Seal{Closed: true, dir: dir}
	line := s.Line([]string{"true"})
	if exec.Command(line[0], line[1:]...).Run() != nil {
		return Seal{}
	}
	return s
}

// Line returns the command line that runs the given one in the seal.
func (s Seal) Line(line []string) []string {
	if !s.Closed {
		return line
	}
	return slices.Concat([]string{"unshare", "--map-root-user", "--net", "--mount", "sh", "-c", closing, s.dir}, line)
}

// exitTimeout is how long a process may take to exit after its connection was closed.
const exitTimeout = 2 * time.Second

// Leftovers waits until every process that was started on this ground has exited. It kills those that have not and
// returns their command lines. It finds them by their environment, which a process keeps when it changes its process
// group or loses its parent.
func (g Ground) Leftovers() []string {
	deadline := time.Now().Add(exitTimeout)
	for {
		left := g.processes()
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			var names []string
			for pid, line := range left {
				if running, err := os.FindProcess(pid); err == nil {
					_ = running.Kill() // it may have exited meanwhile
				}
				names = append(names, fmt.Sprintf("%d: %s", pid, line))
			}
			return names
		}
		time.Sleep(20 * time.Millisecond) // a process that is not ours sends no event when it ends
	}
}

// processes returns the command lines of the processes with the marker. Without /proc it finds none.
func (g Ground) processes() map[int]string {
	found := map[int]string{}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !bytes.Contains(environment, []byte(g.Marker+"\x00")) {
			continue // it has exited, or belongs to another user
		}
		line, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err != nil || len(line) == 0 {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil {
			found[pid] = strings.ReplaceAll(string(bytes.TrimRight(line, "\x00")), "\x00", " ")
		}
	}
	return found
}
