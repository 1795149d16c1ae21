package realservers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// command prepares a process with access to the ground and a minimal environment. The user's environment, and so any
// credentials in it, are not passed on.
func (g Ground) command(line, env []string) *exec.Cmd {
	cmd := exec.Command(line[0], line[1:]...) //nolint:noctx // its end is that of the connection, which kills the whole group
	cmd.Dir = g.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(g.dir, "home"), "TMPDIR=" + filepath.Join(g.dir, "tmp"),
		"TZ=UTC", "LANG=C.UTF-8", "NO_COLOR=1", g.Marker,
	}
	for _, variable := range env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(variable, groundWord, g.dir))
	}
	return cmd
}

// hide replaces the directories of this machine by words in a text to be shown.
func (g Ground) hide(text string) string {
	words := []string{g.dir, groundWord}
	if home, err := os.UserHomeDir(); err == nil {
		words = append(words, home, "HOME")
	}
	return strings.NewReplacer(words...).Replace(text)
}

// Offline returns the command line prefix that runs a command without a network, nil if this machine cannot do that.
func Offline() []string {
	if exec.Command(offline[0], append(offline[1:], "true")...).Run() != nil { //nolint:noctx // it does nothing
		return nil
	}
	return slices.Clone(offline)
}

var offline = []string{"unshare", "--map-root-user", "--net"}
