// Package corpus reads the recorded answers of real MCP servers that the rules are measured on. The recordings are not part
// of the repository: they are looked for in ../shared/corpus beside the checkout, and tests that need them say so and skip.
package corpus

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
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

// Tool is a tool as a recorded server lists it.
type Tool struct {
	Server string          `json:"-"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"inputSchema"`
	Output json.RawMessage `json:"outputSchema"`

	Description string          `json:"description"`
	Annotations json.RawMessage `json:"annotations"`
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
	toolLists = "tools.jsonl.gz"
)

// ErrAbsent says that there are no recordings on this machine.
var ErrAbsent = errors.New("no recordings in ../shared/corpus beside the checkout")

// Load reads all records of a recording. It returns [ErrAbsent] if the recording does not exist.
func Load(name string) ([]Record, error) { return load[Record](name) }

// Tools returns the tools of all recorded servers.
func Tools() ([]Tool, error) {
	lists, err := load[struct {
		Server string `json:"server"`
		Tools  []Tool `json:"tools"`
	}](toolLists)
	var all []Tool
	for _, list := range lists {
		for _, tool := range list.Tools {
			tool.Server = list.Server
			all = append(all, tool)
		}
	}
	return all, err
}

func load[T any](name string) (out []T, err error) {
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
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var record T
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			return nil, fmt.Errorf("reading %s, record %d: %w", name, len(out)+1, err)
		}
		out = append(out, record)
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

// mislabelled lists records whose label can be shown to be wrong, by server, tool and case, with the evidence. They are left
// out of every figure.
var mislabelled = map[[3]string]string{
	{"@mobilenext/mobile-mcp", "mobile_save_screenshot", "nonexistent"}: `labelled a success; the answer is "save_screenshot requires a .png, .jpg, .jpeg file extension … Please fix the issue and try again.": ` +
		`nothing was saved`,
	{"@mobilenext/mobile-mcp", "mobile_save_screenshot", "extra_property"}: `as above`,
	{"@netlify/mcp", "netlify-project-services-updater", "nonexistent"}: `labelled a success; the answer is "You must provide either requireSSOTeamLogin or requirePassword": ` +
		`nothing was updated`,
}

// Mislabelled returns the evidence against the record's label, if there is any.
func (r *Record) Mislabelled() (evidence string, ok bool) {
	evidence, ok = mislabelled[[3]string{r.Server, r.Tool, r.Case}]
	return evidence, ok && r.Success()
}
