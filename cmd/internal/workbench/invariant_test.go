package workbench

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// soundSystem is a system that passes its audit.
func soundSystem() System {
	return System{Name: "sound", Title: "Sound", Dialect: "candor", Tools: []Tool{{
		Name: "ping", Title: "Ping", About: "Answer.", ReadOnly: true, Codes: []candor.Code{candor.CodeInternalError},
		Run: func(context.Context, *Call) (Reply, error) { return Reply{Text: []string{"pong"}}, nil },
	}}}
}

func soundOptions(t *testing.T) Options {
	t.Helper()
	state, err := OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = state.Close() })
	return Options{State: state, Ledger: filepath.Join(state.Dir(), "ledger")}
}

// ask calls the tool ping without arguments as a client does and returns the error of the call, or nil.
func ask(t *testing.T, b *Bench) *candor.Error {
	t.Helper()
	return askWith(t, b, map[string]any{})
}

func askWith(t *testing.T, b *Bench, arguments map[string]any) *candor.Error {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	serving, err := b.server.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer serving.Close() //nolint:errcheck // best effort
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // best effort
	return client.Decode(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ping", Arguments: arguments}))
}

func TestASoundSystemWorks(t *testing.T) {
	t.Parallel()
	b, err := Open(t.Context(), soundSystem(), soundOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // the checks are done
	if found := b.Findings(); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	if e := ask(t, b); e != nil {
		t.Errorf("ping failed: %v", e)
	}
}

// TestEveryInvariantIsFoundBroken breaks each invariant of the workbench in turn. The server keeps running and refuses
// every call.
func TestEveryInvariantIsFoundBroken(t *testing.T) {
	breaks := map[string]func(t *testing.T, s *System, o *Options){
		"INV_STARTUP_STATE_PRIVATE": func(t *testing.T, _ *System, o *Options) {
			if err := os.Chmod(o.State.Dir(), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"INV_STARTUP_STATE_DURABLE": func(t *testing.T, _ *System, o *Options) {
			if err := o.State.Root().Close(); err != nil {
				t.Fatal(err)
			}
		},
		"INV_STARTUP_LEDGER_VERIFIES": func(t *testing.T, s *System, o *Options) {
			first, err := Open(t.Context(), *s, *o)
			if err != nil {
				t.Fatal(err)
			}
			if e := ask(t, first); e != nil {
				t.Fatal(e)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			flip(t, o.Ledger)
		},
		"INV_STARTUP_KEY_PRIVATE": func(t *testing.T, s *System, o *Options) {
			first, err := Open(t.Context(), *s, *o)
			if err != nil {
				t.Fatal(err)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(o.Ledger, "keys", "signer.key"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, inv := range ownInvariants {
		t.Run(inv.ID, func(t *testing.T) {
			t.Parallel()
			breaking := breaks[inv.ID]
			if breaking == nil {
				t.Fatal("no test breaks it")
			}
			s, o := soundSystem(), soundOptions(t)
			breaking(t, &s, &o)
			b, err := Open(t.Context(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close() //nolint:errcheck // the checks are done
			if !slices.ContainsFunc(b.Findings(), func(f Finding) bool { return f.ID == inv.ID && f.Found != "" }) {
				t.Fatalf("it was not found; found %v", b.Findings())
			}
			e := ask(t, b)
			if e == nil || e.Code() != kaiza.SelfAuditFailure || e.CallInfo().InvariantID == "" {
				t.Errorf("the server answers %v", e)
			}
		})
	}
}

// flip changes one byte in the middle of a ledger.
func flip(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "audit-log.jsonl"))
	if err != nil || len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join(dir, "*", "*", "audit-log.jsonl"))
	}
	if len(files) == 0 {
		t.Fatal("there is no trail")
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(data, '"')
	for range 6 {
		i += 1 + slices.Index(data[i+1:], '"')
	}
	data[i+1] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
}
