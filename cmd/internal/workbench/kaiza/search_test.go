package kaiza_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// found returns the paths that a search finds.
func (c *client) found(query args) (paths []string) {
	c.t.Helper()
	a := c.call("search_files", query)
	a.fine()
	for m := range a.m.Result().Path("structuredContent", "matches").Elements() {
		path, _ := m.Path("path").Str()
		paths = append(paths, path)
	}
	return paths
}

// TestGlobsOfSearchFiles searches by file extension, in a folder, and below a folder.
func TestGlobsOfSearchFiles(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, name := range []string{"top.go", "src/a.go", "src/deep/er/b.go", "src/c.txt", "lib/d.go"} {
		p.write(name, "needle\n")
	}
	c := p.start()
	c.begin("WINDSURF")
	for _, q := range []struct {
		query args
		want  string
	}{
		{args{}, "[lib/d.go src/a.go src/c.txt src/deep/er/b.go top.go]"},
		{args{"glob": "*.go"}, "[lib/d.go src/a.go src/deep/er/b.go top.go]"},
		{args{"glob": "src/"}, "[src/a.go src/c.txt src/deep/er/b.go]"},
		{args{"glob": "src/*.go"}, "[src/a.go]"},
		{args{"glob": "./src/**/*.go"}, "[src/a.go src/deep/er/b.go]"},
		{args{"glob": "/*.go"}, "[top.go]"},
		{args{"glob": "{src,lib}/*.go"}, "[lib/d.go src/a.go]"},
		{args{"path": "src/deep"}, "[src/deep/er/b.go]"},
		{args{"path": "src", "glob": "*.txt"}, "[src/c.txt]"},
	} {
		q.query["pattern"] = "needle"
		if got := fmt.Sprint(c.found(q.query)); got != q.want {
			t.Errorf("%v finds %s, not %s", q.query, got, q.want)
		}
	}
	c.call("search_files", args{"pattern": "x", "path": "none"}).is("PATH_NOT_FOUND")
	c.call("search_files", args{"pattern": "x", "path": "../x"}).is("PATH_TRAVERSAL_BLOCKED")
	c.call("search_files", args{"pattern": "x", "path": "/etc"}).is("OUTSIDE_WORKSPACE")
}

// TestCostlyPatternIsRefusedOrReported uses patterns whose cost grows with the line, because a match within a line
// cannot be interrupted.
func TestCostlyPatternIsRefusedOrReported(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.write("src/one-line.js", strings.Repeat("a", 1<<20)+"z\nneedle\n")
	p.write("src/binary", "needle\x00")
	c := p.start()
	c.begin("WINDSURF")
	a := c.call("search_files", args{"pattern": "(a.{500}z|needle)"})
	a.fine()
	if n := string(a.m.Result().Path("structuredContent", "cut_lines").Raw()); n != "1" {
		t.Errorf("that a line was searched in part is not told: %.300s", a.m.Bytes())
	}
	for _, told := range []string{"src/one-line.js:2: needle", "beginning of 1 long lines", "1 files left out"} {
		if text := a.text("content", 0, "text"); !strings.Contains(text, told) {
			t.Errorf("%q is not told: %.300s", told, text)
		}
	}
	if got := c.found(args{"pattern": "z", "literal": true}); len(got) != 1 {
		t.Errorf("a text at the end of a long line is found %d times", len(got))
	}
	for _, costly := range []string{"((.{50}){20}){20}", strings.Repeat(".{900}", 20), strings.Repeat(`\pL{999}`, 9), "(?i)(a{300}|b{300}|c{300}|d{300}|e{300}|f{300}|g{300}|h{300})"} {
		c.call("search_files", args{"pattern": costly}).is("INVALID_INPUT_VALUE")
	}
}

// TestFileNamesCannotForgeLines lists and finds files whose names contain line ends and terminal escape sequences.
func TestFileNamesCannotForgeLines(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	files := 2 // including the folder src
	for _, name := range []string{"a\nforged.txt\t9 bytes", "b\x1b[2J", "c\u202e", "d\xff"} {
		if os.WriteFile(filepath.Join(p.work, name), []byte("needle\n"), 0o600) == nil { // some systems refuse such names
			files++
		}
	}
	p.write("plain ü.txt", "needle\n")
	c := p.start()
	c.begin("WINDSURF")
	for tool, lines := range map[string]int{"list_dir": files, "search_files": files} {
		a := c.call(tool, map[string]args{"list_dir": {"path": "."}, "search_files": {"pattern": "needle"}}[tool])
		a.fine()
		text := strings.TrimSuffix(a.text("content", 0, "text"), "\n")
		if got := strings.Split(text, "\n"); len(got) != lines || strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, "\nplain ü.txt") {
			t.Errorf("%s says %q", tool, text)
		}
	}
}

// TestAFileOfAnyLinesIsReadInPieces reads files without line ends, text and binary, that are larger than one reply, and
// joins the pieces.
func TestAFileOfAnyLinesIsReadInPieces(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	line, binary := "x"+strings.Repeat("日本", 200<<10), strings.Repeat("\x00\xff\x80", 300<<10)
	p.write("src/line.js", line)
	p.write("src/binary", binary)
	c := p.start()
	c.begin("WINDSURF")
	c.call("read_file", args{"path": "src/line.js"}).is("FILE_READ_FAILED")
	for _, file := range []struct{ name, encoding, want string }{{"src/line.js", "utf-8", line}, {"src/binary", "base64", binary}} {
		var got strings.Builder
		for next, more := json.Number("0"), true; more; {
			a := c.call("read_file", args{"path": file.name, "encoding": file.encoding, "offset": next})
			a.fine()
			text := a.text("content", 0, "text")
			if file.encoding == "base64" {
				bytes, _ := base64.StdEncoding.DecodeString(text)
				text = string(bytes)
			}
			got.WriteString(text)
			next = json.Number(a.m.Result().Path("structuredContent", "next_offset").Raw())
			more, _ = a.m.Result().Path("structuredContent", "truncated").Bool()
		}
		if got.String() != file.want {
			t.Errorf("%s: %d bytes of %d came together", file.name, got.Len(), len(file.want))
		}
	}
	c.call("read_file", args{"path": "src/line.js", "offset": 2}).is("FILE_READ_FAILED")
	c.call("read_file", args{"path": "src/line.js", "offset": -1}).is("INVALID_INPUT_VALUE")
	c.call("read_file", args{"path": "src/line.js", "offset": 1 << 40}).fine()
}

// TestAFileIsReadByLinesOrByBytes checks that arguments for both ways of reading are refused.
func TestAFileIsReadByLinesOrByBytes(t *testing.T) {
	t.Parallel()
	c := newEnv(t).start()
	c.begin("WINDSURF")
	for _, q := range []struct {
		query args
		told  []string
	}{
		{args{"line": 2, "offset": 0}, []string{"line", "offset"}},
		{args{"lines": 1, "offset": 3}, []string{"lines", "offset"}},
		{args{"line": 2, "encoding": "base64"}, []string{"line", "base64", "offset"}},
	} {
		q.query["path"] = "src/hello.txt"
		a := c.call("read_file", q.query)
		a.is("INVALID_INPUT_VALUE")
		for _, word := range q.told {
			if !strings.Contains(a.text("content", 0, "text"), word) {
				t.Errorf("%v does not tell of %s: %.300s", q.query, word, a.m.Bytes())
			}
		}
	}
	for want, query := range map[string]args{"world\n": {"line": 2, "lines": 1}, "lo\nworld\n": {"offset": 3}, "d29ybGQK": {"offset": 6, "encoding": "base64"}} {
		query["path"] = "src/hello.txt"
		if got := c.call("read_file", query).text("content", 0, "text"); got != want {
			t.Errorf("%v reads %q, not %q", query, got, want)
		}
	}
}
