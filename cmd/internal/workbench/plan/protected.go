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
// They are in lower case.
// They are covered by a scope that names them, and not by one that matches them with a wildcard, so that the person who approves reads
// the name.
var obeyed = []string{
	".vscode", ".idea", ".fleet", ".zed", ".cursor", ".claude", ".codex", ".gemini", ".windsurf", ".devcontainer", ".devcontainer.json",
	".envrc", ".mcp.json", ".husky", ".githooks", ".gitmodules", ".gitattributes",
	"claude.md", "agents.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules",
	".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", "mise.toml", ".mise.toml", ".gdbinit",
}

// Unprotected reports a path that does not lead into a folder of version control, however it is spelt. The path is written with slashes.
func Unprotected(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), isVersionControl)
}

// Ordinary reports a path with none of the names that need an approved scope, or that no scope covers: not in a folder of version control, not in
// a folder of plans, and without a name that other programs obey. The path is written with slashes.
func Ordinary(path string) bool {
	segments := strings.Split(path, "/")
	return Unprotected(path) && !inFolder(segments) && unnamed(segments, "") == ""
}

// NotAWorkspace returns the first segment that keeps a folder from being a workspace, "" if there is none: a folder of version control, one
// that other programs obey, or the plans or reports of another workspace. A session there could change, without a plan, files that are
// guarded in the workspace around it.
func NotAWorkspace(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if isVersionControl(segment) || unnamed(segments[i:i+1], "") != "" {
			return segment
		}
		if i > 0 && (samePair(segments[i-1:], Folder) || samePair(segments[i-1:], ReportsFolder)) {
			return segments[i-1] + "/" + segment
		}
	}
	return ""
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
