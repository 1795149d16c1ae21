package release

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed homebrew/candor.rb.tmpl
var formulaText string

var formulaTemplate = template.Must(template.New("formula").Parse(formulaText))

// Formula returns the Homebrew formula for the archives of a release. checksums is the file that lists them, in the form that
// sha256sum writes.
func Formula(version, checksums string) ([]byte, error) {
	sums := map[string]string{}
	for line := range strings.Lines(checksums) {
		if sum, name, found := strings.Cut(strings.TrimSpace(line), "  "); found {
			sums[name] = sum
		}
	}
	values := map[string]string{"Version": version, "Homepage": "https://" + homepage}
	for _, p := range Platforms {
		if p.OS == "windows" {
			continue
		}
		name := fmt.Sprintf("candor_%s_%s_%s.tar.gz", version, p.OS, p.Arch)
		if sums[name] == "" {
			return nil, fmt.Errorf("checksums: %s is missing", name)
		}
		values[p.OS+"_"+p.Arch] = sums[name]
	}
	var out bytes.Buffer
	if err := formulaTemplate.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("writing the formula: %w", err)
	}
	return out.Bytes(), nil
}
