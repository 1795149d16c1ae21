package realservers

import "github.com/candor-mcp/candor/cmd/internal/testing/conformance"

// Servers lists all servers, at the versions that were recorded in the corpus. A new version has new expected results:
// change it here and check the run.
var Servers = []Server{
	{Package: npm("@modelcontextprotocol/server-everything", "2026.8.31"), Entry: "dist/index.js", Quick: true, Ask: []Ask{
		{"echo", `{"message":"hello"}`},
		{"get-sum", `{"a":2,"b":3}`},
		{"get-structured-content", `{"location":"Chicago"}`},
		{"get-tiny-image", `{}`},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":-1}`},
	}},
	{Package: npm("@modelcontextprotocol/server-filesystem", "2026.8.31"), Entry: "dist/index.js", Args: []string{groundWord}, Quick: true, Ask: []Ask{
		{"read_text_file", `{"path":"GROUND/notes.txt"}`},
		{"list_directory", `{"path":"GROUND"}`},
		{"get_file_info", `{"path":"GROUND/notes.txt"}`},
		{"list_allowed_directories", `{}`},
		{"read_text_file", `{"path":"GROUND/no-such-file.txt"}`},
		{"list_directory", `{"path":"/"}`},
	}},
	{Package: npm("@modelcontextprotocol/server-memory", "2026.8.31"), Entry: "dist/index.js", Quick: true,
		Env: []string{"MEMORY_FILE_PATH=GROUND/memory.json"}, Ask: []Ask{
			{"read_graph", `{}`},
			{"search_nodes", `{"query":"nothing"}`},
			{"open_nodes", `{"names":["nobody"]}`},
			{"add_observations", `{"observations":[{"entityName":"nobody","contents":["is here"]}]}`},
		}},
	{Package: npm("@modelcontextprotocol/server-sequential-thinking", "2026.8.31"), Entry: "dist/index.js", Ask: []Ask{
		{"sequentialthinking", `{"thought":"first","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`},
	}},
	{Package: npm("mcp-hello-world", "1.1.2"), Entry: "build/stdio.js", Ask: []Ask{
		{"echo", `{"message":"hello"}`},
		{"add", `{"a":2,"b":3}`},
	}},
	{Package: npm("@wrtnlabs/calculator-mcp", "0.2.1"), Entry: "bin/index.js", Ask: []Ask{
		{"add", `{"a":2,"b":3}`},
		{"div", `{"a":1,"b":0}`},
		{"sqrt", `{"a":-1}`},
	}},
	{Package: npm("@kazuph/mcp-taskmanager", "1.1.1"), Entry: "dist/index.js", Env: []string{"TASK_MANAGER_FILE_PATH=GROUND/tasks.json"}, Ask: []Ask{
		{"list_requests", `{}`},
		{"get_next_task", `{"requestId":"req-999"}`},
		{"open_task_details", `{"taskId":"task-999"}`},
	}},
	{Package: npm("@allpepper/memory-bank-mcp", "0.2.2"), Entry: "dist/main/index.js", Env: []string{"MEMORY_BANK_ROOT=GROUND"}, Ask: []Ask{
		{"list_projects", `{}`},
		{"list_project_files", `{"projectName":"folder"}`},
		{"memory_bank_read", `{"projectName":"folder","fileName":"inside.txt"}`},
		{"memory_bank_read", `{"projectName":"nobody","fileName":"no-such-file.md"}`},
	}},
	{Package: npm("@movibe/memory-bank-mcp", "0.4.1"), Entry: "build/index.js", Ask: []Ask{
		{"read_memory_bank_file", `{"filename":"no-such-file.md"}`},
		{"list_memory_bank_files", `{"random_string":"x"}`},
	}},
	{Package: npm("mcp-server-filesystem", "0.6.2"), Entry: "dist/index.js", Args: []string{groundWord}, Ask: []Ask{
		{"read_file", `{"path":"GROUND/notes.txt"}`},
		{"list_directory", `{"path":"GROUND"}`},
		{"read_file", `{"path":"GROUND/no-such-file.txt"}`},
		{"read_file", `{"path":"/etc/hostname"}`},
		{"read_file", `{}`}, // its advertised schema is empty, so the server itself has to refuse
	}},
	{Package: npm("mcp-sequentialthinking-tools", "0.0.3"), Entry: "dist/index.js", Ask: []Ask{
		{"sequentialthinking_tools", `{"thought":"first","next_thought_needed":false,"thought_number":1,"total_thoughts":1,"available_mcp_tools":[]}`},
	}},
	{Package: npm("bazi-mcp", "0.1.0"), Entry: "dist/stdio.js", Ask: []Ask{
		{"getChineseCalendar", `{"solarDatetime":"2000-01-01T12:00:00+08:00"}`},
		{"getBaziDetail", `{"gender":1,"solarDatetime":"no date"}`},
	}},
	{Package: npm("@modelcontextprotocol/server-basic-react", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}, Ask: []Ask{
		{"get-time", `{}`},
	}},
	{Package: npm("@modelcontextprotocol/server-budget-allocator", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}, Ask: []Ask{
		{"get-budget-data", `{}`},
	}},
	{Package: npm("@modelcontextprotocol/server-customer-segmentation", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}, Ask: []Ask{
		{"get-customer-data", `{"segment":"SMB"}`},
	}},
	{Package: npm("@modelcontextprotocol/server-map", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}, Ask: []Ask{
		{"show-map", `{"west":9,"south":48,"east":10,"north":49}`},
	}},
	{Package: npm("@modelcontextprotocol/server-shadertoy", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}, Ask: []Ask{
		{"render-shadertoy", `{}`},
	}},
	{Package: npm("@modelcontextprotocol/server-sheet-music", "2.0.3"), Entry: "dist/index.js", Args: []string{"--stdio"}, Ask: []Ask{
		{"play-sheet-music", `{"abcNotation":"X:1\nT:One\nK:C\nCDEF|"}`},
		{"play-sheet-music", `{"abcNotation":"no notes"}`},
	}},
	{Package: npm("repomix", "1.18.1"), Entry: "bin/repomix.cjs", Args: []string{"--mcp"}, Careful: true, Ask: []Ask{
		{"pack_codebase", `{"directory":"GROUND/folder"}`},
		{"read_repomix_output", `{"outputId":"no-such-output"}`},
		{"grep_repomix_output", `{"outputId":"no-such-output","pattern":"x"}`},
		{"attach_packed_output", `{"path":"GROUND/no-such-file.xml"}`},
	}},
	{Package: npm("drawio-mcp-server", "2.3.0"), Entry: "build/index.js", Careful: true, Ask: []Ask{
		{"get-shape-categories", `{}`},
		{"get-shape-by-name", `{"shape_name":"no such shape"}`},
	}},
	{Package: npm("@cyanheads/git-mcp-server", "2.15.3"), Entry: "dist/index.js", Careful: true,
		Env: []string{"MCP_TRANSPORT_TYPE=stdio", "MCP_LOG_LEVEL=silent", "LOGS_DIR=GROUND/logs"}, Ask: []Ask{
			{"git_status", `{"path":"GROUND"}`},
			{"git_init", `{"path":"GROUND/folder"}`},
			{"git_log", `{"path":"GROUND/no-such-folder"}`},
		}},
	{Package: npm("howtocook-mcp", "0.2.2"), Entry: "build/index.js", Ask: []Ask{
		{"mcp_howtocook_getRecipeById", `{"query":"no such recipe"}`},
	}},
	{Package: npm("swagger-mcp", "1.0.8"), Entry: "dist/server.js", Careful: true, Ask: []Ask{
		{"list_endpoints", `{}`},
		{"get_endpoint_details", `{"path":"/nothing","method":"GET"}`},
	}},
	{Package: npm("mcp-server-commands", "0.5.0"), Entry: "build/index.js", Careful: true, Ask: []Ask{
		{"run_command", `{"command":"echo hello"}`},
		{"run_command", `{"command":"cat no-such-file.txt"}`},
	}},
	{Package: npm("@negokaz/excel-mcp-server", "0.12.0"), Entry: "dist/launcher.js", Ask: []Ask{
		{"excel_describe_sheets", `{"fileAbsolutePath":"GROUND/no-such-file.xlsx"}`},
		{"excel_describe_sheets", `{"fileAbsolutePath":"GROUND/notes.txt"}`},
	}},
	{Package: npm("@modelcontextprotocol/server-github", "2025.4.8"), Entry: "dist/index.js", Careful: true},
}

func npm(name, version string) conformance.Package {
	return conformance.Package{Name: name, Version: version}
}
