// Package servername finds a name for an MCP server that a person recognises: the one that the server gives itself, or
// the package that its command line runs. It never returns the name of a launcher such as node, npx or docker.
package servername

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
)

// MaxBytes limits the length of a name.
const MaxBytes = 100

// Unknown is the name of a server whose command line contains no name.
const Unknown = "server"

// Clean returns the name that a server gives itself as one line without secrets and control characters, at most
// MaxBytes long. It returns "" if the text is no use as a name: it is empty, or the name of a launcher.
func Clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = candor.Public(strings.Join(strings.Fields(name), " "), MaxBytes)
	if launchers[program(name)] != nil {
		return ""
	}
	return name
}

// FromCommand returns the name of the server that a command line starts. Script paths are relative to the current
// folder.
func FromCommand(words []string) string {
	if name := Clean(find(words, 0)); name != "" {
		return name
	}
	return Unknown
}

// maxNesting limits launchers that start launchers, such as env sh -c "npx …".
const maxNesting = 8

func find(words []string, depth int) string {
	if len(words) == 0 || depth > maxNesting {
		return ""
	}
	l := launchers[program(words[0])]
	if l == nil {
		return fileName(words[0])
	}
	return l(words[1:], depth+1)
}

// program returns the name of a program without folder, version and the extensions of Windows, in lower case.
func program(word string) string {
	name := strings.ToLower(path.Base(slashes(word)))
	for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ext)
	}
	if base := strings.TrimRight(name, "0123456789."); base == "python" || base == "node" || base == "pip" {
		return base
	}
	return name
}

// slashes returns a path with the separators of Windows replaced. A command line may be written on any system.
func slashes(word string) string { return strings.ReplaceAll(word, `\`, "/") }

// launcher returns the name of the server in the arguments of a program that starts other programs, or "".
type launcher func(args []string, depth int) string

// launchers are the programs whose names do not identify a server.
var launchers map[string]launcher

func init() { //nolint:gochecknoinits // a literal would refer to itself through find
	script := func(args []string, _ int) string { return firstScript(args) }
	launchers = map[string]launcher{
		"npx": npx, "pnpx": npx, "bunx": npx, "npm": npm, "pnpm": npm, "yarn": npm, "bun": npm,
		"node": script, "nodejs": script, "tsx": script, "ts-node": script, "deno": deno,
		"uvx": uvx, "uv": uv, "pipx": pipx,
		"python": python, "pythonw": python, "py": python, "pypy": python,
		"docker": docker, "podman": docker, "nerdctl": docker,
		"java": java, "dotnet": dotnet, "go": goRun, "cargo": cargo,
		"ruby": script, "perl": script, "php": script,
		"sh": shell, "bash": shell, "zsh": shell, "dash": shell, "fish": shell, "cmd": shell, "powershell": shell, "pwsh": shell,
		"env": env, "nice": after, "nohup": after, "stdbuf": after, "sudo": after, "exec": after, "timeout": timeout,
		"candor": candorWrap, "candor-mcp": candorWrap,
	}
}

// operands returns the arguments that are not flags. values are the flags whose value is the next argument; a flag of
// the form --flag=value has no further argument.
func operands(args []string, values ...string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return append(rest, args[i+1:]...)
		case !strings.HasPrefix(args[i], "-") || args[i] == "-":
			return append(rest, args[i:]...) // the rest belongs to the program
		case slices.Contains(values, args[i]):
			i++
		}
	}
	return rest
}

// value returns the value of the first of some flags before the first operand, or "".
func value(args []string, names, values []string) string {
	for i := 0; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "--"; i++ {
		name, text, joined := strings.Cut(args[i], "=")
		takes := slices.Contains(values, name) && !joined
		switch {
		case slices.Contains(names, name) && joined:
			return text
		case takes && i+1 < len(args) && slices.Contains(names, name):
			return args[i+1]
		case takes:
			i++
		}
	}
	return ""
}

// first returns the first word, or "".
func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
