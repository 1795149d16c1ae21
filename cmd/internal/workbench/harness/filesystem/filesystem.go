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
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/texts"
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

func checkGlobs(v *domain.Variables, name string, globs []string) {
	if slices.ContainsFunc(globs, func(glob string) bool { return !validGlob(glob) }) {
		v.Fail(name, "relative patterns with slashes, such as out/**, separated by commas")
	}
}

func validGlob(glob string) bool {
	return doublestar.ValidatePattern(glob) && !strings.HasPrefix(glob, "/") && !slices.Contains(strings.Split(glob, "/"), "..")
}

// files implements the methods of the domain below one root.
type files struct {
	folder   *folder.Lazy
	globs    []string
	maxBytes int  // of one write
	parents  bool // writing creates missing folders
}

// Open returns the domain. MCP_FS_ROOT names an existing directory; the default is one below the state directory, which the first call
// creates. MCP_FS_WRITE_GLOBS lists the patterns of the paths that may be written, such as "out/**", by default none, and MCP_FS_MAX_BYTES
// limits one write.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv, Private: env.Private}
	f := &files{
		folder: &folder.Lazy{Path: v.Folder("MCP_FS_ROOT"), Private: env.Private}, globs: v.List("MCP_FS_WRITE_GLOBS"),
		maxBytes: v.Number("MCP_FS_MAX_BYTES", defaultMaxBytes, 1, maxMaxBytes),
	}
	if f.folder.Path == "" {
		f.folder.Path, f.folder.Create = filepath.Join(env.State, "files"), true
	}
	checkGlobs(&v, "MCP_FS_WRITE_GLOBS", f.globs)
	return domain.Domain{
		Name:    Name,
		About:   "Read and write files below one folder.",
		Methods: f.methods(),
		Health:  f.health,
		Close:   f.folder.Close,
		Read:    f.give,
	}, v.Err
}

func (f *files) health(context.Context) domain.Health {
	if err := f.folder.Check(); err != nil {
		return domain.Health{Details: "the root folder cannot be used; set MCP_FS_ROOT to an existing folder"}
	}
	return domain.Health{OK: true}
}

var (
	reading      = []candor.Code{filesystemcode.PathEscape, filesystemcode.Denied, filesystemcode.NotFound}
	writingCodes = append(slices.Clone(reading), candor.CodeDiskFull)
)

func (f *files) methods() []domain.Method {
	const path = `"path":{"type":"string","description":"relative to the root, with slashes"}`
	writing := writingCodes
	required := []string{"path"}
	return append([]domain.Method{
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
			Name: "fs/search", About: "Find the lines that contain a text, ignoring case, in the text files below a folder; or, without q, the files whose names match glob.",
			Input: fmt.Sprintf(`{"q":{"type":"string","description":"text to find, at most %d characters"},"path":{"type":"string","description":"folder, the root by default"},`+
				`"glob":{"type":"string","minLength":1,"maxLength":1000,"description":"pattern below path, such as **/*.md"},"cursor":{"type":"string","maxLength":4200,"description":"nextCursor of the previous answer"},`+
				`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"most results, 100 by default"}}`, texts.MaxQuery, texts.MaxResults),
			Codes: append(slices.Clone(reading), common.InputTooLarge), ReadOnly: true, Idempotent: true, Run: domain.Bind(f.search),
		},
		{
			Name: "fs/mkdir", About: "Create a folder and the folders above it. One that is there is left as it is.",
			Input: `{` + path + `}`, Required: required, Codes: writing, Idempotent: true, Run: domain.Bind(f.mkdir),
		},
		{
			Name: "fs/delete", About: "Delete a file or an empty folder.",
			Input: `{` + path + `}`, Required: required, Codes: writing, Destructive: true, Run: domain.Bind(f.remove),
		},
	}, f.writing("fs", "path", writing)...)
}

// Writing returns the methods that write the files of a folder below prefix, for another domain. The name of a file is the parameter name.
// Their errors are those of this domain. They create missing folders.
func Writing(folder *folder.Lazy, v *domain.Variables, variable string, globs []string, prefix, name string) []domain.Method {
	checkGlobs(v, variable, globs)
	return (&files{folder: folder, globs: globs, maxBytes: defaultMaxBytes, parents: true}).writing(prefix, name, writingCodes)
}

// writing returns the methods that write whole files.
func (f *files) writing(prefix, name string, codes []candor.Code) []domain.Method {
	file := `"` + name + `":{"type":"string","description":"relative to the root, with slashes"}`
	codes = append(slices.Clone(codes), filesystemcode.WriteTooLarge)
	return []domain.Method{
		{
			Name: prefix + "/write", About: "Write a whole file. Readers see the old content or the new one, never a mixture.",
			Input:    `{` + file + `,"content":{"type":"string"},"encoding":{"enum":["utf-8","base64"],"description":"of content, utf-8 by default"}}`,
			Required: []string{name, "content"}, Codes: codes, Idempotent: true, Destructive: true, Run: domain.Bind(f.write),
		},
		{
			Name: prefix + "/edit", About: "Replace texts in a text file. Each old text must occur exactly once. All edits are made, or none.",
			Input: `{` + file + `,"edits":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","required":["old","new"],"additionalProperties":false,` +
				`"properties":{"old":{"type":"string","minLength":1},"new":{"type":"string"}}}},"dryRun":{"type":"boolean","description":"whether to check the edits only"}}`,
			Required: []string{name, "edits"}, Codes: codes, Destructive: true, Run: domain.Bind(f.edit),
		},
		{
			Name: prefix + "/move", About: "Give a file another name. A file that is there is not replaced.",
			Input:    `{"from":{"type":"string"},"to":{"type":"string"}}`,
			Required: []string{"from", "to"}, Codes: codes, Destructive: true, Run: domain.Bind(f.move),
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

// mayWrite returns nil if a pattern allows writing to a path. The pattern out/** allows the folder out, and not a file of this name, which
// would take its place.
func (f *files) mayWrite(name string, folder bool) error {
	for _, glob := range f.globs {
		if name != "." && doublestar.MatchUnvalidated(glob, name) && (folder || !doublestar.MatchUnvalidated(strings.TrimSuffix(glob, "/**"), name) || !strings.HasSuffix(glob, "/**")) {
			return nil
		}
	}
	if len(f.globs) == 0 {
		return domain.Fail(filesystemcode.Denied, "this server allows no writing", nil, candor.WithSuggestion("Ask the operator to allow writing, or continue without it."))
	}
	return domain.Fail(filesystemcode.Denied, "the path matches none of the patterns "+strings.Join(f.globs, ", "), nil)
}

// explain converts an error of the file system to one with a code and without the system's text. An error that is not listed is
// sent to the client as INTERNAL_ERROR.
func explain(err error) error {
	for _, e := range explanations {
		if errors.Is(err, e.is) {
			return domain.Fail(e.code, e.details, err, candor.WithSuggestion(e.next))
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
	next    string // "" for the suggestion of the code
}{
	{folder.ErrEscape, filesystemcode.PathEscape, "", ""},
	{folder.ErrMalformed, common.InvalidParams, "path: empty, too long, or with characters that a path must not have", ""},
	{folder.ErrPrivate, filesystemcode.Denied, "the state of this server, its ledger and keys are not served", "Choose a path outside of these folders."},
	{folder.ErrLink, filesystemcode.Denied, "a part of the path is a symbolic link, and writing follows none", "Choose a path without symbolic links; fs/stat shows them."},
	{folder.ErrNotRegular, filesystemcode.Denied, "not a regular file", "Choose a file; fs/stat shows what is at a path."},
	{folder.ErrChanged, filesystemcode.Denied, "the path was replaced during the call", "Look at the path with fs/stat before the next call."},
	{folder.ErrNotFolder, filesystemcode.NotFound, "a part of the path is not a folder", "Choose a path whose folders exist; fs/stat shows what is at a path."},
	{fs.ErrNotExist, filesystemcode.NotFound, "", ""},
	{fs.ErrPermission, filesystemcode.Denied, "the server has no permission", "Choose another path, or ask the operator for the permission."},
	{syscall.ENOTEMPTY, filesystemcode.Denied, "the folder is not empty", "List the folder with fs/list and delete its entries first."},
	{syscall.EROFS, filesystemcode.Denied, "the disk is read-only", "Tell the operator."},
	{syscall.ENAMETOOLONG, common.InvalidParams, "path: too long for this system", ""},
	{syscall.ELOOP, filesystemcode.NotFound, "the symbolic links of the path form a loop", ""},
	{syscall.EISDIR, filesystemcode.Denied, "not a regular file", "Choose a file; fs/stat shows what is at a path."},
	{texts.ErrTooLarge, common.LimitExceeded, fmt.Sprintf("the file has more than %d bytes, too many to edit", texts.MaxFile), "Write the whole file instead, or work on a smaller one."},
	{texts.ErrNotText, filesystemcode.Denied, "the file is not valid UTF-8", "Write the whole file instead, with encoding base64."},
}
