package plan

import (
	"slices"
	"strings"
)

// versionControl are the names of folders in which version control keeps settings and hooks, which name programs that it runs: what writes
// there runs code the next time that somebody looks at the state of the workspace. No plan covers them. A file .git, as of a worktree or a
// submodule, leads to such a folder.
var versionControl = []string{".git", ".hg", ".svn", ".jj", ".sl", ".bzr", ".pijul", "_darcs", "cvs"}

// obeyed are names of files and folders that another program obeys when it only opens the folder they are in: editors, agents, shells, git.
// They are covered by a scope that names them, and not by one that matches them with a wildcard, so that the person who approves reads
// the name.
var obeyed = []string{
	".vscode", ".idea", ".fleet", ".zed", ".cursor", ".claude", ".codex", ".gemini", ".windsurf", ".devcontainer", ".devcontainer.json",
	".envrc", ".mcp.json", ".husky", ".githooks", ".gitmodules", ".gitattributes",
}

// Unprotected reports a path that does not lead into a folder of version control, however it is spelt. The path is written with slashes.
func Unprotected(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), isVersionControl)
}

// isVersionControl also knows the spellings that some file system takes for the name: another case, characters that are not seen, dots and
// spaces at the end, a stream behind a colon, and the short names of old Windows, such as GIT~1.
func isVersionControl(segment string) bool {
	name := folded(segment)
	if slices.Contains(versionControl, name) {
		return true
	}
	short, digits, ok := strings.Cut(name, "~")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == "" && slices.Contains(versionControl, "."+short)
}

// folded is a name as the most careless file system sees it.
func folded(segment string) string {
	name, _, _ := strings.Cut(segment, ":")
	return strings.ToLower(bare(name))
}

// unnamed returns the first segment of a path that is only covered by name and that the scope does not name, "" if there is none.
func unnamed(segments []string, scope string) string {
	for _, segment := range segments {
		name := folded(segment)
		if slices.Contains(obeyed, name) && !slices.ContainsFunc(strings.Split(scope, "/"), func(s string) bool { return s == segment }) {
			return segment
		}
	}
	return ""
}
