package workrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// library finds workflows: the built-in ones, and files in a directory, which replace built-in workflows with the same
// id.
type library struct {
	dir string // "" for none
}

// listed is a workflow, or a file that could not be parsed.
type listed struct {
	workflow *workflow.Workflow // nil if the file has errors
	file     string             // relative to dir; "" for a built-in workflow
	err      error
}

const (
	maxFiles    = 500
	loadTimeout = 5 * time.Second
)

// all returns every workflow, sorted by id, followed by the unusable files.
func (l library) all(ctx context.Context) ([]listed, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	type result struct {
		all []listed
		err error
	}
	done := make(chan result, 1)
	go func() { // a file system that hangs must not block the call
		all, err := l.read(ctx)
		done <- result{all, err}
	}()
	select {
	case r := <-done:
		return r.all, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l library) read(ctx context.Context) ([]listed, error) {
	found := map[string]listed{}
	for _, name := range workflow.Examples() {
		data, _ := workflow.Example(name)
		w, err := workflow.Parse(name, data)
		if err != nil {
			return nil, err // a test parses them all
		}
		found[w.ID] = listed{workflow: w}
	}
	var unusable []listed
	if l.dir != "" {
		files, err := l.files(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.workflow == nil {
				unusable = append(unusable, f)
				continue
			}
			if other, ok := found[f.workflow.ID]; ok && other.file != "" {
				f.err = fmt.Errorf("%s: the id %s is taken by %s", f.file, f.workflow.ID, other.file)
				unusable = append(unusable, f)
				continue
			}
			found[f.workflow.ID] = f
		}
	}
	all := make([]listed, 0, len(found))
	for _, f := range found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Compare(a.workflow.ID, b.workflow.ID) })
	return append(all, unusable...), nil
}

// files reads the workflow files of the directory, sorted by name.
func (l library) files(ctx context.Context) ([]listed, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, fmt.Errorf("the workflow folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("the workflow folder: %w", err)
	}
	var found []listed
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(e.Name()))) {
			continue
		}
		if len(found) == maxFiles {
			return nil, fmt.Errorf("the workflow folder has more than %d files", maxFiles)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !e.Type().IsRegular() {
			found = append(found, listed{file: e.Name(), err: errNotRegular})
			continue
		}
		found = append(found, readFile(root, e.Name()))
	}
	return found, nil
}

func readFile(root *os.Root, name string) listed {
	data, err := readBounded(root, name)
	if err != nil {
		return listed{file: name, err: err}
	}
	w, err := workflow.Parse(name, data)
	if err != nil {
		return listed{file: name, err: err}
	}
	return listed{workflow: w, file: name}
}

func readBounded(root *os.Root, name string) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, workflow.MaxBytes+1))
	return data, errors.Join(err, file.Close())
}

// publicLibrary returns the error to send for an error of the workflow directory.
func publicLibrary(err error) *candor.Error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return publicStore(err)
	}
	return failure(workrailcode.InternalError, "The workflow folder could not be read.",
		"Tell the user, who finds out whether the folder of --workflows is there and can be read. Sessions that were started before go on with continue_workflow.",
		map[string]any{"kind": "workflow_folder_error"}, err)
}

// find returns the workflow with an id. If there is none, it returns nil, the existing ids and the files with errors.
func (l library) find(ctx context.Context, id string) (found *workflow.Workflow, ids, unusable []string, err error) {
	all, err := l.all(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, f := range all {
		switch {
		case f.workflow == nil || f.err != nil:
			unusable = append(unusable, f.file)
		case f.workflow.ID == id:
			return f.workflow, nil, nil, nil
		default:
			ids = append(ids, f.workflow.ID)
		}
	}
	return nil, ids, unusable, nil
}

var errNotRegular = errors.New(workflow.NotRegular)

// taken returns the earlier file that has the id of a workflow, "" if there is none.
func (l library) taken(ctx context.Context, id, file string) (string, error) {
	all, err := l.all(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range all {
		if f.err == nil && f.workflow.ID == id && f.file != file {
			return f.file, nil
		}
	}
	return "", nil
}

// file reads one file of the directory.
func (l library) file(_ context.Context, name string) (string, []byte, error) {
	if l.dir == "" {
		return "", nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return "", nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	info, err := root.Lstat(name)
	if err != nil {
		return "", nil, err
	}
	if !info.Mode().IsRegular() {
		return "", nil, errNotRegular
	}
	data, err := readBounded(root, name)
	return name, data, err
}
