// Package release turns built executables into the packages that people install without Go: npm packages, Python wheels, a Homebrew
// formula and a software bill of materials. The same input gives the same bytes.
//
// Command release/run is its command line; deploy/release/goreleaser.yaml calls it after it has built the executables.
package release

import (
	"fmt"
	"regexp"
	"slices"
)

// Platform is an operating system and a processor that Candor is released for.
type Platform struct {
	OS, Arch string   // as in GOOS and GOARCH
	npmOS    string   // process.platform in Node
	npmCPU   string   // process.arch in Node
	wheel    []string // platform tags of a Python wheel
}

// Platforms lists what is released. Executables do not use cgo, so the Linux ones run with glibc and with musl.
var Platforms = []Platform{
	{"linux", "amd64", "linux", "x64", []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"}},
	{"linux", "arm64", "linux", "arm64", []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"}},
	{"darwin", "amd64", "darwin", "x64", []string{"macosx_12_0_x86_64"}},
	{"darwin", "arm64", "darwin", "arm64", []string{"macosx_12_0_arm64"}},
	{"windows", "amd64", "win32", "x64", []string{"win_amd64"}},
	{"windows", "arm64", "win32", "arm64", []string{"win_arm64"}},
}

// FindPlatform returns the platform with this GOOS and GOARCH.
func FindPlatform(os, arch string) (Platform, error) {
	i := slices.IndexFunc(Platforms, func(p Platform) bool { return p.OS == os && p.Arch == arch })
	if i < 0 {
		return Platform{}, fmt.Errorf("platform %s/%s: not released", os, arch)
	}
	return Platforms[i], nil
}

// executable returns the file name of a program on the platform.
func (p Platform) executable(name string) string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// Program is an executable that is released.
type Program struct {
	Name    string
	Package string
	MaxSize int // in bytes
}

// Programs are the released programs. candor-cluster is for those who share a record between machines, and gets no npm package and no
// wheel. docs/decisions/028-engines-of-a-cluster.md says why the sizes are limited.
var Programs = []Program{
	{"candor", "./cmd/candor", 40_000_000},
	{"candor-cluster", "./cmd/candor-cluster", 70_000_000},
}

// Binary is a built executable of one platform.
type Binary struct {
	Program  Program
	Platform Platform
	Content  []byte
}

// versionPattern accepts the versions that npm and Python read alike: three numbers, and a suffix that wheelVersion can convert.
var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+|-dev\.[0-9a-z]+)?$`)

// CheckVersion returns an error unless npm and Python both accept the version.
func CheckVersion(version string) error {
	if !versionPattern.MatchString(version) {
		return fmt.Errorf("version %q: want 1.2.3, 1.2.3-rc.1 or 1.2.3-dev.REVISION", version)
	}
	return nil
}
