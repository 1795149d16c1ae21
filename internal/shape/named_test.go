package shape_test

import (
	"io/fs"
	"testing"

	"github.com/candor-mcp/candor/internal/shape"
)

func TestArchitectureNamesDeclarationsThatExist(t *testing.T) {
	t.Parallel()
	_, fsys := root(t)
	page, err := fs.ReadFile(fsys, "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	count, found := load(t).NamedDeclarations("docs/architecture.md", string(page))
	report(t, found)
	if count < 20 {
		t.Errorf("the page names %d declarations, want at least 20: the two walks name the function of each step", count)
	}
}

func TestPlantedDeclarationIsMissed(t *testing.T) {
	t.Parallel()
	files := map[string]string{"wire/a.go": goFile("wire", "type T struct{}; func (T) M() {}; func F() {}; var V int")}
	got, err := shape.Load(tree(files), module)
	if err != nil {
		t.Fatal(err)
	}
	count, found := got.NamedDeclarations("page.md", "see `wire/a.go` `T.M`, `wire/a.go` `F`, `wire/a.go` `V`\nand `wire/a.go` `G`")
	if count != 4 {
		t.Errorf("%d names found, want 4", count)
	}
	expect(t, found, "page.md:2: wire/a.go does not declare G")
}
