package domain

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Environment holds the values that a domain is created from.
type Environment struct {
	Getenv func(string) string
	State  string   // absolute path of the state directory
	Guard  []string // command line that runs a child process and ends it with this one; see package guard
	Logger *slog.Logger

	// Private lists the directories with the state, the ledger and the keys of this program, which no domain may serve
	// to clients. The directories of the domains below State are served.
	Private []string
	// Read returns a file of another domain that is on, whose name begins with the prefix of its methods, such as fs/data.csv. See
	// [Domain.Read].
	Read func(name string) ([]byte, error)
}

// Variables reads environment variables and keeps the first error.
type Variables struct {
	Getenv  func(string) string
	Private []string // see [Environment]
	Err     error    // names the variable and its allowed values
}

// Fail sets the error for a variable with an invalid value.
func (v *Variables) Fail(name, want string) {
	if v.Err == nil {
		v.Err = fmt.Errorf("%s=%q: want %s", name, truncate.Text(v.Getenv(name), 80), want)
	}
}

// Number returns a number from least to most, or unset if the variable is not set.
func (v *Variables) Number(name string, unset, least, most int) int {
	text := v.Getenv(name)
	if text == "" {
		return unset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		v.Fail(name, fmt.Sprintf("a number from %d to %d", least, most))
	}
	return n
}

// Milliseconds returns a duration from least to most milliseconds, 0 if the variable is not set.
func (v *Variables) Milliseconds(name string, least, most int) time.Duration {
	return time.Duration(v.Number(name, 0, least, most)) * time.Millisecond
}

// OneOf returns one of the values, "" if the variable is not set.
func (v *Variables) OneOf(name string, values ...string) string {
	text := v.Getenv(name)
	if text != "" && !slices.Contains(values, text) {
		v.Fail(name, strings.Join(values, " or "))
	}
	return text
}

// Flag reports whether a variable is 1.
func (v *Variables) Flag(name string) bool { return v.OneOf(name, "0", "1") == "1" }

// Path returns an absolute path, "" if the variable is not set.
func (v *Variables) Path(name string) string {
	path := v.Getenv(name)
	if path != "" && !filepath.IsAbs(path) {
		v.Fail(name, "an absolute path")
	}
	v.Outside(name, path)
	return path
}

// Outside sets the error for a variable whose path is in a private directory.
func (v *Variables) Outside(name, path string) {
	if path != "" && slices.ContainsFunc(v.Private, func(dir string) bool { return folder.Inside(path, dir) }) {
		v.Fail(name, "a path outside of the state and ledger folders of Candor, which hold keys; without the variable the domain has a place of its own there")
	}
}

// Folder returns the absolute path of an existing directory, "" if the variable is not set.
func (v *Variables) Folder(name string) string {
	path := v.Getenv(name)
	if info, err := os.Stat(path); path != "" && (!filepath.IsAbs(path) || err != nil || !info.IsDir()) {
		v.Fail(name, "the absolute path of an existing folder")
	}
	v.Outside(name, path)
	return path
}

// List returns the elements of a list that is separated by commas, without spaces around them.
func (v *Variables) List(name string) (list []string) {
	for word := range strings.SplitSeq(v.Getenv(name), ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}
