// Package servername finds a name for an MCP server that a person recognises: the one that the server gives itself, or
// the package that its command line runs. It never returns the name of a launcher such as node, npx or docker.
package servername

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// MaxBytes limits the length of a name.
const MaxBytes = 100

// Unknown is the name of a server whose command line contains no name.
const Unknown = "server"

// Clean returns the name that a server gives itself as one line without secrets and control characters, at most
// MaxBytes long. It returns "" if the text is empty or the name of a launcher.
func Clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = candor.Public(strings.Join(strings.Fields(name), " "), MaxBytes)
	if launchers[program(name)] {
		return ""
	}
	return name
}

// FromCommand returns the name of the server that a command line starts.
func FromCommand(words []string) string {
	if name := Clean(find(words)); name != "" {
		return name
	}
	return Unknown
}

// launchers are the programs that do not identify a server, and verbs are their subcommands, in lower case.
var (
	launchers = wordSet("npx pnpx bunx npm pnpm yarn bun node nodejs tsx ts-node deno uvx uv pipx python pythonw py pypy docker podman nerdctl" +
		" java dotnet go cargo ruby perl php sh bash zsh dash fish cmd powershell pwsh env nice nohup stdbuf sudo exec timeout candor")
	verbs = wordSet("exec x dlx run start run-script tool container compose wrap")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// find returns the first word of a command line that may name a package, or "". It does not know which flags have a value: the name is
// used only until the server gives its own.
func find(words []string) string {
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[i+1:]
	}
	for _, word := range words {
		if strings.Contains(word, " ") { // a command line for a shell, whose last command is the server
			return find(strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(word[strings.LastIndexAny(word, "&|;\n")+1:])))
		}
		if !launchers[program(word)] && !isOption(word) {
			return packageName(word)
		}
	}
	return ""
}

// isOption reports whether an argument of a launcher is a subcommand, a flag, the name of a variable, a number or an address.
func isOption(word string) bool {
	return verbs[word] || strings.HasPrefix(word, "-") || len(word) == 2 && word[0] == '/' || variable.MatchString(word) ||
		strings.Trim(word, "0123456789.") == "" || strings.Contains(word, "://")
}

var variable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$|^[A-Za-z_][A-Za-z0-9_]*=([^=]|$)`)

// program returns the name of a program without folder, version and the extensions of Windows, in lower case.
func program(word string) string {
	name := strings.ToLower(trimExtension(path.Base(slashes(word))))
	if base := strings.TrimRight(name, "0123456789."); base == "python" || base == "node" {
		return base
	}
	return name
}

// slashes returns a path with the separators of Windows replaced. A command line may be written on any system.
func slashes(word string) string { return strings.ReplaceAll(word, `\`, "/") }

// packageName returns a package, an image, a module or a file without version, tag, extension and address.
func packageName(spec string) string {
	spec = strings.TrimPrefix(strings.TrimPrefix(slashes(spec), "npm:"), "jsr:")
	if _, inside, ok := strings.Cut(spec, "node_modules/"); ok {
		parts := strings.Split(inside, "/")
		if strings.HasPrefix(inside, "@") && len(parts) > 1 {
			return parts[0] + "/" + parts[1]
		}
		return trimExtension(parts[0])
	}
	if trimExtension(spec) != spec || strings.ContainsAny(spec[:min(1, len(spec))], "./~") || strings.Contains(spec, ":/") {
		return fileName(spec)
	}
	if i := strings.IndexAny(spec, "[=<>!~;"); i > 0 {
		spec = spec[:i]
	}
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		spec = spec[:i]
	}
	if i := strings.LastIndexByte(spec, ':'); i > strings.LastIndexByte(spec, '/') {
		spec = spec[:i]
	}
	for i := strings.LastIndexByte(spec, '.'); i > 0 && isGeneric(spec[i+1:]); i = strings.LastIndexByte(spec, '.') {
		spec = spec[:i] // the module foo.server
	}
	return spec
}

// fileName returns the last part of a path or an address without its extension, or of the first folder above it that is specific.
func fileName(file string) string {
	file = strings.TrimRight(file, "/")
	base, _, _ := strings.Cut(path.Base(file), "@")
	name := trimExtension(base)
	for dir := path.Dir(file); isGeneric(name) && dir != "." && dir != "/"; dir = path.Dir(dir) {
		name = path.Base(dir)
	}
	if isGeneric(name) || name == "/" {
		return ""
	}
	return name
}

const extensions = " .js .mjs .cjs .ts .mts .py .rb .pl .php .sh .jar .dll .exe .cmd .bat .ps1 .csproj .fsproj .rs .go .json .toml .tgz .git "

func trimExtension(name string) string {
	if ext := path.Ext(name); len(ext) < len(name) && strings.Contains(extensions, " "+strings.ToLower(ext)+" ") {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// isGeneric reports whether a file or folder name says nothing about a server.
func isGeneric(name string) bool {
	const generic = " index main server mcp mcp-server mcp_server app cli start run stdio __main__ __init__ " +
		"dist build src lib bin out cmd target debug release scripts .venv venv .bin esm cjs . .. "
	return strings.Contains(generic, " "+strings.ToLower(name)+" ")
}
