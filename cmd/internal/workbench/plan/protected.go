package plan

import (
	"slices"
	"strings"
)

// versionControl lists the folders in which version control keeps settings and hooks. These name programs that it runs,
// so a file written there can run code on the next status command. No plan covers them. A file .git, as in a worktree or
// submodule, refers to such a folder.
var versionControl = []string{".git", ".hg", ".svn", ".jj", ".sl", ".bzr", ".pijul", "_darcs", "cvs"}

// obeyed lists, in lower case, the files and folders that other programs (editors, agents, shells, git) act on as soon
// as they open the folder that contains them. They are covered only by a scope that names them, not by a wildcard, so
// that the approver reads the name.
var obeyed = []string{
	".vscode", ".idea", ".fleet", ".zed", ".cursor", ".claude", ".codex", ".gemini", ".windsurf", ".devcontainer", ".devcontainer.json",
	".envrc", ".mcp.json", ".husky", ".githooks", ".gitmodules", ".gitattributes",
	"claude.md", "agents.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules",
	".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", "mise.toml", ".mise.toml", ".gdbinit",
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

// NotAWorkspace returns the first segment that prevents a folder from being a workspace, or "": a folder of version
// control, one that other programs act on, or the plans or reports of another workspace. A session there could change,
// without a plan, files that are guarded in the surrounding workspace.
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
	return strings.ToLower(bare(name))
}

// unnamed returns the first segment of a path that must be covered by name but is not named by the scope, or "".
func unnamed(segments []string, scope string) string {
	for _, segment := range segments {
		name := folded(segment)
		if slices.Contains(obeyed, name) && !slices.ContainsFunc(strings.Split(scope, "/"), func(s string) bool { return s == segment }) {
			return segment
		}
	}
	return ""
}
