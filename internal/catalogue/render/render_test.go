package render_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/internal/catalogue/render"
)

const root = "../../.."

func input(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Load(filepath.Join(root, "spec/catalogue.json"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func all(t *testing.T, in *catalogue.Catalogue) render.Files {
	t.Helper()
	files, err := render.All(in)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheTreeHoldsWhatIsGenerated(t *testing.T) {
	files := all(t, input(t))
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		switch {
		case err != nil:
			t.Errorf("%v; run go generate", err)
		case !bytes.Equal(got, want):
			t.Errorf("%s differs from what the catalogue gives; run go generate", name)
		}
	}
	for _, folder := range render.Folders {
		for _, name := range below(t, folder) {
			if files[name] == nil && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s is no longer generated; run go generate", name)
			}
		}
	}
}

func below(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(root), folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(name, "__pycache__") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestEveryCodeHasAPageAndARow(t *testing.T) {
	in := input(t)
	files := all(t, in)
	overview := string(files["docs/codes/README.md"])
	for _, c := range in.Codes {
		page := string(files["docs/codes/"+c.ID()+".md"])
		for _, text := range []string{c.Message, c.Action, c.Note, "`" + c.Class + "`", "`" + c.Retry + "`", `"code": "` + c.Symbol + `"`} {
			if !strings.Contains(page, text) {
				t.Errorf("the page of %s lacks %q", c.ID(), text)
			}
		}
		if !strings.Contains(overview, "]("+c.ID()+".md)") {
			t.Errorf("the overview lacks %s", c.ID())
		}
	}
}

func TestGoNamesFollowTheRule(t *testing.T) {
	c := input(t)
	for id, want := range map[string]string{
		"candor/INTERNAL_ERROR":    "CodeInternalError",
		"kaiza/FILE_NOT_FOUND":     "FileNotFound",
		"playwright/E_PW_NAV":      "Nav",
		"memory-bank/E_MB_READ":    "Read",
		"dual/ERR_NOT_FOUND":       "NotFound",
		"tavily/E_TAVILY_HTTP":     "HTTP",
		"dual/DB_BUSY":             "DBBusy",
		"misc/E_MISC":              "Misc",
		"rate-limit/E_RL_EXCEEDED": "Exceeded",
	} {
		if got := render.GoName(*c.Find(id)); got != want {
			t.Errorf("%s is called %s in Go, not %s", id, got, want)
		}
	}
}
