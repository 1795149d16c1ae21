package kaiza

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workspace"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

const pathProperty = `"path":{"type":"string","minLength":1,"maxLength":8192,"description":"Path in the workspace, relative to it."}`

// pathCodes lists the codes of tools that take a path.
var pathCodes = []candor.Code{
	kaizacode.InvalidPath, kaizacode.PathNotFound, kaizacode.PathTraversalBlocked, kaizacode.OutsideWorkspace,
}

// maxReply limits the text of one reply; a longer file is read in pieces. defaultReply is the limit if the call does not
// say how many lines it wants, because the text fills the context of a model.
const (
	maxReply     = 512 << 10
	defaultReply = 64 << 10
)

type readArgs struct {
	Path  string  `json:"path"`
	Line  integer `json:"line"`
	Lines integer `json:"lines"`
}

func (k *System) readTools() []workbench.Tool {
	return []workbench.Tool{
		{
			Name: "read_file", Title: "Read a file", ReadOnly: true, Idempotent: true,
			About: "Read a file of the workspace. The second block holds its hash, which write_file takes as previous_hash.",
			Input: `{` + pathProperty + `,
"line":{"type":"integer","minimum":1,"description":"First line to return. Default 1."},
"lines":{"type":"integer","minimum":1,"maximum":100000,"description":"How many lines to return. Default: as many as fit into 64 KiB."}}`,
			Required: []string{"path"},
			Codes: append([]candor.Code{kaizacode.FileNotFound, kaizacode.FileReadFailed, kaizacode.InsufficientPermissions},
				pathCodes...),
			Run: workbench.Handle(k.read),
		},
		{
			Name: "list_dir", Title: "List a folder", ReadOnly: true, Idempotent: true,
			About: "List a folder of the workspace, with depth also the folders in it; \".\" is the workspace itself.",
			Input: `{` + pathProperty + `,
"depth":{"type":"integer","minimum":1,"maximum":16,"description":"How many levels of folders to list. Default 1."},
"exclude":{"type":"array","maxItems":100,"items":{"type":"string","minLength":1,"maxLength":256},"description":"Globs of names or paths, such as *.log or build/**. A folder that matches is listed without its content, a file is left out. Default: version control and node_modules."}}`,
			Required: []string{"path"},
			Codes:    append([]candor.Code{kaizacode.InsufficientPermissions, kaizacode.FileReadFailed}, pathCodes...),
			Run:      workbench.Handle(k.list),
		},
	}
}

// piece describes the part of a file that read_file returned.
type piece struct {
	Path      string `json:"path"`
	Hash      string `json:"hash"`
	Bytes     int64  `json:"bytes"`
	FirstLine int    `json:"first_line"`
	Lines     int    `json:"lines"`
	Truncated bool   `json:"truncated"`
	Next      string `json:"next,omitempty"`
}

func (k *System) read(_ context.Context, c *workbench.Call, in readArgs) (workbench.Reply, error) {
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	file, err := d.folder.Read(p)
	if err != nil {
		return workbench.Reply{}, err
	}
	shown, about, err := cut(file, in)
	if err != nil {
		return workbench.Reply{}, err
	}
	told, err := reply(about)
	if err != nil {
		return workbench.Reply{}, err
	}
	return workbench.Reply{Text: []string{shown, told.Text[0]}, Data: told.Data}, nil
}

// cut returns the requested part of a file as text.
func cut(file workspace.File, in readArgs) (string, piece, error) {
	about := piece{Path: file.Path.String(), Hash: file.Hash, Bytes: file.Size, FirstLine: int(max(in.Line, 1))}
	if !utf8.Valid(file.Content) {
		return "", about, candor.New(kaizacode.FileReadFailed, about.Path+" is not text.")
	}
	lines := strings.SplitAfter(string(file.Content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	lines = lines[min(about.FirstLine-1, len(lines)):]
	rest := len(lines)
	limit := defaultReply
	if in.Lines > 0 {
		lines, limit = lines[:min(int(in.Lines), len(lines))], maxReply
	}
	var out strings.Builder
	for _, line := range lines {
		if out.Len()+len(line) > limit && (about.Lines > 0 || len(line) > maxReply) {
			break
		}
		out.WriteString(line)
		about.Lines++
	}
	if about.Lines == 0 && rest > 0 {
		return "", about, tooLong(about.Path)
	}
	if about.Truncated = about.Lines < rest; about.Truncated {
		about.Next = fmt.Sprintf("Read on with line %d.", about.FirstLine+about.Lines)
	}
	return out.String(), about, nil
}

func tooLong(path string) error {
	return candor.New(kaizacode.FileReadFailed, fmt.Sprintf("A line of %s is too long for one answer of %d bytes.", path, maxReply))
}

// shown returns a path for a line of text. A path with control or invisible characters is quoted, as git does.
func shown(p workspace.Path) string {
	quoted := strconv.Quote(p.String())
	if quoted[1:len(quoted)-1] == p.String() {
		return p.String()
	}
	return quoted
}

type listArgs struct {
	Path    string   `json:"path"`
	Depth   integer  `json:"depth"`
	Exclude []string `json:"exclude"`
}

// excludedByDefault are folders with many files that are rarely looked at.
var excludedByDefault = []string{".git", ".hg", ".svn", ".jj", "node_modules"}

// excluded reports whether a glob of the arguments matches the name or the path of an item.
func (in *listArgs) excluded(p workspace.Path) bool {
	return slices.ContainsFunc(in.Exclude, func(glob string) bool {
		return doublestar.MatchUnvalidated(glob, p.String()) || doublestar.MatchUnvalidated(glob, path.Base(p.String()))
	})
}

// walk lists a folder and the folders in it down to a depth. It stops at the limit of a listing. A folder that cannot be
// read is listed without its content.
func (in *listArgs) walk(f *workspace.Folder, p workspace.Path, depth int) (found []workspace.Item, more bool, err error) {
	items, more, err := f.List(p)
	found = []workspace.Item{}
	for _, it := range items {
		left := in.excluded(it.Path)
		if left && it.Kind != workspace.KindFolder {
			continue
		}
		if len(found) == workspace.MaxItems {
			return found, true, err
		}
		found = append(found, it)
		if it.Kind != workspace.KindFolder || left || depth <= 1 {
			continue
		}
		below, cut, _ := in.walk(f, it.Path, depth-1)
		remaining := min(len(below), workspace.MaxItems-len(found))
		found, more = append(found, below[:remaining]...), more || cut || remaining < len(below)
	}
	return found, more, err
}

func (k *System) list(_ context.Context, c *workbench.Call, in listArgs) (workbench.Reply, error) {
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	if in.Exclude == nil {
		in.Exclude = excludedByDefault
	}
	found, more, err := in.walk(d.folder, p, int(in.Depth))
	if err != nil {
		return workbench.Reply{}, err
	}
	var lines strings.Builder
	for _, it := range found {
		switch it.Kind {
		case workspace.KindFolder:
			fmt.Fprintf(&lines, "%s/\n", shown(it.Path))
		case workspace.KindFile:
			fmt.Fprintf(&lines, "%s\t%d bytes\n", shown(it.Path), it.Size)
		default:
			fmt.Fprintf(&lines, "%s\t(%s)\n", shown(it.Path), it.Kind)
		}
	}
	if more {
		lines.WriteString("… and more\n")
	}
	return workbench.Reply{Text: []string{lines.String()}, Data: map[string]any{"items": found, "truncated": more}}, nil
}

// integer is a JSON integer in any notation. A schema accepts 5.0 and 5e0, encoding/json does not. Values are clamped to 32 bits.
type integer int

// UnmarshalJSON reads a number that has passed the schema.
func (w *integer) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return err
	}
	*w = integer(max(min(n, math.MaxInt32), math.MinInt32))
	return nil
}
