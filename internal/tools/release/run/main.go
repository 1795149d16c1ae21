// Command run builds the release packages of Candor.
//
//	run build    --version 1.2.3 --dir dist [linux/amd64 …]   compile candor; with --program candor-cluster that
//	run packages --version 1.2.3 --dir dist                   pack npm packages and Python wheels
//	run sizes    --dir dist                                   list the executables, and fail if one is too large
//	run formula  --version 1.2.3 --dir dist                   write the Homebrew formula from checksums.txt
//	run pages    --version 1.2.3 --dir build --epoch SECONDS  write manual pages and shell completions
//	run sbom     --version 1.2.3 [--out FILE] EXECUTABLE      print or write the bill of materials of an executable
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/tools/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// job has the flags that the commands share.
type job struct {
	version, dir string
	program      string
	out          string
	epoch        int64
	args         []string
}

func run(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context, job) error{"build": build, "packages": packages, "sizes": sizes, "formula": formula, "pages": pages, "sbom": sbom}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("want build, packages, sizes, formula, pages or sbom")
	}
	var j job
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&j.version, "version", "0.0.0-dev.0", "version of the release")
	flags.StringVar(&j.dir, "dir", "dist", "folder of the executables and packages")
	flags.StringVar(&j.program, "program", "candor", "program to build")
	flags.StringVar(&j.out, "out", "", "file of the bill of materials; standard output if empty")
	flags.Int64Var(&j.epoch, "epoch", 0, "date on the manual pages, in seconds since 1970")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if err := release.CheckVersion(j.version); err != nil {
		return err
	}
	j.args = flags.Args()
	return commands[args[0]](ctx, j)
}

// build compiles a program for the named platforms, or for all. The flags are those of deploy/release/goreleaser.yaml.
func build(ctx context.Context, j job) error {
	i := slices.IndexFunc(release.Programs, func(p release.Program) bool { return p.Name == j.program })
	if i < 0 {
		return fmt.Errorf("program %s: not released", j.program)
	}
	targets := j.args
	if len(targets) == 0 {
		for _, p := range release.Platforms {
			targets = append(targets, p.OS+"/"+p.Arch)
		}
	}
	for _, target := range targets {
		if err := compile(ctx, j, release.Programs[i], target); err != nil {
			return err
		}
	}
	return nil
}

// compile compiles a program for one platform.
func compile(ctx context.Context, j job, program release.Program, target string) error {
	system, arch, _ := strings.Cut(target, "/")
	if _, err := release.FindPlatform(system, arch); err != nil {
		return err
	}
	out := filepath.Join(j.dir, program.Name+"_"+system+"_"+arch, executable(program.Name, system))
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, release.BuildFlags(j.version)...), "-o", out, program.Package)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s for %s: %w", program.Name, target, err)
	}
	fmt.Fprintln(os.Stderr, "built", out)
	return nil
}

func executable(name, system string) string {
	if system == "windows" {
		return name + ".exe"
	}
	return name
}

// binaries reads the executables of a program below dir. GoReleaser adds the level of the processor to the folder's name.
func binaries(dir string, program release.Program) ([]release.Binary, error) {
	var found []release.Binary
	for _, p := range release.Platforms {
		paths, err := filepath.Glob(filepath.Join(dir, program.Name+"_"+p.OS+"_"+p.Arch+"*", executable(program.Name, p.OS)))
		if err != nil || len(paths) == 0 {
			continue
		}
		content, err := os.ReadFile(paths[0])
		if err != nil {
			return nil, err
		}
		found = append(found, release.Binary{Program: program, Platform: p, Content: content})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no executables of %s; run build first", dir, program.Name)
	}
	return found, nil
}

func packages(_ context.Context, j job) error {
	built, err := binaries(j.dir, release.Programs[0])
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	for folder, pack := range map[string]func(string, []release.Binary, []byte) ([]release.File, error){"npm": release.NPM, "wheels": release.Wheels} {
		files, err := pack(j.version, built, license)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := write(filepath.Join(j.dir, folder, f.Name), f.Content); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizes lists the executables of every program. All are listed before one that is too large is an error.
func sizes(_ context.Context, j job) error {
	var all []release.Binary
	for _, program := range release.Programs {
		built, err := binaries(j.dir, program)
		if err != nil {
			return err
		}
		for _, b := range built {
			fmt.Fprintf(os.Stdout, "%-14s %-16s %10d bytes, at most %d\n", program.Name, b.Platform.OS+"/"+b.Platform.Arch, len(b.Content), program.MaxSize)
		}
		all = append(all, built...)
	}
	return release.CheckSizes(all)
}

func formula(_ context.Context, j job) error {
	sums, err := os.ReadFile(filepath.Join(j.dir, "checksums.txt"))
	if err != nil {
		return err
	}
	text, err := release.Formula(j.version, string(sums))
	if err != nil {
		return err
	}
	return write(filepath.Join(j.dir, "homebrew", "candor.rb"), text)
}

// pages writes what GoReleaser puts into every archive. It builds an executable of this machine with all commands for it.
func pages(ctx context.Context, j job) error {
	program := filepath.Join(j.dir, "host", executable("candor", runtime.GOOS))
	full := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "./cmd/candor")
	full.Stdout, full.Stderr = os.Stderr, os.Stderr
	if err := full.Run(); err != nil {
		return fmt.Errorf("building the executable that writes the manual pages: %w", err)
	}
	for _, folder := range []string{"man", "completions"} { // pages of commands that no longer exist must not be packed
		if err := os.RemoveAll(filepath.Join(j.dir, folder)); err != nil {
			return err
		}
	}
	man := exec.CommandContext(ctx, program, "man", "--dir", filepath.Join(j.dir, "man"))
	man.Env, man.Stderr = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(j.epoch, 10)), os.Stderr
	if err := man.Run(); err != nil {
		return fmt.Errorf("writing manual pages: %w", err)
	}
	for shell, name := range map[string]string{"bash": "candor.bash", "zsh": "_candor", "fish": "candor.fish", "powershell": "candor.ps1"} {
		text, err := exec.CommandContext(ctx, program, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("writing the completion for %s: %w", shell, err)
		}
		if err := write(filepath.Join(j.dir, "completions", name), text); err != nil {
			return err
		}
	}
	return nil
}

func sbom(_ context.Context, j job) error {
	if len(j.args) != 1 {
		return errors.New("sbom: want one executable")
	}
	content, err := os.ReadFile(j.args[0])
	if err != nil {
		return err
	}
	text, err := release.SBOM(content, j.version)
	if err != nil {
		return err
	}
	if j.out != "" {
		return write(j.out, text)
	}
	_, err = os.Stdout.Write(text)
	return err
}

func write(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // packages are public
		return err
	}
	fmt.Fprintln(os.Stderr, "wrote", name)
	return os.WriteFile(name, content, fs.FileMode(0o644))
}
