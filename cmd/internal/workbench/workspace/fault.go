package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// fault returns an error for a path, which begins its message.
func fault(code candor.Code, p Path, says string, cause error) error {
	return candor.New(code, fmt.Sprintf("%q %s", p.String(), says), candor.WithDetails(map[string]any{"path": p.String()}), candor.WithCause(cause))
}

// advised returns err with a more specific suggestion than that of its code.
func advised(err error, suggestion string) error {
	return candor.From(err).With(candor.WithSuggestion(suggestion))
}

// access maps a file system error about a path to a code; otherwise is the code for all other errors.
func (f *Folder) access(p Path, err error, otherwise candor.Code) error {
	switch {
	case err == nil, errors.As(err, new(*candor.Error)):
		return err
	case f.escapes != nil && errors.Is(err, f.escapes):
		return fault(kaiza.OutsideWorkspace, p, "leads out of the workspace through a symbolic link.", err)
	case errors.Is(err, folder.ErrLink):
		return f.linked(p)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return f.missing(p, err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fault(kaiza.InvalidPath, p, "is longer than this system allows.", err)
	case errors.Is(err, fs.ErrPermission):
		return fault(kaiza.InsufficientPermissions, p, "may not be used: the system refuses access.", err)
	case errors.Is(err, folder.ErrNotRegular), errors.Is(err, folder.ErrChanged):
		return fault(otherwise, p, "cannot be used: "+err.Error()+".", err)
	}
	return fault(otherwise, p, "could not be used: the system reported a failure.", err)
}

// missing distinguishes a missing file from a missing folder on its path.
func (f *Folder) missing(p Path, cause error) error {
	if info, err := f.root.Stat(p.parent().String()); err != nil || !info.IsDir() {
		return fault(kaiza.PathNotFound, p, "is in a folder that does not exist.", cause)
	}
	return fault(kaiza.FileNotFound, p, "does not exist.", cause)
}

// linked returns the error for a change through a symbolic link.
func (f *Folder) linked(p Path) error {
	if _, err := f.root.Stat(p.String()); f.escapes != nil && errors.Is(err, f.escapes) {
		return fault(kaiza.OutsideWorkspace, p, "leads out of the workspace through a symbolic link.", err)
	}
	return candor.New(kaiza.InsufficientPermissions, fmt.Sprintf("%q is a symbolic link, and nothing is changed through one.", p.String()),
		candor.WithDetails(map[string]any{"path": p.String()}), candor.WithSuggestion("Name the file itself, not a link to it."))
}

// coded returns err as a single coded error: the first coded error in it.
func coded(err error) error {
	if err == nil {
		return nil
	}
	return candor.From(err, candor.Otherwise(kaiza.FileWriteFailed))
}
