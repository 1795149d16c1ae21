package servername

import (
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// firstScript returns the name of the script that an interpreter runs.
func firstScript(args []string, values ...string) string {
	if len(args) > 0 && slices.Contains([]string{"-e", "--eval", "-p", "--print", "-"}, args[0]) {
		return "" // the program is an argument
	}
	return scriptName(first(operands(args, append(values, nodeValues...)...)))
}

// isPath reports whether a word is a path and not the name of a package.
func isPath(word string) bool {
	return strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || strings.Contains(word, `\`) ||
		len(word) > 1 && word[1] == ':'
}

// addressName returns the last part of a path or an address: the repository of git+https://host/owner/repo.git@v1.
func addressName(address string) string {
	address, _, _ = strings.Cut(slashes(address), "#")
	address, _, _ = strings.Cut(address, "?")
	if isPath(address) {
		return scriptName(address)
	}
	name, _, _ := strings.Cut(path.Base(address), "@")
	return strings.TrimSuffix(strings.TrimSuffix(name, ".git"), ".tgz")
}

// scriptName returns the name of the package that contains a script. If no package.json names one, it is the name of
// the file, or of the first folder above it that does not have a name like dist or src.
func scriptName(script string) string {
	if script == "" || script == "-" {
		return ""
	}
	script = slashes(script)
	if name := packageName(script); name != "" {
		return name
	}
	if !path.IsAbs(script) && len(script) > 1 && script[1] != ':' {
		if whole, err := filepath.Abs(filepath.FromSlash(script)); err == nil {
			script = slashes(whole)
		}
	}
	return fileName(script)
}

// fileName returns the name of a file without its extension, or of the first folder above it that is specific.
func fileName(file string) string {
	file = strings.TrimRight(slashes(file), "/")
	name := trimExtension(path.Base(file))
	for dir := path.Dir(file); isGeneric(name) && dir != "." && dir != "/"; dir = path.Dir(dir) {
		name = path.Base(dir)
	}
	if isGeneric(name) && launchers[name] != nil || name == "." || name == "/" {
		return ""
	}
	return name
}

var extensions = []string{
	".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".pyz", ".rb", ".pl", ".php", ".sh", ".jar", ".dll", ".exe", ".cmd", ".bat", ".ps1", ".csproj", ".fsproj", ".rs", ".go", ".json", ".toml", ".tgz",
}

func trimExtension(name string) string {
	for _, ext := range extensions {
		if len(name) > len(ext) && strings.EqualFold(name[len(name)-len(ext):], ext) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}

// isGeneric reports whether a file or folder name says nothing about a server.
func isGeneric(name string) bool {
	return slices.Contains([]string{
		"index", "main", "server", "mcp", "mcp-server", "mcp_server", "app", "cli", "start", "run", "stdio", "__main__", "__init__", "package", "pyproject", "cargo", "bundle",
		"dist", "build", "src", "lib", "bin", "out", "cmd", "target", "debug", "release", "scripts", ".venv", "venv", ".bin", "node_modules", "site-packages", "esm", "cjs", ".",
	}, strings.ToLower(name))
}

// Limits of the search for a package.json.
const (
	maxFolders = 12
	maxPackage = 1 << 20
)

// packageName returns the name in the nearest package.json above a script, or the name of the folder in node_modules
// that contains it.
func packageName(script string) string {
	if _, inside, ok := cutLast(script, "node_modules/"); ok {
		parts := strings.SplitN(inside, "/", 3)
		if strings.HasPrefix(parts[0], "@") && len(parts) > 2 {
			return parts[0] + "/" + parts[1]
		}
		if parts[0] != ".bin" {
			return trimExtension(parts[0])
		}
		return trimExtension(path.Base(inside))
	}
	dir, err := filepath.Abs(filepath.Dir(filepath.FromSlash(script)))
	if err != nil {
		return ""
	}
	if info, err := os.Stat(filepath.FromSlash(script)); err == nil && info.IsDir() {
		dir = filepath.Join(dir, filepath.Base(filepath.FromSlash(script)))
	}
	for range maxFolders {
		if name := readPackage(filepath.Join(dir, "package.json")); name != "" {
			return name
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

// readPackage returns the name in a package.json, or "" if there is none.
func readPackage(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxPackage))
	if err != nil {
		return ""
	}
	var content struct{ Name string }
	if json.Unmarshal(data, &content) != nil {
		return ""
	}
	return content.Name
}
