package release

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
)

//go:embed wheel/__init__.py
var wheelInit []byte

//go:embed wheel/__main__.py
var wheelMain []byte

// wheelScript is the second name of the executable where there is a shell. It starts sooner than Python does.
//
//go:embed wheel/candor.sh
var wheelScript []byte

// wheelName is the distribution's name in file names, where Python writes an underscore.
const wheelName = "candor_mcp"

// Wheels returns a Python wheel for each binary. The executable is installed as the script candor-mcp, so that uvx and pipx run it
// without a launcher; candor is a second name for it: a shell script, or on Windows a program that the installer makes from an entry point.
func Wheels(version string, binaries []Binary, license []byte) ([]File, error) {
	var files []File
	for _, b := range binaries {
		file, err := wheel(wheelVersion(version), b, license)
		if err != nil {
			return nil, fmt.Errorf("packing the wheel for %s/%s: %w", b.Platform.OS, b.Platform.Arch, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// wheelVersion converts a semantic version to the form of Python: 1.2.3-rc.1 becomes 1.2.3rc1, 1.2.3-dev.0abc becomes 1.2.3.dev0+0abc.
func wheelVersion(version string) string {
	base, suffix, found := strings.Cut(version, "-")
	if !found {
		return base
	}
	kind, number, _ := strings.Cut(suffix, ".")
	if kind == "dev" {
		return base + ".dev0+" + number
	}
	return base + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[kind] + number
}

func wheel(version string, b Binary, license []byte) (File, error) {
	tags := b.Platform.wheel
	info := fmt.Sprintf("%s-%s.dist-info/", wheelName, version)
	scripts := fmt.Sprintf("%s-%s.data/scripts/", wheelName, version)
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nHome-page: https://%s\nLicense: Apache-2.0\nRequires-Python: >=3.8\n"+
		"Description-Content-Type: text/markdown\n\n%s", npmName, version, summary, homepage, wheelReadme())
	about := "Wheel-Version: 1.0\nGenerator: candor\nRoot-Is-Purelib: false\n"
	for _, tag := range tags {
		about += "Tag: py3-none-" + tag + "\n"
	}
	members := []member{
		{wheelName + "/__init__.py", 0o644, wheelInit},
		{wheelName + "/__main__.py", 0o644, wheelMain},
		{scripts + b.Platform.executable("candor-mcp"), 0o755, b.Content},
		{info + "licenses/LICENSE", 0o644, license},
		{info + "METADATA", 0o644, []byte(metadata)},
		{info + "WHEEL", 0o644, []byte(about)},
	}
	if b.Platform.OS == "windows" {
		members = append(members, member{info + "entry_points.txt", 0o644, []byte("[console_scripts]\ncandor = candor_mcp:main\n")})
	} else {
		members = append(members, member{scripts + "candor", 0o755, wheelScript})
	}
	members = append(members, wheelRecord(info+"RECORD", members))
	var out bytes.Buffer
	if err := writeZip(&out, members); err != nil {
		return File{}, err
	}
	return File{Name: fmt.Sprintf("%s-%s-py3-none-%s.whl", wheelName, version, strings.Join(tags, ".")), Content: out.Bytes()}, nil
}

// wheelReadme is npm's page with the command of Python's tool.
func wheelReadme() string {
	text := strings.NewReplacer(
		`"command": "npx"`, `"command": "uvx"`, `["-y", "candor-mcp", `, `["candor-mcp", `, "npx -y candor-mcp demo", "uvx candor-mcp demo",
	).Replace(string(npmReadme))
	body, _, _ := strings.Cut(text, "The executable comes in a package")
	return body + "The wheel holds the executable. Documentation: <https://" + homepage + ">.\n"
}

// wheelRecord lists every member with its digest, as installers require.
func wheelRecord(name string, members []member) member {
	var text strings.Builder
	for _, m := range members {
		sum := sha256.Sum256(m.content)
		fmt.Fprintf(&text, "%s,sha256=%s,%d\n", m.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(m.content))
	}
	fmt.Fprintf(&text, "%s,,\n", name)
	return member{name, 0o644, []byte(text.String())}
}
