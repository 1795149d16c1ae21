// Package filesystem is the filesystem domain of the harness: it reads and writes files below one root directory.
//
// Everything below the root can be read. Nothing can be written unless a pattern of the configuration allows it. Paths
// are relative to the root and use slashes. Symbolic links that stay inside the root are followed when reading and
// never when writing, so that a link cannot redirect a write to a path that the patterns do not allow.
package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	filesystemcode "github.com/candor-mcp/candor/codes/filesystem"
	"github.com/candor-mcp/candor/internal/oserror"
)

// Name is the name of the domain in the catalogue.
const Name = "filesystem"

// Limits of the domain.
const (
	defaultMaxBytes = 1 << 20
	maxMaxBytes     = 1 << 30
	maxRead         = 1 << 20 // bytes of one answer of fs/read
	maxEntries      = 20_000  // of a directory that is listed
	maxResults      = 1000
)

func validGlob(glob string) bool {
	return doublestar.ValidatePattern(glob) && !strings.HasPrefix(glob, "/") && !slices.Contains(strings.Split(glob, "/"), "..")
}

// files implements the methods of the domain below one root.
type files struct {
	folder   folder.Lazy
	globs    []string
	maxBytes int // of one write
}

// Open returns the domain. MCP_FS_ROOT names an existing directory; the default is one below the state directory, which the first call
// creates. MCP_FS_WRITE_GLOBS lists the patterns of the paths that may be written, such as "out/**", by default none, and MCP_FS_MAX_BYTES
// limits one write.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv, Private: env.Private}
	f := &files{
		folder: folder.Lazy{Path: v.Folder("MCP_FS_ROOT"), Private: env.Private}, globs: v.List("MCP_FS_WRITE_GLOBS"),
		maxBytes: v.Number("MCP_FS_MAX_BYTES", defaultMaxBytes, 1, maxMaxBytes),
	}
	if f.folder.Path == "" {
		f.folder.Path, f.folder.Create = filepath.Join(env.State, "files"), true
	}
	for _, glob := range f.globs {
		if !validGlob(glob) {
			v.Fail("MCP_FS_WRITE_GLOBS", "relative patterns with slashes, such as out/**, separated by commas")
		}
	}
	return domain.Domain{
		Name:    Name,
		About:   "Read and write files below one folder.",
		Methods: f.methods(),
		Health:  f.health,
		Close:   f.folder.Close,
	}, v.Err
}

func (f *files) health(context.Context) domain.Health {
	if err := f.folder.Check(); err != nil {
		return domain.Health{Details: "the root folder cannot be used; set MCP_FS_ROOT to an existing folder"}
	}
	return domain.Health{OK: true}
}

func (f *files) methods() []domain.Method {
	const path = `"path":{"type":"string","description":"relative to the root, with slashes"}`
	reading := []candor.Code{filesystemcode.PathEscape, filesystemcode.Denied, filesystemcode.NotFound}
	writing := append(slices.Clone(reading), candor.CodeDiskFull)
	required := []string{"path"}
	return []domain.Method{
		{
			Name: "fs/list", About: "List a folder in the order of the names.",
			Input: fmt.Sprintf(`{"path":{"type":"string","description":"folder, the root by default"},`+
				`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"most entries, 200 by default"},`+
				`"cursor":{"type":"string","maxLength":1024,"description":"nextCursor of the previous answer"}}`, maxResults),
			Codes: append(slices.Clone(reading), common.LimitExceeded), ReadOnly: true, Idempotent: true, Run: domain.Bind(f.list),
		},
		{
			Name: "fs/stat", About: "Describe a file or folder.",
			Input: `{` + path + `}`, Required: required, Codes: reading, ReadOnly: true, Idempotent: true, Run: domain.Bind(f.stat),
		},
		{
			Name: "fs/read", About: "Read a file or a part of it, as text, or as base64 if it is not valid UTF-8.",
			Input: fmt.Sprintf(`{%s,"offset":{"type":"integer","minimum":0,"description":"first byte, 0 by default"},`+
				`"maxBytes":{"type":"integer","minimum":4,"maximum":%d,"description":"most bytes, %d by default"}}`, path, maxRead, maxRead),
			Required: required, Codes: reading, ReadOnly: true, Idempotent: true, Run: domain.Bind(f.read),
		},
		{
			Name: "fs/write", About: "Write a whole file. Readers see the old content or the new one, never a mixture.",
			Input:    `{` + path + `,"content":{"type":"string"},"encoding":{"enum":["utf-8","base64"],"description":"of content, utf-8 by default"}}`,
			Required: []string{"path", "content"}, Codes: append(slices.Clone(writing), filesystemcode.WriteTooLarge),
			Idempotent: true, Destructive: true, Run: domain.Bind(f.write),
		},
		{
			Name: "fs/mkdir", About: "Create a folder and the folders above it. One that is there is left as it is.",
			Input: `{` + path + `}`, Required: required, Codes: writing, Idempotent: true, Run: domain.Bind(f.mkdir),
		},
		{
			Name: "fs/delete", About: "Delete a file or an empty folder.",
			Input: `{` + path + `}`, Required: required, Codes: writing, Destructive: true, Run: domain.Bind(f.remove),
		},
	}
}

// open parses a path and returns the root directory.
func (f *files) open(path string) (*folder.Folder, string, error) {
	name, err := folder.Parse(path)
	if err != nil {
		return nil, "", explain(err)
	}
	root, err := f.folder.Get()
	if err != nil {
		return nil, "", domain.Fail(filesystemcode.Denied, "the root folder cannot be opened", err)
	}
	return root, name, nil
}

// mayWrite returns nil if a pattern allows writing to a path.
func (f *files) mayWrite(name string) error {
	for _, glob := range f.globs {
		if name != "." && doublestar.MatchUnvalidated(glob, name) {
			return nil
		}
	}
	if len(f.globs) == 0 {
		return domain.Fail(filesystemcode.Denied, "this server allows no writing", nil)
	}
	return domain.Fail(filesystemcode.Denied, "the path matches none of the patterns "+strings.Join(f.globs, ", "), nil)
}

// explain converts an error of the file system to one with a code and without the system's text. An error that is not listed is
// sent to the client as INTERNAL_ERROR.
func explain(err error) error {
	for _, e := range explanations {
		if errors.Is(err, e.is) {
			return domain.Fail(e.code, e.details, err)
		}
	}
	if oserror.IsFull(err) {
		return domain.Fail(candor.CodeDiskFull, "nothing was changed", err)
	}
	return err
}

var explanations = []struct {
	is      error
	code    candor.Code
	details string
}{
	{folder.ErrEscape, filesystemcode.PathEscape, ""},
	{folder.ErrMalformed, common.InvalidParams, "path: empty, too long, or with characters that a path must not have"},
	{folder.ErrPrivate, filesystemcode.Denied, "the state of this server, its ledger and keys are not served"},
	{folder.ErrLink, filesystemcode.Denied, "a part of the path is a symbolic link, and writing follows none"},
	{folder.ErrNotRegular, filesystemcode.Denied, "not a regular file"},
	{folder.ErrChanged, filesystemcode.Denied, "the path was replaced during the call"},
	{folder.ErrNotFolder, filesystemcode.NotFound, "a part of the path is not a folder"},
	{fs.ErrNotExist, filesystemcode.NotFound, ""},
	{fs.ErrPermission, filesystemcode.Denied, "the server has no permission"},
	{syscall.ENOTEMPTY, filesystemcode.Denied, "the folder is not empty"},
	{syscall.EROFS, filesystemcode.Denied, "the disk is read-only"},
	{syscall.ENAMETOOLONG, common.InvalidParams, "path: too long for this system"},
	{syscall.ELOOP, filesystemcode.NotFound, "the symbolic links of the path form a loop"},
	{syscall.EISDIR, filesystemcode.Denied, "not a regular file"},
}
