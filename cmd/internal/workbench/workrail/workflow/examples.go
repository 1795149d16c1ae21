package workflow

import (
	"embed"
	"path"
	"strings"
)

//go:embed examples/*.yaml
var examples embed.FS

// Examples returns the names of the built-in workflows, sorted.
func Examples() []string {
	entries, err := examples.ReadDir("examples")
	if err != nil {
		return nil // the folder is embedded
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	return names
}

// Example returns the file of one of the [Examples].
func Example(name string) (data []byte, ok bool) {
	data, err := examples.ReadFile("examples/" + name + ".yaml")
	return data, err == nil
}
