package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/candor-mcp/candor/internal/mcpclient"
)

// makeTasks runs two tasks and an audit session, and puts ids into the environment: DONE is a task with two thought records, BARE has none.
func makeTasks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: maketasks STATE")
	}
	c, err := startBench(binaryOf(ts), ts.MkAbs("."), os.Environ(), "dual", "--state", args[0], "--quiet")
	ts.Check(err)
	call := func(tool string, in map[string]any) map[string]any {
		arguments, err := json.Marshal(in)
		ts.Check(err)
		raw, err := c.Ask(context.Background(), "tools/call", mcpclient.CallParams(tool, string(arguments)))
		ts.Check(err)
		var answer struct {
			Error bool `json:"isError"`
			Data  struct {
				Data map[string]any `json:"data"`
			} `json:"structuredContent"`
		}
		ts.Check(json.Unmarshal(raw.Result().Raw(), &answer))
		if answer.Error || answer.Data.Data["ok"] == false {
			ts.Fatalf("%s: %s", tool, raw.Result().Raw())
		}
		return answer.Data.Data
	}
	name := func(variable string, value any) string {
		text, _ := value.(string)
		ts.Setenv(variable, text)
		return text
	}
	done := name("DONE", call("task_create", map[string]any{"title": "Paint the \x1b[31mdoor", "agent_id": "painter"})["id"])
	call("audit_session_start", map[string]any{"session_id": "work"})
	for _, content := range []string{"Red is warm.", "It is red now."} {
		call("thought_record", map[string]any{"task_id": done, "type": "decision", "agent_id": "painter", "content": content})
	}
	for _, status := range []string{"GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE"} {
		call("task_update", map[string]any{"id": done, "status": status})
	}
	call("merkle_finalize", map[string]any{"session_id": "work"})
	name("BARE", call("task_create", map[string]any{"title": "Wait"})["id"])
	c.stop()
}

// tamper runs an SQL statement on the database of a state folder, as an attacker with access to the disk would.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tamper STATE SQL")
	}
	db, err := sqlitedb.Open(filepath.Join(ts.MkAbs(args[0]), "dual.db"), sqlitedb.Options{})
	ts.Check(err)
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(err)
	ts.Check(db.Close())
}
