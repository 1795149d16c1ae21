//go:build unix

package harness_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInvalidPathsFailAtStart also covers variables of a disabled feature.
func TestInvalidPathsFailAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ name, value, allowed string }{
		{"MCP_ERROR_METRICS_FILE", filepath.Join(dir, "missing", "x"), "in a folder that exists"},
		{"MCP_ERROR_METRICS_FILE", dir, "in a folder that exists"},
		{"MCP_ERROR_METRICS_FILE", "/dev/null", "in a folder that exists"},
		{"MCP_ERROR_METRICS_FILE", filepath.Join(text, "x"), "in a folder that exists"},
		{"MCP_KG_FILE", dir, "SQLite"},
		{"MCP_KG_FILE", "/dev/null", "SQLite"},
		{"MCP_KG_FILE", text, "SQLite"},
		{"MCP_KG_FILE", filepath.Join(text, "x"), "SQLite"},
		{"MCP_PYTHON_SCRIPTS", filepath.Join(dir, "missing"), "existing folder"},
		{"MCP_PYTHON_SCRIPTS", text, "existing folder"},
	} {
		switches := []string{"0", "1"}
		if bad.name != "MCP_ERROR_METRICS_FILE" {
			switches = switches[:1]
		}
		for _, metrics := range switches {
			s := setup{env: []string{bad.name + "=" + bad.value, "MCP_ERROR_METRICS=" + metrics}, flags: []string{"--domain", "kg", "--domain", "python"}}
			cmd := s.command(t)
			var said bytes.Buffer
			cmd.Stderr = &said
			out, _ := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != 2 || len(out) > 0 || !strings.Contains(said.String(), bad.name) || !strings.Contains(said.String(), bad.allowed) {
				t.Errorf("%s=%q: exit code %d, output %q: %s", bad.name, bad.value, code, out, &said)
			}
		}
	}
}

// TestDamagedGraphIsReported damages the database after the start, when the variables have been checked.
func TestDamagedGraphIsReported(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	file := filepath.Join(state, "kg", "triples.db")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	for damage, want := range map[string]string{"a text": "candor/DATA_CORRUPT", "a folder": "candor/UNAVAILABLE"} {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if damage == "a folder" {
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(file, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		h := start(t, setup{state: state, env: []string{"MCP_HEALTH_PORT=0"}})
		for method, params := range map[string]string{"kg/add": `{"subject":"a","predicate":"b","object":"c"}`, "kg/query": "{}", "kg/stats": "{}"} {
			if r := h.call(method, params); r.code() != want || strings.Contains(string(r.m.Bytes()), state) {
				t.Errorf("%s, %s: %s", damage, method, r.m.Bytes())
			}
		}
		if _, _, body := get(t, h.healthAt(), "/healthz", "", ""); !strings.Contains(body, `"status":"degraded"`) {
			t.Errorf("%s: %s", damage, body)
		}
		h.end()
	}
}

// TestDatabasesHaveOwnerPermissions creates databases in a configured directory that others may read.
func TestDatabasesHaveOwnerPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h := start(t, setup{
		flags: []string{"--domain", "kg", "--domain", "sql"},
		env:   []string{"MCP_KG_FILE=" + filepath.Join(dir, "kg.db"), "MCP_SQL_URL=sqlite:" + filepath.Join(dir, "sql.db"), "MCP_SQL_WRITE=1"},
	})
	h.call("kg/add", `{"subject":"a","predicate":"b","object":"c"}`).result()
	h.call("sql/execute", `{"sql":"CREATE TABLE t (a)"}`).result()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "-shm") {
			continue // it has no data
		}
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}
