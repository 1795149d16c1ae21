//go:build unix

package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
