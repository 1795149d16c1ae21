// Package corpus reads the recorded answers of real MCP servers that the rules are measured on. The recordings are not part
// of the repository: they are looked for in ../shared/corpus beside the checkout, and tests that need them say so and skip.
package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Record is one recorded exchange with its label.
type Record struct {
	Server     string          `json:"server"`
	Tool       string          `json:"tool"`
	Group      string          `json:"group"`
	Case       string          `json:"case"`
	Pattern    string          `json:"pattern"`
	Request    json.RawMessage `json:"request"`
	Response   json.RawMessage `json:"response"`
	Field      string          `json:"field"`
	NamesField bool            `json:"names_field"`
	Tricky     bool            `json:"tricky"`
	Why        string          `json:"why"`
	Outcome    string          `json:"outcome"`
}

// Flagged reports whether the server itself marked the failure.
func (r *Record) Flagged() bool {
	return r.Pattern == "protocol_error" || strings.HasPrefix(r.Pattern, "isError_")
}

// Masked reports a failure that was dressed as a success.
func (r *Record) Masked() bool { return strings.HasPrefix(r.Pattern, "success_masking_") }

// Success reports a true success.
func (r *Record) Success() bool { return strings.HasPrefix(r.Pattern, "ok_") }

// The recordings.
const (
	Failures  = "real-servers.jsonl.gz"
	Successes = "successes.jsonl.gz"
)

// ErrAbsent says that there are no recordings on this machine.
var ErrAbsent = errors.New("no recordings in ../shared/corpus beside the checkout")

// Load reads all records of a recording. It returns [ErrAbsent] if there is no such recording.
func Load(name string) (records []Record, err error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(root, "..", "shared", "corpus", filepath.Base(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, fmt.Errorf("opening recordings: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unzipping %s: %w", name, err)
	}
	return decode(unzipped, name)
}

func decode(r io.Reader, name string) ([]Record, error) {
	var out []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var rec Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return nil, fmt.Errorf("reading %s, record %d: %w", name, len(out)+1, err)
		}
		out = append(out, rec)
	}
	return out, lines.Err()
}

// repositoryRoot returns the nearest folder above the working folder that holds go.work.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.work above the working folder")
		}
		dir = up
	}
}
