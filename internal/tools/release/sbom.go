package release

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// bill is a CycloneDX 1.6 document, without the members that would differ between two builds.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   billSubject `json:"metadata"`
	Components []component `json:"components"`
}

type billSubject struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SBOM returns the software bill of materials of an executable, in CycloneDX JSON: the modules and the Go release that the linker
// wrote into it.
func SBOM(executable []byte, version string) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(executable))
	if err != nil {
		return nil, fmt.Errorf("reading the modules of the executable: %w", err)
	}
	main := moduleComponent("application", info.Path, version)
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" {
			main.Properties = append(main.Properties, property{"candor:build:" + s.Key, s.Value})
		}
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: billSubject{main}}
	b.Components = append(b.Components, moduleComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		b.Components = append(b.Components, moduleComponent("library", replaced(m).Path, replaced(m).Version))
	}
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Ref, y.Ref) })
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the bill of materials: %w", err)
	}
	return append(text, '\n'), nil
}

// replaced returns the module that was built. A module replaced by a folder of this repository keeps its name.
func replaced(m *debug.Module) *debug.Module {
	if m.Replace == nil || strings.HasPrefix(m.Replace.Path, ".") || strings.HasPrefix(m.Replace.Path, "/") {
		return m
	}
	return m.Replace
}

func moduleComponent(kind, path, version string) component {
	purl := "pkg:golang/" + strings.ReplaceAll(url.PathEscape(path), "%2F", "/")
	if version != "" {
		purl += "@" + url.PathEscape(version)
	}
	return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
}
