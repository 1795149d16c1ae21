package patch_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/patch"
	"github.com/candor-mcp/candor/codes/kaiza"
)

const simple = "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"

func TestPatchesMakeTheFileTheyDescribe(t *testing.T) {
	for name, c := range map[string]struct {
		text, old, want string
		file            string
		kind            patch.Kind
	}{
		"plain":               {simple, "one\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n", "f.txt", patch.Change},
		"no last line end":    {strings.TrimSuffix(simple, "\n"), "one\ntwo\nthree\n", "one\nTWO\nthree\n", "f.txt", patch.Change},
		"no prefix":           {"--- d/f\n+++ d/f\n@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n", "d/f", patch.Change},
		"only one prefix":     {"--- a/f\n+++ a/f\n@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n", "a/f", patch.Change},
		"times":               {"--- f\t2026-01-02 03:04:05.000000000 +0100\n+++ f\t2026-01-02 03:04:06 +0100\n@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n", "f", patch.Change},
		"git":                 {"diff --git a/d/f b/d/f\nindex 123..456 100644\n--- a/d/f\n+++ b/d/f\n@@ -1 +1,2 @@ func x()\n a\n+b\n", "a\n", "a\nb\n", "d/f", patch.Change},
		"git without them":    {"diff --git d/f d/f\nindex 123..456 100644\n--- d/f\n+++ d/f\n@@ -1 +1,2 @@\n a\n+b\n", "a\n", "a\nb\n", "d/f", patch.Change},
		"quoted":              {"--- \"a/\\303\\251 x\"\n+++ \"b/\\303\\251 x\"\n@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n", "é x", patch.Change},
		"create":              {"--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n", "", "a\nb\n", "new", patch.Create},
		"create by git":       {"diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", "", "a\n", "n", patch.Create},
		"create without them": {"diff --git b/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", "", "a\n", "b/n", patch.Create},
		"create empty":        {"diff --git a/d/n b/d/n\nnew file mode 100644\nindex 0000000..e69de29\n", "", "", "d/n", patch.Create},
		"delete":              {"--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", "a\nb\n", "", "f", patch.Delete},
		"end taken away":      {"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a\n", "a", "f", patch.Change},
		"end added":           {"--- f\n+++ f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a", "a\n", "f", patch.Change},
		"two hunks":           {"--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+x\n@@ -3 +4 @@\n-c\n+C\n", "a\nb\nc\n", "a\nx\nb\nC\n", "f", patch.Change},
		"minus signs":         {"--- f\n+++ f\n@@ -1,2 +1,1 @@\n--- x\n a\n", "-- x\na\n", "a\n", "f", patch.Change},
		"stripped blank":      {"--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+b\n\n c\n", "a\n\nc\n", "b\n\nc\n", "f", patch.Change},
		"CR LF in the file":   {"--- f\n+++ f\n@@ -1 +1 @@\n-a\r\n+b\r\n", "a\r\n", "b\r\n", "f", patch.Change},
		"mail":                {"From: x\nSubject: y\n\n---\n f | 2 +-\n\n" + simple + "-- \n2.39\n", "one\ntwo\nthree\n", "one\nTWO\nthree\n", "f.txt", patch.Change},
	} {
		files, err := patch.Parse([]byte(c.text))
		if err != nil || len(files) != 1 {
			t.Errorf("%s: %v, %d files", name, err, len(files))
			continue
		}
		if files[0].Name() != c.file || files[0].Kind != c.kind {
			t.Errorf("%s: %+v", name, files[0])
		}
		got, err := files[0].Apply([]byte(c.old))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestInvalidPatchIsRefusedWithAdvice(t *testing.T) {
	head := "--- a/f\n+++ b/f\n"
	git := "diff --git a/f b/f\n"
	for text, want := range map[string]string{
		"":                                                  "it is empty",
		"```diff\n" + simple + "```\n":                      "Markdown fence",
		simple + "```\n":                                    "Markdown fence",
		"*** Begin Patch\n*** End Patch\n":                  "Begin Patch",
		"*** f\n--- f\n***************\n":                   "context diff",
		"<<<<<<< SEARCH\na\n=======\nb\n":                   "search",
		"hello\n":                                           "names no file",
		"@@ -1 +1 @@\n-a\n+b\n":                             "line 1: a hunk comes before the names",
		head + "-a\n+b\n":                                   "line 3: the names of the file are not followed",
		head + "@@\n-a\n+b\n":                               "line 3: the hunks cannot be read: a header has no line numbers",
		head + "@@ -1,2 +1,2 @@\n-a\n+b\n":                  "line 4: the hunks cannot be read: fragment header miscounts lines: -1 old, -1 new",
		head + "@@ -1 +1 @@\n-a\n+b\n+c\n":                  "line 6: there are more lines than the header of hunk 1 counts",
		head + "@@ -1 +1,2 @@\n-a\n c\n":                    "line 3: the hunks cannot be read: fragment header miscounts lines: +1 old, -1 new",
		head + "@@ -1 +1 @@\n-a\n*b\n":                      "line 5: the hunks cannot be read: invalid line operation: '*'",
		head + "@@ -1 +1 @@\n a\n":                          "line 5: the hunks cannot be read: fragment contains no changes",
		head + "@@ -1,0 +2 @@\n+a\n":                        "without any context",
		head + "@@ -0,1 +1 @@\n-a\n+b\n":                    "before the end",
		head + "@@ -99999999999999999999 +1 @@\n-a\n+b\n":   "no line numbers",
		head + "@@ --1,1 +1 @@\n-a\n+b\n":                   "line 3: the line numbers of hunk 1 are out of range",
		head + "@@ -5 +5 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n": "hunk 2 begins at line 1",
		head + "@@ -1 +1 @@\n-a\n+b\nthat was it\n":         "line 6: the line belongs to no file",
		head + "@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n":                               "said to end the file",
		head + "@@ -1,2 +1,2 @@\n\\ No newline at end of file\n-a\n+b\n\n":                               "said to end the file",
		head + "@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n\\ No newline at end of file\n+b\n\n": "said to end the file",
		strings.Replace(simple, "\n", "\r\n", 2):                                                         "CR LF",
		simple + simple:                                                                                  "line 8: the same file is named twice",
		"--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n":                                                        "differ",
		"--- foo\n+++ foobar\n@@ -1 +1 @@\n-a\n+b\n":                                                     "differ",
		"--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+b\n":                                              "both names are /dev/null",
		"--- /dev/null\n+++ b/\n@@ -0,0 +1 @@\n+b\n":                                                     "the file has no name",
		"--- /dev/null\n+++ f\n@@ -1 +1 @@\n-a\n+b\n":                                                    "hunk 1 creates a file",
		"--- f\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n":                                                    "hunk 1 deletes a file",
		"--- f\nx\n": "not followed by one with +++",
		git + "similarity index 90%\nrename from f\nrename to g\n":                "cannot rename",
		git + "copy from f\ncopy to g\n":                                          "cannot copy",
		git + "index 1..2\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n":       "binary",
		git + "index 1..2\nBinary files a/f and b/f differ\n":                     "binary",
		git + "old mode 100644\nnew mode 100755\n":                                "mode",
		git + "new file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n": "mode",
		git + "new file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n": "symbolic link",
		git + "index 1..2 120000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n":        "symbolic link",
		git + "index 1..2 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n":        "submodule",
		git + "index 1..2 100644\n":                                               "nothing is changed",
		"diff --git a/f b/g\nnew file mode 100644\n":                              "differ",
		"diff --cc f\n":                       "merge",
		strings.Repeat("x", patch.MaxBytes+1): "larger than",
	} {
		files, err := patch.Parse([]byte(text))
		e, ok := errors.AsType[*candor.Error](err)
		if !ok || e.Code() != kaiza.PatchInvalid || files != nil || !strings.Contains(e.Message(), want) || e.Suggestion() == "" || e.Validate() != nil {
			t.Errorf("%.60q: %v, wanted %q (%d files)", text, err, want, len(files))
		}
	}
}

func TestBoundsHold(t *testing.T) {
	var many, deep strings.Builder
	for i := range patch.MaxFiles + 1 {
		fmt.Fprintf(&many, "--- f%d\n+++ f%d\n@@ -1 +1 @@\n-a\n+b\n", i, i)
	}
	deep.WriteString("--- f\n+++ f\n")
	for i := range patch.MaxHunks + 1 {
		fmt.Fprintf(&deep, "@@ -%d +%d @@\n-a\n+b\n", i+1, i+1)
	}
	for _, text := range []string{many.String(), deep.String()} {
		if _, err := patch.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Error(err)
		}
	}
	file := parse(t, "--- f\n+++ f\n@@ -1 +1,2 @@\n a\n+"+strings.Repeat("x", 1000)+"\n")
	if _, err := file.Apply([]byte("a\n" + strings.Repeat("y", patch.MaxResult-100))); err == nil {
		t.Error("a file may grow without bound")
	}
	if _, err := file.Apply(make([]byte, patch.MaxResult+1)); err == nil {
		t.Error("a file may be of any size")
	}
}

func parse(t *testing.T, text string) patch.File {
	t.Helper()
	files, err := patch.Parse([]byte(text))
	if err != nil || len(files) != 1 {
		t.Fatal(err, len(files))
	}
	return files[0]
}

func TestPatchApplyErrorNamesTheLine(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, c := range map[string]struct{ text, old, want, details string }{
		"elsewhere":      {simple, "zero\none\ntwo\nthree\n", "hunk 1 says line 1, but its lines are at line 2", `"actual_line":2`},
		"other content":  {simple, "one\n" + secret + "\nthree\n", "hunk 1 does not match at line 2", `"line":2`},
		"too short":      {simple, "one\ntwo\n", "hunk 1 needs line 3, and it has 2 lines", `"actual_lines":2`},
		"there already":  {"--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n", "x\n", "creates it, and it is there", `"file":"f"`},
		"more to delete": {"--- f\n+++ /dev/null\n@@ -1 +1,0 @@\n-a\n", "a\nb\n", "deletes 1 lines, and it has 2", `"file":"f"`},
		"goes on":        {"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n", "a\nb\n", "is said to end it at line 1", `"hunk":1`},
		"second hunk":    {"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-x\n+y\n", "a\nb\n", "hunk 2 does not match at line 2", `"hunk":2`},
	} {
		got, err := parse(t, c.text).Apply([]byte(c.old))
		e, ok := errors.AsType[*candor.Error](err)
		if !ok || got != nil || e.Code() != kaiza.PatchApplyFailed || !strings.Contains(e.Message(), c.want) || !strings.Contains(e.Details().String(), c.details) {
			t.Errorf("%s: %v %v", name, err, e.Details())
		}
		if text, _ := e.MarshalJSON(); bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s tells what the file holds: %s", name, text)
		}
	}
}

func FuzzParseAndApply(f *testing.F) {
	for _, text := range []string{
		simple, "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "diff --git a/n b/n\nnew file mode 100644\n",
		"--- f\n+++ f\n@@ -3 +3 @@\n-three\n+three\n\\ No newline at end of file\n", "--- \"a/\\303\n+++ \"\n@@ -1 +1 @@\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n\\ No newline\n-a\n",
	} {
		f.Add([]byte(text), []byte("one\ntwo\nthree\n"))
	}
	f.Fuzz(func(t *testing.T, text, old []byte) {
		files, err := patch.Parse(text)
		if e, ok := errors.AsType[*candor.Error](err); err != nil && (!ok || e.Code() != kaiza.PatchInvalid) {
			t.Fatal(err)
		}
		for _, file := range files {
			out, err := file.Apply(old)
			if e, ok := errors.AsType[*candor.Error](err); err != nil && (!ok || e.Code() != kaiza.PatchApplyFailed) {
				t.Fatal(err)
			}
			if err == nil && file.Kind != patch.Delete && bytes.Count(out, []byte("\n")) > bytes.Count(old, []byte("\n"))+file.Added+1 {
				t.Fatalf("more lines than were added: %q", out)
			}
			if file.Name() == "" {
				t.Fatal("no name")
			}
		}
	})
}
