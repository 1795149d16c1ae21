package kaiza

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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

// maxReply limits the text of one reply; a longer file is read in pieces.
const maxReply = 512 << 10

type readArgs struct {
	Path     string   `json:"path"`
	Line     integer  `json:"line"`
	Lines    integer  `json:"lines"`
	Offset   *integer `json:"offset"`
	Encoding string   `json:"encoding"`
}

func (k *System) readFile() workbench.Tool {
	return workbench.Tool{
		Name: "read_file", Title: "Read a file", ReadOnly: true, Idempotent: true,
		About: "Read a file of the workspace. The second block holds its hash, which write_file takes as previous_hash.",
		Input: `{` + pathProperty + `,
"line":{"type":"integer","minimum":1,"description":"First line to return. Default 1."},
"lines":{"type":"integer","minimum":1,"maximum":100000,"description":"How many lines to return. Default: all that fit."},
"offset":{"type":"integer","minimum":0,"description":"First byte to return, instead of line and lines: for base64 and for long lines. next_offset in an answer leads on."},
"encoding":{"type":"string","enum":["utf-8","base64"],"description":"base64 for files that are not text. Default utf-8."}}`,
		Required: []string{"path"},
		Codes: append([]candor.Code{kaizacode.FileNotFound, kaizacode.FileReadFailed, kaizacode.InsufficientPermissions},
			pathCodes...),
		Run: workbench.Handle(k.read),
	}
}

// piece describes the part of a file that read_file returned.
type piece struct {
	Path      string `json:"path"`
	Hash      string `json:"hash"`
	Bytes     int64  `json:"bytes"`
	FirstLine int    `json:"first_line,omitempty"`
	Lines     int    `json:"lines"`
	Truncated bool   `json:"truncated"`
	Next      int    `json:"next_offset,omitempty"` // offset of the remainder, when reading by bytes
}

func (k *System) read(_ context.Context, c *workbench.Call, in readArgs) (workbench.Reply, error) {
	if err := in.check(); err != nil {
		return workbench.Reply{}, err
	}
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

// check refuses arguments for both lines and bytes.
func (in *readArgs) check() error {
	switch lines := in.Line > 0 || in.Lines > 0; {
	case lines && in.Offset != nil:
		return wrongValue("/offset", "give either line and lines, or offset")
	case lines && in.Encoding == "base64":
		return wrongValue("/encoding", "with base64 give offset, not line or lines")
	default:
		return nil
	}
}

// cut returns the requested part of a file as text.
func cut(file workspace.File, in readArgs) (string, piece, error) {
	about := piece{Path: file.Path.String(), Hash: file.Hash, Bytes: file.Size, FirstLine: int(max(in.Line, 1))}
	if in.Encoding == "base64" || in.Offset != nil {
		return cutBytes(file.Content, in, about)
	}
	if !utf8.Valid(file.Content) {
		return "", about, candor.New(kaizacode.FileReadFailed, about.Path+" is not text.", candor.WithSuggestion("Read it with encoding base64."))
	}
	lines := strings.SplitAfter(string(file.Content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	lines = lines[min(about.FirstLine-1, len(lines)):]
	rest := len(lines)
	if in.Lines > 0 {
		lines = lines[:min(int(in.Lines), len(lines))]
	}
	var out strings.Builder
	for _, line := range lines {
		if out.Len()+len(line) > maxReply {
			break
		}
		out.WriteString(line)
		about.Lines++
	}
	if about.Lines == 0 && rest > 0 {
		return "", about, tooLong(about.Path)
	}
	about.Truncated = about.Lines < rest
	return out.String(), about, nil
}

func tooLong(path string) error {
	return candor.New(kaizacode.FileReadFailed, fmt.Sprintf("A line of %s is too long for one answer of %d bytes.", path, maxReply),
		candor.WithSuggestion("Read the file in pieces, with offset 0 and then the next_offset of each answer, or search in it with search_files."))
}

// cutBytes returns a part of a file by byte offset. It does not split a character of text.
func cutBytes(content []byte, in readArgs, about piece) (string, piece, error) {
	begin := 0
	if in.Offset != nil {
		begin = min(int(*in.Offset), len(content))
	}
	end := min(begin+maxReply, len(content))
	about.FirstLine = 0
	if in.Encoding != "base64" {
		for back := 0; end < len(content) && back < utf8.UTFMax && !utf8.RuneStart(content[end]); back++ {
			end--
		}
		if !utf8.Valid(content[begin:end]) {
			return "", about, candor.New(kaizacode.FileReadFailed, about.Path+" is not text from this offset on.",
				candor.WithSuggestion("Begin where a character does, at 0 or at the next_offset of an answer, or read it with encoding base64."))
		}
	}
	if about.Truncated = end < len(content); about.Truncated {
		about.Next = end
	}
	if in.Encoding == "base64" {
		return base64.StdEncoding.EncodeToString(content[begin:end]), about, nil
	}
	return string(content[begin:end]), about, nil
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
	Path  string  `json:"path"`
	Depth integer `json:"depth"`
}

func (k *System) listDir() workbench.Tool {
	return workbench.Tool{
		Name: "list_dir", Title: "List a folder", ReadOnly: true, Idempotent: true,
		About: "List a folder of the workspace; \".\" is the workspace itself.",
		Input: `{` + pathProperty + `,
"depth":{"type":"integer","minimum":1,"maximum":4,"description":"How many levels to list. Default 1."}}`,
		Required: []string{"path"},
		Codes:    append([]candor.Code{kaizacode.InsufficientPermissions, kaizacode.FileReadFailed}, pathCodes...),
		Run:      workbench.Handle(k.list),
	}
}

func (k *System) list(_ context.Context, c *workbench.Call, in listArgs) (workbench.Reply, error) {
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	found, more, err := d.folder.List(p, int(max(in.Depth, 1)))
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
		lines.WriteString("… and more; list a folder below this one\n")
	}
	return workbench.Reply{Text: []string{lines.String()}, Data: map[string]any{"items": found, "truncated": more}}, nil
}

type searchArgs struct {
	Path    string  `json:"path"`
	Pattern string  `json:"pattern"`
	Literal bool    `json:"literal"`
	Glob    string  `json:"glob"`
	Max     integer `json:"max_matches"`
}

// searchTime limits a search; matches found by then are returned.
const searchTime = 10 * time.Second

func (k *System) searchFiles() workbench.Tool {
	return workbench.Tool{
		Name: "search_files", Title: "Search in files", ReadOnly: true, Idempotent: true,
		About: "Find lines in the files of the workspace by a regular expression (RE2), or literally.",
		Input: `{"pattern":{"type":"string","minLength":1,"maxLength":1024},
"literal":{"type":"boolean","description":"Take the pattern as plain text."},
"path":{"type":"string","minLength":1,"maxLength":8192,"description":"Only below this folder. Default the whole workspace."},
"glob":{"type":"string","maxLength":256,"description":"Only files that match, as in src/**/*.go. Without a slash, as in *.go, it is of names in any folder."},
"max_matches":{"type":"integer","minimum":1,"maximum":1000,"description":"Default 100."}}`,
		Required: []string{"pattern"},
		Codes:    append([]candor.Code{kaizacode.FileReadFailed, kaizacode.InsufficientPermissions}, pathCodes...),
		Run:      workbench.Handle(k.search),
	}
}

func (k *System) search(ctx context.Context, c *workbench.Call, in searchArgs) (workbench.Reply, error) {
	if in.Path == "" {
		in.Path = "."
	}
	d, p, err := k.named(c, in.Path)
	if err != nil {
		return workbench.Reply{}, err
	}
	if in.Max == 0 {
		in.Max = 100
	}
	within, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	found, err := d.folder.Search(within, workspace.Query{Pattern: in.Pattern, Literal: in.Literal, Glob: in.Glob, In: p, MaxMatches: int(in.Max)})
	if err != nil {
		return workbench.Reply{}, err
	}
	var lines strings.Builder
	for _, m := range found.Found {
		fmt.Fprintf(&lines, "%s:%d: %s\n", shown(m.Path), m.Line, m.Text)
	}
	lines.WriteString(searched(found))
	return workbench.Reply{Text: []string{lines.String()}, Data: map[string]any{
		"matches": found.Found, "files": found.Files, "skipped": found.Skipped, "cut_lines": found.Cut, "stopped": found.Stopped}}, nil
}

// searched describes the extent of a search and the files that were not searched.
func searched(m workspace.Matches) string {
	text := fmt.Sprintf("%d matches in %d files", len(m.Found), m.Files)
	if m.Skipped > 0 {
		text += fmt.Sprintf("; %d files left out: binary, too large, with a second name or not readable", m.Skipped)
	}
	if m.Cut > 0 {
		text += fmt.Sprintf("; only the beginning of %d long lines was searched", m.Cut)
	}
	if m.Stopped != "" {
		text += "; stopped by the limit of " + m.Stopped + ", so there may be more: narrow it with path or glob"
	}
	return text
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
