package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// versionControl lists the folders in which version control keeps settings and hooks. These name programs that it runs,
// so a file written there can run code on the next status command. No plan covers them. A file .git, as in a worktree or
// submodule, refers to such a folder.
var versionControl = []string{".git", ".hg", ".svn", ".jj", ".sl", ".bzr", ".pijul", "_darcs", "cvs"}

// instructions matches, in lower case, the Markdown files without a dot that agents obey, such as CLAUDE.local.md.
var instructions = lazyregexp.New(`^(claude|agents?|crush|gemini|qwen|replit|warp|conventions|copilot-instructions)(\.[^.]+)*\.md$|\.(agent|chatmode|instructions|prompt)\.md$`)

// programs matches, in lower case, the other names without a dot of files that name programs which an agent, an editor,
// a shell or git starts.
var programs = lazyregexp.New(`\bmcp\b.*\.(json[c5]?|ya?ml|toml)$|^(opencode|crush)\.jsonc?$|^mise\.toml$|^lefthook.*\.(json|ya?ml|toml)$|\.code-workspace$`)

// obeyed reports whether other programs (editors, agents, shells, git) may act on a file or folder as soon as they open
// the folder that contains it: its name, in the form of [folded], begins with one dot, or is one of those above. Lists of
// ignored files, and files that keep a folder, only begin with a dot. What is obeyed is covered only by a scope that names it,
// not by a wildcard, so that the approver reads the name.
func obeyed(name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "..") {
		return !strings.HasSuffix(name, "ignore") && !strings.HasSuffix(name, "keep")
	}
	return instructions.MatchString(name) || programs.MatchString(name)
}

// Unprotected reports whether a path does not lead into a folder of version control, in any spelling. The path is
// written with slashes.
func Unprotected(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), isVersionControl)
}

// Ordinary reports whether a path is not in a folder of version control or of plans and does not contain a name that
// other programs act on. The path is written with slashes.
func Ordinary(path string) bool {
	segments := strings.Split(path, "/")
	return Unprotected(path) && !inFolder(segments) && unnamed(segments, "") == ""
}

// isVersionControl reports whether a segment names a folder of version control. It accepts the spellings that some file
// systems treat as equal: different case, invisible characters, trailing dots and spaces, a stream after a colon, and
// the short names of old Windows versions, such as GIT~1.
func isVersionControl(segment string) bool {
	name := folded(segment)
	if slices.Contains(versionControl, name) {
		return true
	}
	short, digits, ok := strings.Cut(name, "~")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == "" && slices.Contains(versionControl, "."+short)
}

// folded returns a name in the form in which the most lenient file system compares it.
func folded(segment string) string {
	name, _, _ := strings.Cut(segment, ":")
	name = strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	return strings.TrimRight(name, ". ")
}

// unnamed returns the first segment of a path that must be covered by name but is not named by the scope, or "".
func unnamed(segments []string, scope string) string {
	for _, segment := range segments {
		if obeyed(folded(segment)) && !slices.ContainsFunc(strings.Split(scope, "/"), func(s string) bool { return s == segment }) {
			return segment
		}
	}
	return ""
}
