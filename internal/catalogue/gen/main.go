// Gen checks spec/catalogue.json and writes every file that is generated from it. Run it in the module root:
//
//	go generate .                                  check and write
//	go run ./internal/catalogue/gen -release       also add active codes to spec/released.txt
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/internal/catalogue/render"
)

func main() {
	release := flag.Bool("release", false, "add the codes that have become active to spec/released.txt")
	flag.Parse()
	if err := run(".", *release); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes nothing unless the catalogue passes all checks.
func run(root string, release bool) error {
	spec := filepath.Join(root, "spec")
	c, err := catalogue.Load(filepath.Join(spec, "catalogue.json"))
	if err != nil {
		return err
	}
	p, err := catalogue.LoadPhrases(filepath.Join(spec, "contradictions.json"))
	if err != nil {
		return err
	}
	released, err := catalogue.LoadReleased(filepath.Join(spec, "released.txt"))
	if err != nil {
		return err
	}
	if err := c.Check(p.Compile(), released); err != nil {
		return fmt.Errorf("spec/catalogue.json: invalid:\n%w", err)
	}
	files, err := render.All(render.Input{Catalogue: c, Phrases: p})
	if err != nil {
		return err
	}
	if release {
		files["spec/released.txt"] = []byte(catalogue.FormatReleased(c, released))
	}
	return update(root, files)
}
