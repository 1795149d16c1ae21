//go:build unix

package release_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/tools/release"
)

const version = "1.2.3-rc.1"

// TestMain lets the test binary act as candor in the packages that the tests install.
func TestMain(m *testing.M) {
	if os.Getenv("RELEASE_TEST_PROGRAM") != "" {
		os.Exit(program(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program copies its input, prints its arguments, and ends as the first argument says.
func program(args []string) int {
	switch args[0] {
	case "exit":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		_ = json.NewEncoder(os.Stderr).Encode(args)
		return 7
	case "signal":
		received := make(chan os.Signal, 1)
		signal.Notify(received, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		fmt.Println(<-received)
		return 9
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return 1
}

func host(t testing.TB) release.Binary {
	t.Helper()
	p, err := release.FindPlatform(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	return release.Binary{Program: release.Programs[0], Platform: p, Content: content}
}

// need skips the test unless the program is installed.
func need(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

func save(t testing.TB, files []release.File) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Content, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func command(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// installNPM installs the packages of this platform without a network and returns the folder of their commands.
func installNPM(t testing.TB, b release.Binary) string {
	t.Helper()
	npm := need(t, "npm")
	files, err := release.NPM(version, []release.Binary{b}, []byte("license"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command(t, npm, append([]string{"install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", t.TempDir(), "--prefix", dir}, save(t, files)...)...)
	return filepath.Join(dir, "node_modules", ".bin")
}

// installWheel installs the wheel of this platform without a network and returns the folder of its commands.
func installWheel(t testing.TB, b release.Binary) string {
	t.Helper()
	python := need(t, "python3")
	files, err := release.Wheels(version, []release.Binary{b}, []byte("license"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "-m", "venv", dir).CombinedOutput(); err != nil {
		t.Skipf("python3 -m venv does not work here: %s", out)
	}
	command(t, filepath.Join(dir, "bin", "pip"), "install", "--no-index", "--disable-pip-version-check", save(t, files)[0])
	return filepath.Join(dir, "bin")
}

// TestInstalledCommandsRunTheExecutable checks that every command of the packages passes input, arguments, exit codes and signals.
func TestInstalledCommandsRunTheExecutable(t *testing.T) {
	for _, packaging := range []struct {
		name    string
		install func(testing.TB, release.Binary) string
	}{{"npm", installNPM}, {"wheel", installWheel}} {
		t.Run(packaging.name, func(t *testing.T) {
			t.Parallel()
			dir := packaging.install(t, host(t))
			for _, name := range []string{"candor", "candor-mcp"} {
				checkCommand(t, filepath.Join(dir, name))
				link := filepath.Join(t.TempDir(), name)
				if err := os.Symlink(filepath.Join(dir, name), link); err != nil {
					t.Fatal(err)
				}
				checkExit(t, link)
			}
			if packaging.name == "wheel" {
				checkExit(t, filepath.Join(dir, "python"), "-m", "candor_mcp")
			}
		})
	}
}

func checkCommand(t *testing.T, path string) {
	t.Helper()
	input := bytes.Repeat([]byte{0, '\r', '\n', 0xff, 'x'}, 50_000)
	var stdout, stderr bytes.Buffer
	cmd := start(t, path, bytes.NewReader(input), &stdout, &stderr, "exit", "two words", "--", "")
	if code := exitCode(cmd.Wait()); code != 7 {
		t.Errorf("%s: exit code %d, want 7\n%s", path, code, &stderr)
	}
	if !bytes.Equal(stdout.Bytes(), input) {
		t.Errorf("%s: %d bytes of output, want the %d bytes of input", path, stdout.Len(), len(input))
	}
	if got, want := stderr.String(), `["exit","two words","--",""]`+"\n"; got != want {
		t.Errorf("%s: arguments %s, want %s", path, got, want)
	}

	for _, sent := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		checkSignal(t, path, sent)
	}

	cmd = start(t, path, nil, io.Discard, io.Discard, "killed")
	err := cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("%s: ended with %v, want SIGKILL", path, err)
	}
}

// checkExit checks that the command runs the executable, which ends with code 7.
func checkExit(t *testing.T, line ...string) {
	t.Helper()
	var stderr bytes.Buffer
	if code := exitCode(start(t, line[0], nil, io.Discard, &stderr, append(line[1:], "exit")...).Wait()); code != 7 {
		t.Errorf("%v: exit code %d, want 7\n%s", line, code, &stderr)
	}
}

// checkSignal checks that a signal sent to the command reaches the executable, and that its exit code is that of the executable.
func checkSignal(t *testing.T, path string, sent syscall.Signal) {
	t.Helper()
	reader, writer := io.Pipe()
	cmd := start(t, path, nil, writer, io.Discard, "signal")
	lines := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(reader, lines); err != nil {
		t.Fatal(err)
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(reader)
		rest <- string(text)
	}()
	_ = cmd.Process.Signal(sent)
	if code := exitCode(cmd.Wait()); code != 9 {
		t.Errorf("%s: exit code %d after %v, want 9", path, code, sent)
	}
	_ = writer.Close()
	if got := <-rest; got != sent.String()+"\n" {
		t.Errorf("%s: the program printed %q after %v", path, got, sent)
	}
}

func start(t *testing.T, path string, stdin io.Reader, stdout, stderr io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "RELEASE_TEST_PROGRAM=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// TestLauncherNamesAMissingPlatformPackage checks the message of an installation without optional dependencies.
func TestLauncherNamesAMissingPlatformPackage(t *testing.T) {
	t.Parallel()
	node := need(t, "node")
	out, err := exec.Command(node, filepath.Join("npm", "candor.js"), "demo").CombinedOutput()
	if exitCode(err) != 1 || !strings.Contains(string(out), "is not installed") || !strings.Contains(string(out), "--omit=optional") {
		t.Errorf("exit code %d\n%s", exitCode(err), out)
	}
}

// TestPackagesAreReproducible checks that the same executables give the same packages.
func TestPackagesAreReproducible(t *testing.T) {
	t.Parallel()
	var all []release.Binary
	for _, p := range release.Platforms {
		all = append(all, release.Binary{Platform: p, Content: []byte(p.OS + p.Arch)})
	}
	pack := func() (files []release.File) {
		npm, err := release.NPM(version, all, []byte("license"))
		if err != nil {
			t.Fatal(err)
		}
		wheels, err := release.Wheels(version, all, []byte("license"))
		if err != nil {
			t.Fatal(err)
		}
		return append(npm, wheels...)
	}
	first, second := pack(), pack()
	if len(first) != 2*len(release.Platforms)+1 {
		t.Errorf("%d packages, want %d", len(first), 2*len(release.Platforms)+1)
	}
	for i := range first {
		if !bytes.Equal(first[i].Content, second[i].Content) {
			t.Errorf("%s differs between two builds", first[i].Name)
		}
	}
	checkLauncher(t, first[len(release.Platforms)])
}

// checkLauncher checks that the launcher runs nothing during its installation and depends on every platform package.
func checkLauncher(t *testing.T, f release.File) {
	t.Helper()
	var m struct {
		Scripts              map[string]string
		OptionalDependencies map[string]string
	}
	if err := json.Unmarshal(readMember(t, f.Content, "package/package.json"), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Scripts) != 0 || len(m.OptionalDependencies) != len(release.Platforms) || m.OptionalDependencies["@candor-mcp/cli-linux-x64"] != version {
		t.Errorf("package.json of %s: %+v", f.Name, m)
	}
}

func readMember(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if header.Name == name {
			content, err := io.ReadAll(reader)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

// TestSBOMListsModules checks the bill of materials of the test binary.
func TestSBOMListsModules(t *testing.T) {
	t.Parallel()
	text, err := release.SBOM(host(t).Content, version)
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || len(bill.Components) == 0 || bill.Components[len(bill.Components)-1].Name != "std" {
		t.Errorf("bill of materials: %s", text)
	}
}

// TestFormulaNeedsEveryChecksum checks the Homebrew formula.
func TestFormulaNeedsEveryChecksum(t *testing.T) {
	t.Parallel()
	var sums strings.Builder
	for i, name := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"} {
		fmt.Fprintf(&sums, "%064d  candor_1.2.3_%s.tar.gz\n", i, name)
	}
	text, err := release.Formula("1.2.3", sums.String())
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("%064d", 3)) || strings.Contains(string(text), "<no value>") {
		t.Errorf("formula: %v\n%s", err, text)
	}
	if _, err := release.Formula("1.2.4", sums.String()); err == nil {
		t.Error("a formula was written without checksums")
	}
}

// TestVersionsAreChecked checks the versions that both registries accept.
func TestVersionsAreChecked(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{"1.2.3": true, "1.2.3-rc.1": true, "0.1.0-dev.gabc": true, "v1.2.3": false, "1.2": false, "1.2.3+x": false, "": false} {
		if got := release.CheckVersion(v) == nil; got != want {
			t.Errorf("version %q: accepted %v, want %v", v, got, want)
		}
	}
}

// TestLargeExecutablesAreRefused checks the limits of the executables.
func TestLargeExecutablesAreRefused(t *testing.T) {
	t.Parallel()
	for _, program := range release.Programs {
		b := host(t)
		b.Program = program
		b.Content = make([]byte, program.MaxSize)
		if err := release.CheckSizes([]release.Binary{b}); err != nil {
			t.Error(err)
		}
		b.Content = append(b.Content, 0)
		if err := release.CheckSizes([]release.Binary{b}); err == nil || !strings.Contains(err.Error(), program.Name+" for ") {
			t.Errorf("%s of %d bytes: %v", program.Name, len(b.Content), err)
		}
	}
}
