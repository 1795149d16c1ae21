package realservers

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/candor-mcp/candor/internal/tools/conformance"
)

// Server is one published server.
type Server struct {
	conformance.Package

	Entry string   // the script to run, inside the package
	Args  []string // after the script; GROUND is replaced by the directory it may use
	Env   []string // in addition to the few variables that every server gets
	Quick bool     // probed in every run, not only with -all
	// Careful is set if a tool has dangerous effects when it is called with arguments that the server does not check.
	// Its tools are called only if it can write nowhere else.
	Careful bool
}

// groundWord is the placeholder for the server's directory in arguments and reports.
const groundWord = "GROUND"

// Servers lists all servers, at the versions that were recorded in the corpus. A new version has new expected results:
// change it here and check the run.
var Servers = []Server{
	{Package: npm("@modelcontextprotocol/server-everything", "2026.8.31"), Entry: "dist/index.js", Quick: true},
	{Package: npm("@modelcontextprotocol/server-filesystem", "2026.8.31"), Entry: "dist/index.js", Args: []string{groundWord}, Quick: true},
	{Package: npm("@modelcontextprotocol/server-memory", "2026.8.31"), Entry: "dist/index.js", Quick: true,
		Env: []string{"MEMORY_FILE_PATH=GROUND/memory.json"}},
	{Package: npm("@modelcontextprotocol/server-sequential-thinking", "2026.8.31"), Entry: "dist/index.js"},
	{Package: npm("mcp-hello-world", "1.1.2"), Entry: "build/stdio.js"},
	{Package: npm("@wrtnlabs/calculator-mcp", "0.2.1"), Entry: "bin/index.js"},
	{Package: npm("@kazuph/mcp-taskmanager", "1.1.1"), Entry: "dist/index.js", Env: []string{"TASK_MANAGER_FILE_PATH=GROUND/tasks.json"}},
	{Package: npm("@allpepper/memory-bank-mcp", "0.2.2"), Entry: "dist/main/index.js", Env: []string{"MEMORY_BANK_ROOT=GROUND"}},
	{Package: npm("@movibe/memory-bank-mcp", "0.4.1"), Entry: "build/index.js"},
	{Package: npm("mcp-server-filesystem", "0.6.2"), Entry: "dist/index.js", Args: []string{groundWord}},
	{Package: npm("mcp-sequentialthinking-tools", "0.0.3"), Entry: "dist/index.js"},
	{Package: npm("bazi-mcp", "0.1.0"), Entry: "dist/stdio.js"},
	{Package: npm("@modelcontextprotocol/server-basic-react", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}},
	{Package: npm("@modelcontextprotocol/server-budget-allocator", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}},
	{Package: npm("@modelcontextprotocol/server-customer-segmentation", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}},
	{Package: npm("@modelcontextprotocol/server-map", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}},
	{Package: npm("@modelcontextprotocol/server-shadertoy", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}},
	{Package: npm("@modelcontextprotocol/server-sheet-music", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}},
	{Package: npm("repomix", "1.18.1"), Entry: "bin/repomix.cjs", Args: []string{"--mcp"}, Careful: true},
	{Package: npm("drawio-mcp-server", "2.3.0"), Entry: "build/index.js", Careful: true},
	{Package: npm("@cyanheads/git-mcp-server", "2.15.3"), Entry: "dist/index.js", Careful: true,
		Env: []string{"MCP_TRANSPORT_TYPE=stdio", "MCP_LOG_LEVEL=silent", "LOGS_DIR=GROUND/logs"}},
	{Package: npm("howtocook-mcp", "0.2.2"), Entry: "build/index.js"},
	{Package: npm("swagger-mcp", "1.0.8"), Entry: "dist/server.js", Careful: true},
	{Package: npm("mcp-server-commands", "0.5.0"), Entry: "build/index.js", Careful: true},
	{Package: npm("@negokaz/excel-mcp-server", "0.12.0"), Entry: "dist/launcher.js"},
	{Package: npm("@modelcontextprotocol/server-github", "2025.4.8"), Entry: "dist/index.js", Careful: true},
}

func npm(name, version string) conformance.Package {
	return conformance.Package{Name: name, Version: version}
}

// Command returns the command line that runs the server in that directory. The error is a [conformance.MissingError] if
// the server is not installed.
func (s Server) Command(ctx context.Context, box conformance.Toolbox, ground string) ([]string, error) {
	node, modules, err := box.Find(ctx, s.Package)
	if err != nil {
		return nil, err
	}
	line := []string{node, filepath.Join(modules, filepath.FromSlash(s.Name), filepath.FromSlash(s.Entry))}
	for _, arg := range s.Args {
		line = append(line, strings.ReplaceAll(arg, groundWord, ground))
	}
	return line, nil
}
