// Gen writes every file that is generated from spec/catalogue.json and spec/contradictions.json. It is run in
// the module root by go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/internal/catalogue/render"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	c, err := catalogue.Load(filepath.Join(root, "spec", "catalogue.json"))
	if err != nil {
		return err
	}
	p, err := catalogue.LoadPhrases(filepath.Join(root, "spec", "contradictions.json"))
	if err != nil {
		return err
	}
	files, err := render.All(render.Input{Catalogue: c, Phrases: p})
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := write(filepath.Join(root, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
