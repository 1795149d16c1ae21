package shape

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// versions are two consecutive releases. In the second one each internal package of the root has another path, and so each of its
// functions another name.
var versions = [2]string{"v0.1.0", "v0.1.1"}

// leaves are the library modules that import the root, each with a package that a user imports.
var leaves = []string{"adapters/mcpgo", "adapters/otel", "adapters/prom", "vet"}

// TestModulesOfTwoVersionsBuildTogether builds users' programs with each mixture of versions, because minimal version selection lets a
// user raise one module alone. The modules beside the root do not import each other, so one program imports them all. It needs no network: third-party modules come from the module cache.
func TestModulesOfTwoVersionsBuildTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs from zip files")
	}
	t.Parallel()
	proxy := t.TempDir()
	for _, version := range versions {
		for _, folder := range append([]string{"."}, leaves...) {
			publish(t, proxy, folder, version)
		}
	}
	cache := t.TempDir()
	for _, rootVersion := range versions {
		for _, leafVersion := range versions {
			t.Run(fmt.Sprintf("root %s, others %s", rootVersion, leafVersion), func(t *testing.T) {
				buildMixture(t, proxy, cache, leafVersion, rootVersion)
			})
		}
	}
}

// modulePath returns the path of the module in a folder of the repository.
func modulePath(folder string) string { return path.Join(module, folder) }

var internalImport = regexp.MustCompile(`"(` + module + `(?:/[a-z]+)*/internal)/`)

// publish writes a version of a module into a folder that is a module proxy.
func publish(t *testing.T, proxy, folder, version string) {
	t.Helper()
	dir, _ := root(t)
	dir = filepath.Join(dir, filepath.FromSlash(folder))
	at := filepath.Join(proxy, filepath.FromSlash(modulePath(folder)), "@v")
	must(t, os.MkdirAll(at, 0o755))
	gomod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(at, version+".mod"), gomod, 0o600))
	must(t, os.WriteFile(filepath.Join(at, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600))
	archive, err := os.Create(filepath.Join(at, version+".zip"))
	must(t, err)
	defer archive.Close() //nolint:errcheck // Close of the writer reports a fault
	z := zip.NewWriter(archive)
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			return leaveOut(name, d.Name())
		}
		if !d.Type().IsRegular() || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if version == versions[1] && folder == "." {
			rel = regexp.MustCompile(`(^|/)internal/`).ReplaceAllString(rel, "${1}internal/renamed/")
			if strings.HasSuffix(rel, ".go") {
				data = internalImport.ReplaceAll(data, []byte(`"$1/renamed/`))
			}
		}
		w, err := z.Create(modulePath(folder) + "@" + version + "/" + rel)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}))
	must(t, z.Close())
}

// leaveOut skips a folder that belongs to another module or holds nothing that a package needs.
func leaveOut(name, base string) error {
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	if err == nil || strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "docs", "deploy", "node_modules", "bench"}, base) {
		return fs.SkipDir
	}
	return nil
}

// buildMixture compiles a user's package that imports the leaf modules and all packages of the root that most programs use.
func buildMixture(t *testing.T, proxy, cache, leafVersion, rootVersion string) {
	t.Helper()
	dir := t.TempDir()
	var mod modfile.File
	must(t, mod.AddModuleStmt("example.com/user"))
	must(t, mod.AddGoStmt("1.26.0"))
	must(t, mod.AddRequire(module, rootVersion))
	for _, leaf := range leaves {
		must(t, mod.AddRequire(modulePath(leaf), leafVersion))
	}
	text, err := mod.Format()
	must(t, err)
	source := "package user\n\nimport (\n"
	for _, imported := range append([]string{".", "serve", "client", "candortest"}, leaves...) {
		source += fmt.Sprintf("\t_ %q\n", modulePath(imported))
	}
	must(t, os.WriteFile(filepath.Join(dir, "go.mod"), text, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "user.go"), []byte(source+")\n"), 0o600))
	downloaded, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "go", "build", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE="+cache,
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(strings.TrimSpace(string(downloaded)))+"/cache/download")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
