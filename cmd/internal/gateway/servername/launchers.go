package servername

import (
	"path"
	"slices"
	"strings"
)

// Flags whose value is the next argument.
var (
	npxValues = []string{"-p", "--package", "-c", "--call", "-w", "--workspace", "--registry", "--prefix", "--userconfig", "--cache", "-C", "--dir", "--cwd", "--filter"}
	uvValues  = []string{
		"--from", "--with", "--with-editable", "--with-requirements", "-p", "--python", "--directory", "--project", "--env-file", "--index", "--default-index", "--index-url", "-i",
		"--extra-index-url", "-f", "--find-links", "-P", "--upgrade-package", "--refresh-package", "--prerelease", "--cache-dir", "--config-file", "--group", "--extra", "--package", "--spec",
	}
	dockerValues = []string{
		"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "-p", "--publish", "--network", "--net", "-w", "--workdir", "-u", "--user", "--entrypoint", "--platform", "-l", "--label",
		"--add-host", "-h", "--hostname", "-m", "--memory", "--cpus", "--cap-add", "--cap-drop", "--security-opt", "--tmpfs", "--pull", "--restart", "--runtime", "--gpus", "--device", "--ulimit",
		"--dns", "--ip", "--log-driver", "--log-opt", "--pids-limit", "--shm-size", "--stop-timeout", "--userns", "--volumes-from", "-f", "--file", "--project-name", "--profile", "-c", "--context", "-H", "--host",
	}
	nodeValues = []string{
		"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--tsconfig", "-P", "--project", "-I", "--env-file", "--allow-fs-read", "--allow-fs-write", "--config", "-c", "--import-map", "--lock",
	}
)

func npx(args []string, depth int) string {
	if spec := value(args, []string{"-p", "--package"}, npxValues); spec != "" {
		return npmPackage(spec)
	}
	if line := value(args, []string{"-c", "--call"}, npxValues); line != "" {
		return find(strings.Fields(line), depth)
	}
	return npmPackage(first(operands(args, npxValues...)))
}

// npm handles npm exec, pnpm dlx, yarn dlx, bun x, and scripts of the package in a folder.
func npm(args []string, depth int) string {
	folder := value(args, []string{"--prefix", "-C", "--dir", "--cwd"}, npxValues)
	args = operands(args, npxValues...)
	switch verb := first(args); verb {
	case "exec", "x", "dlx":
		return npx(args[1:], depth)
	case "run", "start", "run-script", "":
		rest := operands(args[min(1, len(args)):], npxValues...)
		if strings.Contains(first(rest), ".") { // bun run server.ts
			return scriptName(rest[0])
		}
		if folder == "" {
			folder = value(args[min(1, len(args)):], []string{"--prefix", "-C", "--dir", "--cwd"}, npxValues)
		}
		return scriptName(path.Join(slashes(folder), "package.json"))
	default:
		return scriptName(verb)
	}
}

// npmPackage returns the package of an npm specification, without its version.
func npmPackage(spec string) string {
	spec = strings.TrimPrefix(strings.TrimPrefix(spec, "npm:"), "jsr:")
	if isPath(spec) || strings.Contains(spec, ":") || strings.HasSuffix(spec, ".tgz") {
		return addressName(spec)
	}
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		spec = spec[:i]
	}
	return spec
}

func deno(args []string, _ int) string {
	if rest := operands(args); first(rest) == "run" || first(rest) == "x" {
		args = rest[1:]
	}
	name := first(operands(args, nodeValues...))
	if strings.HasPrefix(name, "npm:") || strings.HasPrefix(name, "jsr:") {
		return npmPackage(name)
	}
	return scriptName(name)
}

func uvx(args []string, _ int) string {
	command := first(operands(args, uvValues...))
	if from := value(args, []string{"--from", "--spec"}, uvValues); from != "" && (command == "" || !isPath(from) && !strings.Contains(from, "://")) {
		return pythonPackage(from)
	}
	return pythonPackage(command)
}

func uv(args []string, depth int) string {
	folder := value(args, []string{"--directory", "--project"}, uvValues)
	args = operands(args, uvValues...)
	switch {
	case len(args) > 1 && args[0] == "tool" && args[1] == "run":
		return uvx(args[2:], depth)
	case first(args) == "x":
		return uvx(args[1:], depth)
	case first(args) != "run":
		return ""
	}
	if folder == "" {
		folder = value(args[1:], []string{"--directory", "--project"}, uvValues)
	}
	if slices.Contains(args[1:], "-m") || slices.Contains(args[1:], "--module") {
		return python(args[slices.IndexFunc(args, func(w string) bool { return w == "-m" || w == "--module" }):], depth)
	}
	program := first(operands(args[1:], uvValues...))
	if strings.HasSuffix(program, ".py") && folder != "" && !path.IsAbs(slashes(program)) {
		program = path.Join(slashes(folder), slashes(program))
	}
	return find(append([]string{program}, after1(operands(args[1:], uvValues...))...), depth)
}

func after1(words []string) []string { return words[min(1, len(words)):] }

func pipx(args []string, depth int) string {
	if first(args) == "run" {
		return uvx(args[1:], depth)
	}
	return ""
}

// pythonPackage returns the package of a Python requirement, without extras and version.
func pythonPackage(spec string) string {
	if isPath(spec) || strings.Contains(spec, "://") {
		return addressName(spec)
	}
	if i := strings.IndexAny(spec, "[=<>!~@; "); i > 0 {
		spec = spec[:i]
	}
	return spec
}

func python(args []string, _ int) string {
	for i := 0; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		switch args[i] {
		case "-m", "--module":
			return moduleName(first(args[i+1:]))
		case "-W", "-X":
			i++
		case "-c":
			return ""
		}
	}
	return firstScript(args, "-W", "-X")
}

// moduleName returns a module without the parts that every package has, such as server in foo.server.
func moduleName(module string) string {
	for {
		parent, last, ok := cutLast(module, ".")
		if !ok || !isGeneric(last) {
			return module
		}
		module = parent
	}
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(separator):], true
}

func docker(args []string, _ int) string {
	args = operands(args, dockerValues...)
	switch first(args) {
	case "container", "compose":
		args = operands(args[1:], dockerValues...)
	case "mcp":
		return "docker-mcp"
	}
	switch first(args) {
	case "run", "exec", "start":
		return imageName(first(operands(args[1:], dockerValues...)))
	}
	return ""
}

// imageName returns an image without tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

func java(args []string, _ int) string {
	if i := slices.Index(args, "-jar"); i >= 0 && i+1 < len(args) {
		return fileName(args[i+1])
	}
	class := first(operands(args, "-cp", "-classpath", "--class-path", "-p", "--module-path", "-m", "--module", "--add-modules"))
	_, last, _ := cutLast(class, ".")
	return last
}

func dotnet(args []string, depth int) string {
	if project := slices.Index(args, "--project"); project >= 0 && project+1 < len(args) {
		return fileName(args[project+1])
	}
	if first(args) == "tool" || first(args) == "run" || first(args) == "exec" {
		return dotnet(args[1:], depth)
	}
	return firstScript(args)
}

func goRun(args []string, _ int) string {
	if first(args) != "run" {
		return ""
	}
	target, _, _ := strings.Cut(first(operands(args[1:], "-C", "-tags", "-exec", "-mod", "-modfile")), "@")
	return scriptName(target)
}

func cargo(args []string, _ int) string {
	for i, word := range args[:max(0, len(args)-1)] {
		switch word {
		case "--bin", "-p", "--package":
			return args[i+1]
		case "--manifest-path":
			return scriptName(args[i+1])
		}
	}
	return scriptName("src/main.rs")
}

// shell handles sh -c LINE, cmd /c WORDS and scripts.
func shell(args []string, depth int) string {
	for i, word := range args {
		switch lower := strings.ToLower(word); {
		case (lower == "/c" || lower == "/k" || lower == "-command") && i+1 < len(args):
			return find(strings.Fields(strings.Join(args[i+1:], " ")), depth)
		case strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c") && i+1 < len(args):
			return find(lastCommand(args[i+1]), depth)
		case !strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "/"), strings.Count(word, "/") > 1:
			return scriptName(word)
		}
	}
	return ""
}

// lastCommand returns the words of the last command in a line for a shell, such as cd /srv && exec node index.js.
func lastCommand(line string) []string {
	parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("&|;\n", r) })
	if len(parts) == 0 {
		return nil
	}
	words := strings.Fields(parts[len(parts)-1])
	for i, word := range words {
		words[i] = strings.Trim(word, `"'`)
	}
	return skipAssignments(words)
}

// skipAssignments removes leading words of the form NAME=value.
func skipAssignments(words []string) []string {
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	return words
}

func env(args []string, depth int) string {
	return find(skipAssignments(operands(args, "-u", "--unset", "-C", "--chdir")), depth)
}

func after(args []string, depth int) string {
	return find(skipAssignments(operands(args, "-n", "-u", "-g", "-i", "-o", "-e")), depth)
}

func timeout(args []string, depth int) string {
	return find(after1(operands(args, "-k", "--kill-after", "-s", "--signal")), depth)
}

// candorWrap returns the server behind another candor wrap.
func candorWrap(args []string, depth int) string {
	if i := slices.Index(args, "--"); i >= 0 && first(args) == "wrap" {
		return find(args[i+1:], depth)
	}
	return strings.Trim("candor "+first(args), " ")
}
