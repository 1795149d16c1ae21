package shape_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/candor-mcp/candor/internal/shape"
)

// Every rule is shown a small tree with one planted fault and must name it, and the same tree
// without the fault and must be silent.

const sdk = "github.com/modelcontextprotocol/go-sdk/mcp"

// goFile returns a source file of the given imports, each used once as written ("time.Now").
func goFile(pkg, body string, imports ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", pkg)
	for _, i := range imports {
		fmt.Fprintf(&b, "import %q\n", i)
	}
	return b.String() + body + "\n"
}

func tree(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// expect compares the violations with the one that was planted; want "" means none.
func expect(t *testing.T, found []shape.Violation, want string) {
	t.Helper()
	if want == "" {
		if len(found) != 0 {
			t.Errorf("false alarm: %v", found)
		}
		return
	}
	if len(found) != 1 {
		t.Fatalf("got %d violations, want 1 that says %q: %v", len(found), want, found)
	}
	if !strings.Contains(found[0].String(), want) {
		t.Errorf("got %s\nwant it to say %q", found[0], want)
	}
	if found[0].Reason == "" {
		t.Error("the violation gives no reason")
	}
}

// One table: each row is a tree that breaks one direction of the import table.
func TestPlantedImport(t *testing.T) {
	own := func(dir string) string { return module + "/" + dir }
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"root imports an outside module": {
			map[string]string{"a.go": goFile("candor", "", "github.com/spf13/cobra")},
			"outside module is imported: candor → github.com/spf13/cobra"},
		"root imports wire": {
			map[string]string{"a.go": goFile("candor", "", own("wire")), "wire/a.go": goFile("wire", "")},
			"forbidden import candor → " + own("wire")},
		"root imports os": {
			map[string]string{"a.go": goFile("candor", "", "os/exec")},
			"os/exec, which does I/O"},
		"root uses more of net than its types": {
			map[string]string{"a.go": goFile("candor", "var _ net.Error; var _ = net.Dial", "net")},
			"uses net.Dial; only Error"},
		"root writes a log": {
			map[string]string{"a.go": goFile("candor", "var _ slog.Value; var _ = slog.Info", "log/slog")},
			"uses log/slog.Info"},
		"root makes a system call": {
			map[string]string{"a.go": goFile("candor", "var _ = syscall.EIO; var _ = syscall.Exec", "syscall")},
			"uses syscall.Exec"},
		"root reads the clock through internal": {
			map[string]string{
				"a.go":            goFile("candor", "", own("internal/x")),
				"internal/x/a.go": goFile("x", "var _ = time.Now", "time")},
			"uses time.Now (candor → internal/x)"},
		"root reaches a module through internal": {
			map[string]string{
				"a.go":            goFile("candor", "", own("internal/x")),
				"internal/x/a.go": goFile("x", "", "golang.org/x/text/width")},
			"candor → internal/x → golang.org/x/text/width"},
		"wire is random": {
			map[string]string{"wire/a.go": goFile("wire", "", "math/rand/v2")},
			"math/rand/v2, which is random"},
		"wire imports candor": {
			map[string]string{"wire/a.go": goFile("wire", "", module), "a.go": goFile("candor", "")},
			"forbidden import wire → " + module},
		"dialect imports contract": {
			map[string]string{"dialect/a.go": goFile("dialect", "", own("contract")), "contract/a.go": goFile("contract", "")},
			"forbidden import dialect → " + own("contract")},
		"contract logs": {
			map[string]string{"contract/a.go": goFile("contract", "", "log/slog")},
			"log/slog, which writes a log"},
		"contract prints": {
			map[string]string{"contract/a.go": goFile("contract", `func f() { fmt.Println("x") }`, "fmt")},
			"uses fmt.Println"},
		"contract starts a goroutine": {
			map[string]string{"contract/a.go": goFile("contract", `func f() { go f() }`)},
			"starts a goroutine"},
		"gateway imports ledger": {
			map[string]string{"cmd/internal/gateway/a.go": goFile("gateway", "", own("ledger")), "ledger/a.go": goFile("ledger", "")},
			"forbidden import cmd/internal/gateway → " + own("ledger")},
		"gateway reaches meter through internal": {
			map[string]string{
				"cmd/internal/gateway/a.go": goFile("gateway", "", own("internal/x")),
				"internal/x/a.go":           goFile("x", "", own("meter")),
				"meter/a.go":                goFile("meter", "")},
			"cmd/internal/gateway → internal/x → " + own("meter")},
		"gateway imports an SDK": {
			map[string]string{"cmd/internal/gateway/a.go": goFile("gateway", "", sdk)},
			"an MCP SDK is imported: cmd/internal/gateway → " + sdk},
		"cmd imports an SDK": {
			map[string]string{"cmd/candor/main.go": goFile("main", "", sdk)},
			"an MCP SDK is imported: cmd/candor → " + sdk},
		"ledger imports wire": {
			map[string]string{"ledger/a.go": goFile("ledger", "", own("wire")), "wire/a.go": goFile("wire", "")},
			"forbidden import ledger → " + own("wire")},
		"a folder without a row": {
			map[string]string{"util/a.go": goFile("util", "")},
			"this folder has no rule"},
		"what is allowed": {
			map[string]string{
				"a.go":                      goFile("candor", "var _ net.Error; var _ time.Duration", "net", "time", "io/fs", "encoding/json", own("internal/x"), own("spec")),
				"a_test.go":                 goFile("candor", "", "os", "pgregory.net/rapid"),
				"gen.go":                    "//go:build ignore\n\n" + goFile("main", "", "os"),
				"internal/x/a.go":           goFile("x", "", "net/url", "regexp"),
				"spec/a.go":                 goFile("spec", "", "embed"),
				"wire/a.go":                 goFile("wire", "", "io", own("internal/x")),
				"wire/a_test.go":            goFile("wire_test", "", sdk),
				"dialect/a.go":              goFile("dialect", "", module, own("wire")),
				"contract/a.go":             goFile("contract", "", module, own("dialect")),
				"boundary/a.go":             goFile("boundary", "", sdk, own("contract")),
				"boundary/mcpgo/a.go":       goFile("mcpgo", "", "github.com/mark3labs/mcp-go/server", own("boundary")),
				"cmd/internal/gateway/a.go": goFile("gateway", "func f() { go f(); _ = time.Now() }", "time", "net/http", own("contract")),
				"cmd/candor/main.go":        goFile("main", "", own("cmd/internal/gateway"), own("ledger"), "github.com/spf13/cobra"),
			}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shape.Load(tree(tc.files), module)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got.Imports(shape.PackageRules, shape.Exceptions), tc.want)
		})
	}
}

func TestPlantedRecover(t *testing.T) {
	body := "func f() { defer func() { _ = recover() }() }"
	for file, want := range map[string]string{
		"wire/a.go": "calls recover", "boundary/a.go": "", "cmd/internal/gateway/a.go": "", "guard.go": "",
		"cmd/internal/workbench/harness/line/a.go": "", "cmd/internal/sqlitedb/a.go": "", "cmd/internal/workbench/harness/kg/a.go": "calls recover", "a.go": "calls recover", "wire/guard.go": "calls recover",
	} {
		got, err := shape.Load(tree(map[string]string{file: goFile("p", body)}), module)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got.Recovers(), want)
	}
}

func TestPlantedSize(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	fn := func(n int) string { return "func f() {" + lines(n-1) + "}" }
	for name, tc := range map[string]struct {
		file, text, want string
	}{
		"file":            {"a.go", goFile("candor", lines(500)), "more than 500"},
		"file that fits":  {"a.go", goFile("candor", lines(498)), ""},
		"test file":       {"a_test.go", goFile("candor", lines(800)), "more than 800"},
		"long test file":  {"a_test.go", goFile("candor", lines(700)), ""},
		"generated file":  {"a.go", "// Code generated by x. DO NOT EDIT.\n" + goFile("candor", lines(5000)), ""},
		"function":        {"a.go", goFile("candor", fn(61)), "f has 61 lines"},
		"function of 60":  {"a.go", goFile("candor", fn(60)), ""},
		"function, why":   {"a.go", goFile("candor", "// f is one table.\n"+fn(100)), ""},
		"main":            {"cmd/x/main.go", goFile("main", "// main is long.\nfunc main() {"+lines(20)+"}"), "main has 21 lines"},
		"main of 20":      {"cmd/x/main.go", goFile("main", "func main() {"+lines(19)+"}"), ""},
		"recorded source": {"testdata/a.go", goFile("candor", lines(5000)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shape.Load(tree(map[string]string{tc.file: tc.text}), module)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, got.Sizes(), tc.want)
		})
	}
}

func TestPlantedText(t *testing.T) {
	host := "https://proxy." + "golang.org" // in two pieces, or this file would break the rule
	machine := "/" + "work"
	for name, tc := range map[string]struct{ file, text, want string }{
		"open end":               {"a.go", "// TODO: later", "without an issue number"},
		"open end with issue":    {"a.go", "// TODO(#12): later", ""},
		"open end in a name":     {"a.go", "// context.TODO and TODOList", ""},
		"open end in a record":   {"testdata/a.txt", "TODO", ""},
		"six open ends":          {"a.go", strings.Repeat("// TODO(#1): x\n", 6), "6 open ends"},
		"machine folder":         {"docs/a.md", "see " + machine + "/main/x.go", "one machine"},
		"machine folder, quoted": {"testdata/a.json", `{"p":"` + machine + `"}`, "one machine"},
		"cache folder":           {".ci/run", "ls /root/" + "go/pkg", "one machine"},
		"like a machine folder":  {"a.md", machine + "space " + machine + "-x a" + machine + "/x", ""},
		"registry":               {".ci/run", "GOPROXY=" + host, "registry's host"},
		"conflict":               {"a.md", "<<<<" + "<<< HEAD", "unfinished merge"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := shape.Text(tree(map[string]string{tc.file: tc.text}))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, found, tc.want)
		})
	}
}

func TestPlantedLink(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"dead file":             {"[a](gone.md)", "there is no docs/gone.md"},
		"dead reference":        {"[a]: ../gone.md", "there is no gone.md"},
		"dead anchor":           {"[a](b.md#none)", "docs/b.md has no heading #none"},
		"out of the repository": {"[a](../../x.md)", "leaves the repository"},
		"live":                  {"[a](b.md) [b](b.md#two-words) [c](../LICENSE) [d](#here) [e](https://example.com/x) [f](../docs)\n# Here", ""},
		"code":                  {"`[a](gone.md)`\n```\n[a](gone.md)\n```", ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := shape.Links(tree(map[string]string{
				"docs/a.md": tc.text, "docs/b.md": "## Two words", "LICENSE": ""}))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, found, tc.want)
		})
	}
}

func TestPlantedReadme(t *testing.T) {
	for name, tc := range map[string]struct{ page, want string }{
		"broken Go":           {"```go\nx := := 1\n```", "does not parse"},
		"fragment":            {"```go\nx := 1\n```", ""},
		"unmarked transcript": {"```console\n$ candor demo\nok\n```", "goes stale unseen"},
		"marked transcript":   {"<!-- output: candor demo -->\n```console\n$ candor demo\nok\n```", ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, shape.Snippets("README.md", tc.page), tc.want) })
	}
}

func TestPlantedOutput(t *testing.T) {
	page := "<!-- output: candor demo -->\n```console\n$ candor demo\none\n…\nlast\n```\n"
	blocks := shape.Blocks(page)
	if len(blocks) != 1 || blocks[0].Output != "candor demo" {
		t.Fatalf("blocks = %+v", blocks)
	}
	for got, same := range map[string]bool{
		"one\nlast\n":           true,
		"one\ntwo\nthree\nlast": true,
		"one\ntwo\n":            false,
		"two\nlast\n":           false,
		"":                      false,
	} {
		if diff := shape.CompareOutput(blocks[0], got); (diff == "") != same {
			t.Errorf("output %q: same = %v, want %v\n%s", got, !same, same, diff)
		}
	}
	wrong := blocks[0]
	wrong.Output = "candor other"
	if shape.CompareOutput(wrong, "one\nlast\n") == "" {
		t.Error("a prompt that differs from the mark was accepted")
	}
}
