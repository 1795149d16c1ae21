package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// findBroken marks the servers whose command is Candor at a path where it is not. A name without a path is not looked up: the
// client may have another PATH.
func (c *Config) findBroken() {
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Status != Protected || candorAt(s.Line()) != 0 || !filepath.IsAbs(s.Command) {
			continue
		}
		if problem := missing(s.Command); problem != "" {
			s.Status, s.Problem = Broken, s.Command+" "+problem
		}
	}
}

// missing says why a program cannot be started, or "". Doubt is not a reason.
func missing(program string) string {
	info, err := os.Stat(program)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case err != nil:
		return ""
	case info.IsDir():
		return "is a folder"
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return "is not executable"
	}
	return ""
}

// repair returns the file with another command for Candor in a server whose command is Candor at a path. Flags of wrap and the
// server's own command stay. Added is the text that wrap has added, or ""; it is returned as it is now.
func (c *Config) repair(s Server, added string, candor []string) (out []byte, now string, err error) {
	command := s.launch.command.value
	edits := []edit{{command.start, command.end, quoted(candor[0])}}
	now = added
	if len(candor) > 1 {
		var words []string
		for _, word := range candor[1:] {
			words = append(words, quoted(word))
		}
		insert := c.prepend(s.launch.args.value, words)
		edits = append(edits, insert)
		if added != "" {
			at := insert.start - (s.launch.args.value.end - len(added))
			now = added[:at] + insert.text + added[at:]
		}
	}
	out = apply(c.src, edits)
	return out, now, c.verifyRepair(s, out, added, now, candor)
}

// verifyRepair checks the result of repair: the server has the new command line, all others are as before, and unwrap gives the
// same bytes as before the repair.
func (c *Config) verifyRepair(repaired Server, out []byte, added, now string, candor []string) error {
	after, err := Parse(c.client, out)
	if err != nil {
		return fmt.Errorf("the edited file does not parse: %w", err)
	}
	if len(after.Servers) != len(c.Servers) {
		return errors.New("the edit changed the number of servers")
	}
	for i, s := range after.Servers {
		line := c.Servers[i].Line()
		if slices.Equal(s.path, repaired.path) {
			line = slices.Concat(candor, line[1:])
		}
		if !slices.Equal(s.Line(), line) || !slices.Equal(s.path, c.Servers[i].path) {
			return fmt.Errorf("the edit does not give server %q the expected command", s.Name)
		}
	}
	if wrappedAt(repaired.Line()) < 0 { // candor gateway
		return nil
	}
	want, err := c.unwrap([]Server{repaired}, []string{added})
	if err != nil {
		return err
	}
	s, _ := after.find(repaired.path)
	if got, err := after.unwrap([]Server{s}, []string{now}); err != nil || !bytes.Equal(got, want) {
		return errors.New("the edit cannot be undone to the same bytes")
	}
	return nil
}
