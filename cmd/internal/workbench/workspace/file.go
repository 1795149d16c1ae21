package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/candor-mcp/candor/codes/kaiza"
)

// File is a file as it was read in one go.
type File struct {
	Path    Path
	Content []byte
	Hash    string // [Hash] of Content
	Mode    fs.FileMode
	Size    int64

	owner owner
}

// Hash is how this package names content: SHA-256 in 64 lower-case hex digits.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Read reads a whole file. Symbolic links are followed as long as they stay inside; an absolute link counts as leading out.
//
// FILE_NOT_FOUND is a missing file, PATH_NOT_FOUND a missing folder on the way to it, OUTSIDE_WORKSPACE a link that leads out or a
// file with a second name, INSUFFICIENT_PERMISSIONS a file without read permission, FILE_READ_FAILED anything that is not a regular file of
// bearable size, or that the system does not deliver. Read never waits for a FIFO or a device.
func (f *Folder) Read(p Path) (read File, err error) {
	for range readTries {
		if read, err = f.readOnce(p); !errors.Is(err, errSwapped) {
			return read, err
		}
	}
	return File{}, f.access(p, errSwapped, kaiza.FileReadFailed)
}

// readTries limits how often a file is read again because it was replaced meanwhile.
const readTries = 8

func (f *Folder) readOnce(p Path) (File, error) {
	// This first look only spares us the opening of devices and FIFOs, which can have effects; the decision is taken on the open file.
	info, err := f.root.Stat(p.String())
	if err == nil {
		err = f.unreadable(p, info)
	}
	if err != nil {
		return File{}, f.access(p, err, kaiza.FileReadFailed)
	}
	f.testHook("looked")
	file, err := f.root.OpenFile(p.String(), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return File{}, f.access(p, err, kaiza.FileReadFailed)
	}
	defer file.Close() //nolint:errcheck // it was only read
	f.testHook("opened")
	return f.take(p, file, func() (fs.FileInfo, error) { return f.root.Stat(p.String()) })
}

// take reads an open file, after asking the open file itself what it is. Its name must still be its name, and the only one, when all is
// read: whoever opens a second name of something outside, and takes that name away at once, leaves us with a file that has one name, and
// not here. The error is errSwapped then.
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
	if int64(len(content)) > f.options.MaxFile { // it grew, or its size was a lie, as below /proc
		return File{}, f.tooLarge(p)
	}
	if !f.options.AllowHardLinks && !f.ours {
		if now, err := named(); err != nil || !os.SameFile(info, now) || links(now) > 1 {
			return File{}, errSwapped
		}
	}
	return File{Path: p, Content: content, Hash: Hash(content), Mode: info.Mode(), Size: int64(len(content)), owner: ownerOf(info)}, nil
}

// unreadable refuses what is not an ordinary, readable file of this workspace alone. The bits of the mode are asked because a server
// that runs as root would be stopped by none of them.
func (f *Folder) unreadable(p Path, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return advised(fault(kaiza.FileReadFailed, p, "is a folder.", nil), "List the folder and name a file in it.")
	case !info.Mode().IsRegular():
		return fault(kaiza.FileReadFailed, p, "is not a regular file.", nil)
	case links(info) > 1 && !f.options.AllowHardLinks && !f.ours:
		return fault(kaiza.OutsideWorkspace, p, "has a second name (a hard link), which may be outside the workspace.", nil)
	case info.Mode().Perm()&0o444 == 0 && !f.ours:
		return fault(kaiza.InsufficientPermissions, p, "has no read permission.", nil)
	case info.Size() > f.options.MaxFile:
		return f.tooLarge(p)
	}
	return nil
}

func (f *Folder) tooLarge(p Path) error {
	return advised(fault(kaiza.FileReadFailed, p, fmt.Sprintf("is larger than %d bytes.", f.options.MaxFile), nil),
		"Go on with other files; one as large as this is neither read nor searched here.")
}

// walk opens a folder by its own names, following no link. The caller closes it; it stays the same folder whatever happens to its name.
func (f *Folder) walk(p Path) (*os.Root, error) {
	dir, err := f.root.OpenRoot(".")
	if err != nil {
		return nil, f.access(Path{}, err, kaiza.FileWriteFailed)
	}
	at := Path{}
	for _, segment := range split(p.name) {
		at = at.join(segment)
		child, err := enter(dir, segment)
		if err := errors.Join(err, dir.Close()); errors.Is(err, fs.ErrNotExist) || errors.Is(err, notFolder) {
			return nil, fault(kaiza.PathNotFound, at, "is not an existing folder.", err)
		} else if err != nil {
			return nil, f.access(at, err, kaiza.FileWriteFailed)
		}
		dir = child
	}
	return dir, nil
}

// testHookSeen is called between checking and opening a name, where an attacker would swap it.
var testHookSeen = func(string) {}

// look returns the file info of a name in dir. It fails if that is a link or not of the wanted type.
func look(dir *os.Root, name string, wanted func(fs.FileMode) bool, otherwise error) (fs.FileInfo, error) {
	seen, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !wanted(seen.Mode()):
		return nil, otherwise
	}
	testHookSeen(name)
	return seen, nil
}

// enter opens the folder name in dir, if that name is a folder and not a link to one. Between the look and the opening the name may be
// swapped, and os.Root would follow a link that stays inside; so what was opened must be what was seen.
func enter(dir *os.Root, name string) (*os.Root, error) {
	seen, err := look(dir, name, fs.FileMode.IsDir, &fs.PathError{Op: "enter", Path: name, Err: notFolder})
	if err != nil {
		return nil, err
	}
	child, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := child.Stat("."); err != nil || !os.SameFile(seen, got) {
		return nil, errors.Join(errSwapped, err, child.Close())
	}
	return child, nil
}

// openPlain opens the regular file name in dir for reading, following no link, by the same rule as [enter].
func openPlain(dir *os.Root, name string) (*os.File, error) {
	seen, err := look(dir, name, fs.FileMode.IsRegular, errSpecial)
	if err != nil {
		return nil, err
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	if got, err := file.Stat(); err != nil || !os.SameFile(seen, got) {
		return nil, errors.Join(errSwapped, err, file.Close())
	}
	return file, nil
}

// readPlain reads the file name in dir, which is the folder of p.
func (f *Folder) readPlain(dir *os.Root, p Path, name string) (File, error) {
	file, err := openPlain(dir, name)
	if err != nil {
		return File{}, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return f.take(p, file, func() (fs.FileInfo, error) { return dir.Lstat(name) })
}
