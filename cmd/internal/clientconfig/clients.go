// Package clientconfig finds the configuration files of MCP clients, reads the servers in them and puts `candor wrap` before the
// command of a server, or removes it. An edit replaces the bytes of the command and of its arguments; every other byte of the file,
// comments included, stays as it is.
package clientconfig

import (
	"path/filepath"
	"strings"
)

// System is the part of the system that decides where the files are.
type System struct {
	OS     string // as runtime.GOOS
	Getenv func(string) string
	Home   string
	Folder string // the current folder, for the files of a project; may be empty
}

// Client is a program that starts MCP servers.
type Client struct {
	ID    string
	Title string

	toml    bool
	servers string   // name of the table with the servers
	project string   // file in the folder of a project, with slashes; may be empty
	user    userFile // file of the user
	more    userFile // pattern of further files of the user; may be nil
	perPath string   // table whose members each have a table with servers, per project; may be empty
}

// userFile returns the path of the user's file, or "".
type userFile func(System) string

// Clients returns all clients that are known, in the order in which they are listed.
func Clients() []Client {
	const standard = "mcpServers"
	return []Client{
		{ID: "claude-desktop", Title: "Claude Desktop", servers: standard, user: inConfig("Claude", "claude_desktop_config.json")},
		{ID: "claude-code", Title: "Claude Code", servers: standard, user: claudeCode, project: ".mcp.json", perPath: "projects"},
		{ID: "cursor", Title: "Cursor", servers: standard, user: inHome(".cursor", "mcp.json"), project: ".cursor/mcp.json"},
		{ID: "vscode", Title: "VS Code", servers: "servers", user: inConfig("Code", "User", "mcp.json"), more: inConfig("Code", "User", "profiles", "*", "mcp.json"), project: ".vscode/mcp.json"},
		{ID: "windsurf", Title: "Windsurf", servers: standard, user: inHome(".codeium", "windsurf", "mcp_config.json")},
		{ID: "gemini", Title: "Gemini CLI", servers: standard, user: inHome(".gemini", "settings.json"), project: ".gemini/settings.json"},
		{ID: "codex", Title: "Codex", toml: true, servers: "mcp_servers", user: codex, project: ".codex/config.toml"},
		{ID: "zed", Title: "Zed", servers: "context_servers", user: zed, project: ".zed/settings.json"},
	}
}

// inHome returns a path below the home folder.
func inHome(path ...string) userFile {
	return func(s System) string { return below(s.Home, path...) }
}

// inConfig returns a path below the folder in which desktop programs keep their settings.
func inConfig(path ...string) userFile {
	return func(s System) string {
		switch s.OS {
		case "windows":
			return below(roaming(s), path...)
		case "darwin":
			return below(s.Home, append([]string{"Library", "Application Support"}, path...)...)
		}
		return below(xdgConfig(s), path...)
	}
}

func roaming(s System) string {
	if dir := s.Getenv("APPDATA"); dir != "" {
		return dir
	}
	return below(s.Home, "AppData", "Roaming")
}

func xdgConfig(s System) string {
	if dir := s.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return below(s.Home, ".config")
}

func claudeCode(s System) string {
	if dir := s.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return below(s.Home, ".claude.json")
}

func codex(s System) string {
	if dir := s.Getenv("CODEX_HOME"); dir != "" {
		return filepath.Join(dir, "config.toml")
	}
	return below(s.Home, ".codex", "config.toml")
}

// zed keeps its settings below ~/.config on macOS too.
func zed(s System) string {
	if s.OS == "windows" {
		return below(roaming(s), "Zed", "settings.json")
	}
	if s.OS == "darwin" {
		return below(s.Home, ".config", "zed", "settings.json")
	}
	return below(xdgConfig(s), "zed", "settings.json")
}

// below joins a path to a folder. Without the folder it returns "", because a relative path would be a file of the current folder.
func below(dir string, path ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

// UserFile returns the path of the user's file of a client, or "" if the home folder is not known.
func (c Client) UserFile(s System) string { return c.user(s) }

// userFiles returns the path of the user's file, and those of profiles that exist.
func (c Client) userFiles(s System) []string {
	files := []string{c.user(s)}
	if c.more != nil {
		found, _ := filepath.Glob(c.more(s)) // the pattern is valid; a home folder with special characters finds nothing
		files = append(files, found...)
	}
	return files
}

// ProjectFile returns the path of the client's file in the current folder, or "".
func (c Client) ProjectFile(s System) string {
	if c.project == "" {
		return ""
	}
	return below(s.Folder, strings.Split(c.project, "/")...)
}
