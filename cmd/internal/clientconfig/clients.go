// Package clientconfig finds the configuration files of MCP clients, reads the servers in them and puts `candor wrap` before the
// command of a server, or removes it. An edit replaces the bytes of the command and of its arguments; every other byte of the file,
// comments included, stays as it is.
package clientconfig

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// System is the part of the system that decides where the files are.
type System struct {
	OS     string // as runtime.GOOS
	Getenv func(string) string
	Home   string
	Folder string // the current folder, for the files of a project; may be empty
}

// LocalSystem returns the system of this process, with a current folder.
func LocalSystem(getenv func(string) string, folder string) System {
	return System{OS: runtime.GOOS, Getenv: getenv, Home: getenv(HomeVariable()), Folder: folder}
}

// HomeVariable is the environment variable that names the home folder.
func HomeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// IDs returns the ids of all clients that are known.
func IDs() []string {
	var ids []string
	for _, c := range Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

// Client is a program that starts MCP servers.
type Client struct {
	ID    string
	Title string
	// Terminal reports whether the client runs in a terminal, so that it has the environment of a shell.
	Terminal bool

	format  format
	servers []string // path of the table with the servers
	mixed   bool     // that table has settings too, and a command is an array; newer files have the servers in a table servers in it
	user    []place  // files of the user, the main one first
	project []string // files in the folder of a project, with slashes
	hook    *hook    // set if the files have a hook and no servers
	perPath string   // table whose members each have a table with servers, per project; may be empty
}

// format is the syntax of a client's files.
type format uint8

const (
	formatJSON format = iota // with comments and trailing commas
	formatTOML
	formatYAML
)

// place is a file below a folder that depends on the system.
type place struct {
	folder folder
	file   string // with slashes; a * stands for any name of a folder
}

// folder returns a folder, or "" if this system has none.
type folder func(System) string

// Clients returns all clients that are known, in the order in which they are listed.
func Clients() []Client {
	standard := []string{"mcpServers"}
	return []Client{
		{ID: "claude-desktop", Title: "Claude Desktop", servers: standard, user: []place{
			{settings, "Claude/claude_desktop_config.json"},
			{packages, "Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"}}},
		{ID: "claude-code", Title: "Claude Code", Terminal: true, servers: standard, perPath: "projects", project: []string{".mcp.json"},
			user: []place{{named("CLAUDE_CONFIG_DIR", home), ".claude.json"}}},
		{ID: "cursor", Title: "Cursor", servers: standard, user: []place{{home, ".cursor/mcp.json"}}, project: []string{".cursor/mcp.json"}},
		{ID: "vscode", Title: "VS Code", servers: []string{"servers"}, project: []string{".vscode/mcp.json"}, user: []place{
			{settings, "Code/User/mcp.json"},
			{settings, "Code/User/profiles/*/mcp.json"},
			{settings, "Code - Insiders/User/mcp.json"},
			{settings, "Code - Insiders/User/profiles/*/mcp.json"},
			{home, ".vscode-server/data/User/mcp.json"},
			{home, ".vscode-server-insiders/data/User/mcp.json"}}},
		{ID: "copilot", Title: "GitHub Copilot CLI", Terminal: true, servers: standard, project: []string{".github/mcp.json"},
			user: []place{{named("COPILOT_HOME", inHome(".copilot")), "mcp-config.json"}}},
		{ID: "windsurf", Title: "Windsurf (Devin Desktop)", servers: standard, project: []string{".devin/mcp_config.json", ".devin/config.json", ".devin/config.local.json"},
			user: []place{
				{home, ".codeium/windsurf/mcp_config.json"},
				{home, ".codeium/windsurf-next/mcp_config.json"},
				{devin, "mcp_config.json"},
				{devin, "config.json"}}},
		{ID: "gemini", Title: "Gemini CLI", Terminal: true, servers: standard, project: []string{".gemini/settings.json"},
			user: []place{{named("GEMINI_CLI_HOME", home), ".gemini/settings.json"}}},
		{ID: "codex", Title: "Codex", Terminal: true, format: formatTOML, servers: []string{"mcp_servers"}, project: []string{".codex/config.toml"},
			user: []place{{named("CODEX_HOME", inHome(".codex")), "config.toml"}}},
		{ID: "zed", Title: "Zed", servers: []string{"context_servers"}, project: []string{".zed/settings.json"}, user: []place{{unixConfig("zed", "Zed"), "settings.json"}}},
		{ID: "antigravity", Title: "Antigravity", servers: standard, project: []string{".agents/mcp_config.json"}, user: []place{
			{home, ".gemini/config/mcp_config.json"},
			{home, ".gemini/antigravity/mcp_config.json"},
			{home, ".gemini/antigravity-cli/mcp_config.json"}}},
		{ID: "opencode", Title: "OpenCode", Terminal: true, mixed: true, servers: []string{"mcp"},
			project: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"},
			user:    []place{{xdgEverywhere, "opencode/opencode.json"}, {xdgEverywhere, "opencode/opencode.jsonc"}}},
		{ID: "kilo", Title: "Kilo Code", mixed: true, servers: []string{"mcp"},
			project: []string{"kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc"},
			user:    []place{{xdgEverywhere, "kilo/kilo.json"}, {xdgEverywhere, "kilo/kilo.jsonc"}}},
		{ID: "goose", Title: "Goose", format: formatYAML, servers: []string{"extensions"}, user: []place{{unixConfig("goose", "Block/goose/config"), "config.yaml"}}},
		{ID: "cline", Title: "Cline", servers: standard, user: []place{
			{settings, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
			{named("CLINE_DIR", inHome(".cline")), "data/settings/cline_mcp_settings.json"}}},
		{ID: "kiro", Title: "Kiro", servers: standard, project: []string{".kiro/settings/mcp.json"}, user: []place{{home, ".kiro/settings/mcp.json"}}},
		{ID: "grok", Title: "Grok Build", Terminal: true, format: formatTOML, servers: []string{"mcp_servers"}, project: []string{".grok/config.toml"},
			user: []place{{named("GROK_HOME", inHome(".grok")), "config.toml"}}},
		{ID: "kimi", Title: "Kimi Code", Terminal: true, servers: standard, project: []string{".kimi-code/mcp.json"},
			user: []place{{named("KIMI_CODE_HOME", inHome(".kimi-code")), "mcp.json"}}},
		{ID: "pi", Title: "Pi", Terminal: true, servers: standard, project: []string{".pi/mcp.json"}, user: []place{
			{named("PI_CODING_AGENT_DIR", inHome(".pi", "agent")), "mcp.json"},
			{home, ".config/mcp/mcp.json"},
			{home, ".agents/mcp.json"},
			{home, ".agents/mcp/mcp.json"}}},
		{ID: "mcporter", Title: "MCPorter", Terminal: true, servers: standard, project: []string{"config/mcporter.json"},
			user: []place{{home, ".mcporter/mcporter.json"}, {home, ".mcporter/mcporter.jsonc"}}},
		{ID: "mastra", Title: "Mastra Code", Terminal: true, servers: standard, project: []string{".mastracode/mcp.json"}, user: []place{{home, ".mastracode/mcp.json"}}},
		{ID: "fx", Title: "fx", Terminal: true, mixed: true, servers: []string{"mcp"}, user: []place{{home, ".fx/mcp.json"}}},
	}
}

func home(s System) string { return s.Home }

func inHome(path ...string) folder {
	return func(s System) string { return below(s.Home, path...) }
}

// named returns the folder that an environment variable names, else another. A relative one would be a folder of the
// project.
func named(variable string, otherwise folder) folder {
	return func(s System) string {
		if dir := s.Getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return otherwise(s)
	}
}

// settings is the folder in which desktop programs keep their settings.
func settings(s System) string {
	switch s.OS {
	case "windows":
		return roaming(s)
	case "darwin":
		return below(s.Home, "Library", "Application Support")
	}
	return xdgConfig(s)
}

func roaming(s System) string {
	if dir := s.Getenv("APPDATA"); dir != "" {
		return dir
	}
	return below(s.Home, "AppData", "Roaming")
}

// packages is where Windows keeps the files of programs that are installed as packages, such as those of the Store. Such a program
// finds its own copy of the roaming folder there.
func packages(s System) string {
	if s.OS != "windows" {
		return ""
	}
	if dir := s.Getenv("LOCALAPPDATA"); dir != "" {
		return below(dir, "Packages")
	}
	return below(s.Home, "AppData", "Local", "Packages")
}

func xdgConfig(s System) string {
	if dir := s.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return below(s.Home, ".config")
}

// xdgEverywhere is the folder of programs that follow the XDG rules on every system.
func xdgEverywhere(s System) string { return named("XDG_CONFIG_HOME", inHome(".config"))(s) }

// unixConfig is the folder of a program that keeps its settings below ~/.config on macOS too.
func unixConfig(unix, windows string) folder {
	return func(s System) string {
		switch s.OS {
		case "windows":
			return below(roaming(s), strings.Split(windows, "/")...)
		case "darwin":
			return below(s.Home, ".config", unix)
		}
		return below(xdgConfig(s), unix)
	}
}

// devin is the folder of the agent of Devin Desktop, as Windsurf is called now.
func devin(s System) string {
	if s.OS == "windows" {
		return below(roaming(s), "devin")
	}
	return below(s.Home, ".config", "devin")
}

// below joins a path to a folder. Without the folder it returns "", because a relative path would be a file of the current folder.
func below(dir string, path ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

func (p place) path(s System) string { return below(p.folder(s), strings.Split(p.file, "/")...) }

// files returns the path of the file, or the paths that a pattern matches.
func (p place) files(s System) []string {
	dir := p.folder(s)
	if !strings.Contains(p.file, "*") || dir == "" {
		return []string{p.path(s)}
	}
	found, _ := fs.Glob(os.DirFS(dir), p.file) // the pattern is valid; folders that cannot be read have no matches
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found
}

// UserFile returns the path of the main file of the user, or "" if the home folder is not known.
func (c Client) UserFile(s System) string { return c.user[0].path(s) }

// Key returns the name of the table that has the servers, for people.
func (c Client) Key() string { return strings.Join(c.servers, ".") }

// Places returns the paths where the files of the client may be: those of the user, then those of the project. A * stands for any
// name.
func (c Client) Places(s System) (user, project []string) {
	for _, p := range c.user {
		if path := p.path(s); path != "" {
			user = append(user, path)
		}
	}
	return user, c.projectFiles(s)
}

func (c Client) userFiles(s System) []string {
	var files []string
	for _, p := range c.user {
		files = append(files, p.files(s)...)
	}
	return files
}

func (c Client) projectFiles(s System) []string {
	var files []string
	for _, name := range c.project {
		if path := below(s.Folder, strings.Split(name, "/")...); path != "" {
			files = append(files, path)
		}
	}
	return files
}
