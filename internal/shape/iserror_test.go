package shape_test

import (
	"testing"

	"github.com/candor-mcp/candor/internal/shape"
)

// W1: one function produces every error result.
func TestW1OneFunctionOfAPackageSetsIsError(t *testing.T) {
	report(t, load(t).IsErrorWriters(shape.Writers))
}

func TestPlantedIsError(t *testing.T) {
	allowed := []shape.Writer{{Dir: "boundary", Func: "emission.write"}}
	writer := "type emission struct{}\nfunc (m *emission) write(r *R) { r.IsError = true }\ntype R struct{ IsError bool }\n"
	for body, want := range map[string]string{
		"":                                       "",
		"func g(r *R) { r.IsError = true }":      "g sets isError",
		"func g() R { return R{IsError: true} }": "g sets isError",
		"func (r R) h() { r.SetError(nil) }":     "R.h sets isError",
		"func g() string { return `{\"isError\":true}` }": "g sets isError",
	} {
		got, err := shape.Load(tree(map[string]string{"boundary/a.go": goFile("p", writer+body)}), module)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got.IsErrorWriters(allowed), want)
	}
	got, err := shape.Load(tree(map[string]string{"boundary/a.go": goFile("p", "")}), module)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got.IsErrorWriters(allowed), "does not set isError")
}
