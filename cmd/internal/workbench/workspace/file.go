package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// File is a snapshot of a file.
type File struct {
	Path    Path
	Content []byte
	Hash    string // [Hash] of Content
	Mode    fs.FileMode
	Size    int64
}

// Hash returns the hash of content: SHA-256 in 64 lower-case hex digits.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Read reads a whole file. It follows symbolic links that stay inside the workspace; an absolute link counts as leading
// out.
//
// The error is FILE_NOT_FOUND for a missing file, PATH_NOT_FOUND for a missing folder on the path, OUTSIDE_WORKSPACE
// for a link that leads out or a file with a second hard link, INSUFFICIENT_PERMISSIONS for a file without read
// permission, and FILE_READ_FAILED for anything that is not a regular file within the size limit and for I/O errors.
// Read does not block on a FIFO or a device.
func (f *Folder) Read(p Path) (read File, err error) {
	for range readTries {
		if read, err = f.readOnce(p); !errors.Is(err, folder.ErrChanged) {
			return read, err
		}
	}
	return File{}, f.access(p, folder.ErrChanged, kaiza.FileReadFailed)
}

// readTries limits how often a file is read again because it was replaced in the meantime.
const readTries = 8

func (f *Folder) readOnce(p Path) (File, error) {
	// This check only avoids opening devices and FIFOs, which can have effects; the checks on the open file decide.
	info, err := f.root.Stat(p.String())
	if err == nil {
		err = f.unreadable(p, info)
	}
	if err != nil {
		return File{}, f.access(p, err, kaiza.FileReadFailed)
	}
	f.testHook("looked")
	file, err := f.root.OpenFile(p.String(), os.O_RDONLY|folder.NonBlock, 0)
	if err != nil {
		return File{}, f.access(p, err, kaiza.FileReadFailed)
	}
	defer file.Close() //nolint:errcheck // opened for reading
	f.testHook("opened")
	return f.take(p, file, func() (fs.FileInfo, error) { return f.root.Stat(p.String()) })
}

// take reads an open file after checking the open file itself. When all is read, the name must still refer to the file
// and be its only link; otherwise the error is folder.ErrChanged. Without this check a process could create a hard link
// to an outside file, let it be opened, and remove the link again, so that the open file has one link only.
func (f *Folder) take(p Path, file *os.File, named func() (fs.FileInfo, error)) (File, error) {
	info, err := file.Stat()
	if err == nil {
		err = f.unreadable(p, info)
	}
	if err != nil {
		return File{}, f.access(p, err, kaiza.FileReadFailed)
	}
	content, err := io.ReadAll(io.LimitReader(file, f.options.MaxFile+1))
	if err != nil {
		return File{}, f.access(p, err, kaiza.FileReadFailed)
	}
	if int64(len(content)) > f.options.MaxFile { // the file grew, or its size was wrong, as in /proc
		return File{}, f.tooLarge(p)
	}
	if now, err := named(); err != nil || !os.SameFile(info, now) || folder.Links(now) > 1 {
		return File{}, folder.ErrChanged
	}
	return File{Path: p, Content: content, Hash: Hash(content), Mode: info.Mode(), Size: int64(len(content))}, nil
}

// unreadable refuses anything but a regular, readable file with a single link. It checks the mode bits explicitly,
// because they do not stop a server that runs as root.
func (f *Folder) unreadable(p Path, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return advised(fault(kaiza.FileReadFailed, p, "is a folder.", nil), "List the folder and name a file in it.")
	case !info.Mode().IsRegular():
		return fault(kaiza.FileReadFailed, p, "is not a regular file.", nil)
	case folder.Links(info) > 1:
		return fault(kaiza.OutsideWorkspace, p, "has a second name (a hard link), which may be outside the workspace.", nil)
	case info.Mode().Perm()&0o444 == 0:
		return fault(kaiza.InsufficientPermissions, p, "has no read permission.", nil)
	case info.Size() > f.options.MaxFile:
		return f.tooLarge(p)
	}
	return nil
}

func (f *Folder) tooLarge(p Path) error {
	return advised(fault(kaiza.FileReadFailed, p, fmt.Sprintf("is larger than %d bytes.", f.options.MaxFile), nil),
		"Continue with other files; one as large as this is not read here.")
}

// walk opens a folder without following links. The caller closes it; it remains the same folder if it is renamed.
func (f *Folder) walk(p Path) (*os.Root, error) {
	dir, err := f.root.OpenRoot(".")
	if err != nil {
		return nil, f.access(Path{}, err, kaiza.FileWriteFailed)
	}
	at := Path{}
	for _, segment := range split(p.name) {
		at = at.join(segment)
		child, err := folder.Enter(dir, segment)
		if err := errors.Join(err, dir.Close()); errors.Is(err, fs.ErrNotExist) || errors.Is(err, folder.ErrNotFolder) {
			return nil, fault(kaiza.PathNotFound, at, "is not an existing folder.", err)
		} else if err != nil {
			return nil, f.access(at, err, kaiza.FileWriteFailed)
		}
		dir = child
	}
	return dir, nil
}

// readPlain reads the file name in dir, which is the folder of p.
func (f *Folder) readPlain(dir *os.Root, p Path, name string) (File, error) {
	file, _, err := folder.OpenPlain(dir, name)
	if err != nil {
		return File{}, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	return f.take(p, file, func() (fs.FileInfo, error) { return dir.Lstat(name) })
}
