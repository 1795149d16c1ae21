package consolecmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/report"
)

// reportFolder has the reports of candor probe in a folder: its files *.json.
type reportFolder struct {
	dir string

	mu    sync.Mutex
	known map[string]knownReport // by name, so that files are read once
}

// knownReport is a report as it was read from a file of this size and time.
type knownReport struct {
	size int64
	time time.Time
	row  console.Report
}

// maxReports is the number of files that are listed, the newest ones.
const maxReports = 200

var _ console.ReportSource = (*reportFolder)(nil)

// Reports implements [console.ReportSource].
func (f *reportFolder) Reports(ctx context.Context) ([]console.Report, error) {
	names, err := fs.Glob(os.DirFS(f.dir), "*.json")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(f.dir); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := map[string]knownReport{}
	var rows []console.Report
	for _, name := range names {
		info, err := os.Stat(filepath.Join(f.dir, name))
		if err != nil || !info.Mode().IsRegular() || ctx.Err() != nil {
			continue
		}
		one, ok := f.known[name]
		if !ok || one.size != info.Size() || !one.time.Equal(info.ModTime()) {
			one = knownReport{info.Size(), info.ModTime(), f.row(name)}
		}
		fresh[name] = one
		rows = append(rows, one.row)
	}
	f.known = fresh
	slices.SortStableFunc(rows, func(a, b console.Report) int { return b.Begun.Compare(a.Begun) }) //nolint:gocritic // its type
	return rows[:min(len(rows), maxReports)], ctx.Err()
}

// row reads the head of a report.
func (f *reportFolder) row(name string) console.Report {
	out := console.Report{Name: name, Tools: map[string]string{}}
	r, err := f.read(name)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Server, out.Version, out.Begun, out.Grade = cmp.Or(r.Server.Name, "unnamed"), r.Server.Version, r.Begun, string(r.Grade)
	out.Failures, out.Masked, out.Findings = r.Failures, r.Masked, len(r.Findings)
	for _, tool := range r.Tools {
		out.Tools[tool.Tool] = string(tool.Grade)
	}
	return out
}

// read reads a report of the folder. The name may not lead out of it.
func (f *reportFolder) read(name string) (*probe.Report, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	if !fs.ValidPath(name) || filepath.Base(name) != name || filepath.Ext(name) != ".json" {
		return nil, fs.ErrNotExist
	}
	info, err := root.Stat(name)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	if !info.Mode().IsRegular() || info.Size() > report.MaxReport {
		return nil, fmt.Errorf("not a file, or larger than %d MiB", report.MaxReport>>20)
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return report.Read(data)
}

// Page implements [console.ReportSource].
func (f *reportFolder) Page(_ context.Context, name string) (html []byte, policy string, err error) {
	r, err := f.read(name)
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	if err := report.Write(&out, report.FormatHTML, r, report.Options{}); err != nil {
		return nil, "", err
	}
	return out.Bytes(), report.PagePolicy(), nil
}
