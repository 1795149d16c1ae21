package workspace

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

func TestAPathIsMadeRelativeAndClean(t *testing.T) {
	b := newBench(t, Options{})
	link := filepath.Join(filepath.Dir(b.in), "alias")
	b.must(os.Symlink(b.in, link))
	alias, err := Open(link, Options{})
	b.must(err)
	defer alias.Close() //nolint:errcheck // a test
	if alias.Root() != b.folder.Root() {
		t.Errorf("%s is not canonical", alias.Root())
	}
	for given, want := range map[string]string{
		"a.txt": "a.txt", "./a//b/": "a/b", "a..b": "a..b", "...": "...", ".": ".", "./": ".", "a/./b": "a/b",
		b.in: ".", b.in + "/x/y": "x/y", link + "/x": "x", link: ".", "é/日本": "é/日本", "-rf": "-rf", "~/x": "~/x",
	} {
		if got, err := alias.Parse(given); err != nil || got.String() != want {
			t.Errorf("%q is %q (%v), want %q", given, got, err, want)
		}
	}
}

func TestAPathThatCouldMisleadIsRefused(t *testing.T) {
	b := newBench(t, Options{})
	for given, want := range map[string]candor.Code{
		"":                                    kaiza.InvalidInputValue,
		"a\x00b":                              kaiza.InvalidPath,
		"a\nb":                                kaiza.InvalidPath,
		"a\x1b[31mb":                          kaiza.InvalidPath,
		"a\u0085b":                            kaiza.InvalidPath,
		"gpj.\u202eexe":                       kaiza.InvalidPath,
		"a\xffb":                              kaiza.InvalidPath,
		`a\b`:                                 kaiza.InvalidPath,
		`..\..\etc`:                           kaiza.InvalidPath,
		`C:\x`:                                kaiza.InvalidPath,
		strings.Repeat("a", 256):              kaiza.InvalidPath,
		strings.Repeat("abc/", 1025):          kaiza.InvalidPath,
		"..":                                  kaiza.PathTraversalBlocked,
		"../outside/secret.txt":               kaiza.PathTraversalBlocked,
		"a/../../outside/secret.txt":          kaiza.PathTraversalBlocked,
		"a/..":                                kaiza.PathTraversalBlocked,
		"a/../b":                              kaiza.PathTraversalBlocked,
		b.in + "/../outside/secret.txt":       kaiza.PathTraversalBlocked,
		"/etc/passwd":                         kaiza.OutsideWorkspace,
		"/":                                   kaiza.OutsideWorkspace,
		"//etc/passwd":                        kaiza.OutsideWorkspace,
		b.in + "2/x":                          kaiza.OutsideWorkspace,
		b.in + "2":                            kaiza.OutsideWorkspace,
		filepath.Dir(b.in):                    kaiza.OutsideWorkspace,
		filepath.Join(b.out, "secret.txt"):    kaiza.OutsideWorkspace,
		strings.ToUpper(b.in) + "/x":          kaiza.OutsideWorkspace,
		"/proc/self/root" + b.in + "/x":       kaiza.OutsideWorkspace,
		"/proc/self/cwd/../../etc/passwd":     kaiza.PathTraversalBlocked,
		"docs/reports/../../" + "src/main.go": kaiza.PathTraversalBlocked,
	} {
		_, err := b.folder.Parse(given)
		if candor.CodeOf(err) != want {
			t.Errorf("%q: %v, want %v", given, err, want)
			continue
		}
		b.refuses(err, want)
	}
}

func TestOpenErrors(t *testing.T) {
	b := newBench(t, Options{})
	b.put("file", "x")
	b.must(os.Symlink("loop", filepath.Join(b.in, "loop")))
	for given, want := range map[string]string{
		"":                              "The workspace must be given as an absolute path.",
		"proj":                          "The workspace must be given as an absolute path.",
		filepath.Join(b.in, "none"):     "The workspace does not exist.",
		filepath.Join(b.in, "file"):     "The workspace is not a folder.",
		filepath.Join(b.in, "loop"):     "The workspace could not be resolved.",
		filepath.Join(b.in, "file/sub"): "The workspace could not be resolved.",
		"/dev/null":                     "The workspace is not a folder.",
		b.in + "\x00":                   "The workspace could not be resolved.",
	} {
		_, err := Open(given, Options{})
		b.refuses(err, kaiza.BootstrapFailure)
		if got := candor.From(err).Message(); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func TestAFolderThatWasReplacedIsNoticed(t *testing.T) {
	b := newBench(t, Options{})
	b.must(b.folder.StillThere())
	b.must(os.Rename(b.in, b.in+".moved"))
	b.refuses(b.folder.StillThere(), kaiza.InvariantViolation)
	b.must(os.Mkdir(b.in, 0o755))
	err := b.folder.StillThere()
	b.refuses(err, kaiza.InvariantViolation)
	if got := candor.From(err).CallInfo().InvariantID; got != "INV_WORKSPACE_IDENTITY" {
		t.Errorf("invariant %q", got)
	}
	b.must(os.Remove(b.in))
	b.must(os.Symlink(b.in+".moved", b.in)) // another path to the same folder is not the canonical path
	b.refuses(b.folder.StillThere(), kaiza.InvariantViolation)
}

// FuzzParse checks that an accepted path is clean and relative, and that parsing it again returns it unchanged.
func FuzzParse(f *testing.F) {
	dir := f.TempDir()
	folder, err := Open(dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a", "a/b", "..", "a/../b", ".", "/", "//", dir, dir + "/a", dir + "2", "a\x00", "a\\b", "\xff", "a/./b//", "…"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		p, err := folder.Parse(given)
		if err != nil {
			if !candor.CodeOf(err).Valid() {
				t.Fatalf("%q: %v has no code", given, err)
			}
			return
		}
		name := p.String()
		if path.Clean(name) != name || path.IsAbs(name) || !filepath.IsLocal(name) || !utf8.ValidString(name) || len(name) > maxPath {
			t.Fatalf("%q became %q", given, name)
		}
		for s := range strings.SplitSeq(name, "/") {
			if s == ".." || s == "" || len(s) > maxSegment || strings.ContainsFunc(s, deceptive) || strings.Contains(s, `\`) {
				t.Fatalf("%q became %q", given, name)
			}
		}
		if again, err := folder.Parse(name); err != nil || again != p {
			t.Fatalf("%q became %q and then %q (%v)", given, name, again, err)
		}
	})
}
