package clientconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// findBroken marks the servers whose command is Candor at a path where it is not. A name without a path is not looked up: the
// client may have another PATH.
func (c *Config) findBroken() {
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Status != Protected || candorAt(s.Line()) != 0 || !filepath.IsAbs(s.Command) {
			continue
		}
		err := CheckProgram(s.Command)
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			if !errors.Is(err, fs.ErrNotExist) {
				continue // doubt is not a reason
			}
			err = errors.New("does not exist")
		}
		if err != nil {
			s.Status, s.Problem = Broken, s.Command+" "+err.Error()
		}
	}
}

// CheckProgram returns an error if a program does not exist or cannot be executed.
func CheckProgram(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a folder")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return errors.New("is not executable")
	}
	return nil
}
