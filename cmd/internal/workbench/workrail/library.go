package workrail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/similar"
)

// listed is a workflow, or a file that cannot be used.
type listed struct {
	workflow *workflow.Workflow // nil if the file has errors
	file     string             // relative to the directory; "" for a built-in workflow
	problems []yamlfile.Problem
}

// parsedKey is the name of a file, which problems contain, and the digest of its bytes.
type parsedKey struct {
	file   string
	digest [sha256.Size]byte
}

// lockParser waits until no other call parses files, which can take 100 MiB of memory.
func (s *System) lockParser(ctx context.Context) (unlock func(), err error) {
	select {
	case s.parsing <- struct{}{}:
		return func() { <-s.parsing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// library returns the workflows, sorted by id, and the files that cannot be used: those in the directory, which replace
// built-in workflows with the same id. The error is a [*candor.Error].
func (s *System) library(ctx context.Context) (all, unusable []listed, err error) {
	files, err := s.files(ctx)
	if err != nil {
		return nil, nil, publicLibrary(err)
	}
	found := map[string]listed{}
	examples, _ := fs.Glob(workflow.Examples, "examples/*")
	for _, name := range examples {
		data, _ := workflow.Examples.ReadFile(name)
		w, err := workflow.Parse(name, data)
		if err != nil {
			return nil, nil, err // a test parses them all
		}
		found[w.ID] = listed{workflow: w}
	}
	for _, f := range files {
		if f.workflow != nil {
			if other := found[f.workflow.ID].file; other != "" {
				f.fail("give one of them another id", "the id %s is taken by %s", f.workflow.ID, workflow.Printable(other))
			}
		}
		if f.workflow == nil {
			unusable = append(unusable, f)
			continue
		}
		found[f.workflow.ID] = f
	}
	for _, f := range found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Compare(a.workflow.ID, b.workflow.ID) })
	return all, unusable, nil
}

// fail adds a problem with which a file cannot be used.
func (f *listed) fail(hint, format string, args ...any) {
	f.workflow = nil
	f.problems = append(f.problems, yamlfile.Problem{File: workflow.Printable(f.file), Text: fmt.Sprintf(format, args...), Hint: hint})
}

// files reads the workflow files of the directory, sorted by name.
func (s *System) files(ctx context.Context) (found []listed, err error) {
	if s.o.Workflows == "" {
		return nil, ctx.Err()
	}
	root, err := os.OpenRoot(s.o.Workflows)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	unlock, err := s.lockParser(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	parsed := map[parsedKey]listed{}
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(e.Name()))) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		f := listed{file: e.Name()}
		switch data, err := session.ReadRegular(root, e.Name(), workflow.MaxBytes); {
		case errors.Is(err, session.ErrNotRegular):
			f.fail("put the file itself into the folder", "file: %s", workflow.NotRegular)
		case err != nil:
			f.fail("check its permissions and its size", "file: it cannot be read, or has more than %d KiB", workflow.MaxBytes>>10)
		default:
			key := parsedKey{e.Name(), sha256.Sum256(data)}
			var known bool
			if f, known = s.parsed[key]; !known {
				f.file = e.Name()
				f.workflow, f.problems = workflow.Check(e.Name(), data)
			}
			parsed[key] = f
		}
		found = append(found, f)
	}
	if ctx.Err() == nil {
		s.parsed = parsed
	}
	return found, cmp.Or(err, ctx.Err())
}

// publicLibrary returns the error to send for an error of the workflow directory.
func publicLibrary(err error) *candor.Error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return public(err)
	}
	return failure(workrailcode.InternalError, "The workflow folder could not be read.",
		"Tell the user to check that the folder of --workflows exists and can be read. Sessions that were started before continue with continue_workflow.",
		map[string]any{"kind": "workflow_folder_error"}, err)
}

// workflow returns the workflow with an id, or an error that lists similar ids.
func (s *System) workflow(ctx context.Context, id string) (*workflow.Workflow, error) {
	all, unusable, err := s.library(ctx)
	if err != nil {
		return nil, err
	}
	var ids, files []string
	for _, f := range all {
		if f.workflow.ID == id {
			return f.workflow, nil
		}
		ids = append(ids, f.workflow.ID)
	}
	for _, f := range unusable {
		files = append(files, f.file)
	}
	details := map[string]any{"workflowId": id}
	if names := similar.Names(id, ids); len(names) > 0 {
		details["didYouMean"] = names
	}
	message := "No workflow has this id."
	if len(files) > 0 {
		details["unusable"] = files[:min(len(files), 10)]
		message = "No workflow has this id, or its file has errors, which validate_workflow lists."
	}
	return nil, failure(workrailcode.NotFound, message, "Call list_workflows, which names the workflows and the files with errors, and use an id from its answer.", details, nil)
}

// A snapshot is a workflow as of the start of a session, named by its hash. Sessions of the same workflow share it.

func snapshotName(hash string) string { return hash + ".json" }

// keep stores a snapshot durably. It replaces a damaged one, so that sessions can be started again.
func (s *System) keep(w *workflow.Workflow) error {
	if _, err := s.snapshot(w.Hash()); err == nil {
		return nil
	}
	text, err := w.JSON()
	if err == nil {
		err = durable.WriteFile(s.snapshots, snapshotName(w.Hash()), text, 0o600)
	}
	if err != nil {
		return &continueError{snapshotStoreError, err}
	}
	return nil
}

var errSnapshotDamaged = errors.New("the workflow that the session was started with is damaged")

// snapshot returns the workflow with a hash. The error wraps errSnapshotDamaged, or is a [*continueError].
func (s *System) snapshot(hash string) (*workflow.Workflow, error) {
	name := snapshotName(hash)
	data, err := session.ReadRegular(s.snapshots, name, workflow.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &continueError{missingSnapshot, err}
	case errors.Is(err, session.ErrNotRegular), errors.Is(err, session.ErrTooLarge):
		return nil, errSnapshotDamaged
	case err != nil:
		return nil, &continueError{snapshotStoreError, err}
	}
	w, err := workflow.Parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSnapshotDamaged, err)
	}
	if w.Hash() != hash {
		return nil, &continueError{kind: workflowHashMismatch}
	}
	return w, nil
}
