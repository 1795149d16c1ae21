package release

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
)

// npmLauncher is the program that npx starts. It runs the executable of the installed platform package.
//
//go:embed npm/candor.js
var npmLauncher []byte

//go:embed npm/README.md
var npmReadme []byte

const (
	npmName  = "candor-mcp"      // the package that people install
	npmScope = "@candor-mcp/cli" // the platform packages are @candor-mcp/cli-linux-x64 and so on
)

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage"`
	Repository           map[string]string `json:"repository"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Files                []string          `json:"files"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

func newManifest(name, version, description string) manifest {
	return manifest{
		Name: name, Version: version, Description: description, License: "Apache-2.0", Homepage: "https://" + homepage,
		Repository: map[string]string{"type": "git", "url": "git+https://" + homepage + ".git"},
	}
}

// NPM returns the npm packages: one for each binary, and the launcher that depends on all of them. npm installs only the platform
// package that fits the machine; nothing is downloaded or run during the installation.
func NPM(version string, binaries []Binary, license []byte) ([]File, error) {
	launcher := newManifest(npmName, version, summary)
	launcher.Bin = map[string]string{npmName: "bin/candor.js", "candor": "bin/candor.js"}
	launcher.Files = []string{"bin"}
	launcher.Engines = map[string]string{"node": ">=18"}
	launcher.OptionalDependencies = map[string]string{}
	var packages []File
	for _, b := range binaries {
		file, err := platformPackage(version, b, license)
		if err != nil {
			return nil, err
		}
		packages = append(packages, file)
		launcher.OptionalDependencies[platformName(b.Platform)] = version
	}
	main, err := tarball(fmt.Sprintf("%s-%s.tgz", npmName, version), launcher, []member{
		{name: "bin/candor.js", mode: 0o755, content: npmLauncher},
		{name: "README.md", mode: 0o644, content: npmReadme},
		{name: "LICENSE", mode: 0o644, content: license},
	})
	return append(packages, main), err
}

func platformName(p Platform) string { return npmScope + "-" + p.npmOS + "-" + p.npmCPU }

func platformPackage(version string, b Binary, license []byte) (File, error) {
	p := b.Platform
	m := newManifest(platformName(p), version, fmt.Sprintf("The executable of %s for %s-%s", npmName, p.npmOS, p.npmCPU))
	m.OS, m.CPU, m.Files, m.PreferUnplugged = []string{p.npmOS}, []string{p.npmCPU}, []string{"bin"}, true
	return tarball(fmt.Sprintf("candor-mcp-cli-%s-%s-%s.tgz", p.npmOS, p.npmCPU, version), m, []member{
		{name: path.Join("bin", p.executable("candor")), mode: 0o755, content: b.Content},
		{name: "LICENSE", mode: 0o644, content: license},
	})
}

// tarball packs an npm package as `npm pack` does: everything is below package/.
func tarball(name string, m manifest, members []member) (File, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return File{}, fmt.Errorf("encoding package.json of %s: %w", m.Name, err)
	}
	members = append([]member{{name: "package.json", mode: 0o644, content: append(text, '\n')}}, members...)
	for i := range members {
		members[i].name = "package/" + members[i].name
	}
	var out bytes.Buffer
	if err := writeTarGz(&out, members); err != nil {
		return File{}, fmt.Errorf("packing %s: %w", name, err)
	}
	return File{Name: name, Content: out.Bytes()}, nil
}
