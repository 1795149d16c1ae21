package dual_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
)

// triggers make the running server emit each code of the domain, by a condition that a client or the environment can
// cause where possible.
var triggers = map[string]func(p *place) answer{
	"INVALID_PARAMS": func(p *place) answer { return p.start().call("task_get", args{"id": 5}) },
	"HANDLER_ERROR":  func(p *place) answer { return p.start("--drill").call("drill", args{"kind": "panic"}) },
	"ERR_VALIDATION": func(p *place) answer { return p.start().call("task_create", args{"title": " "}) },
	"ERR_NOT_FOUND":  func(p *place) answer { return p.start().call("task_get", args{"id": missing}) },
	"ERR_WRITEBACK_REQUIRED": func(p *place) answer {
		s := p.start()
		id := s.task(nil)
		s.advance(id, "VERIFY")
		return s.call("task_update", args{"id": id, "status": "DONE"})
	},
	"ERR_INVALID_TRANSITION": func(p *place) answer {
		s := p.start()
		return s.call("task_update", args{"id": s.task(nil), "status": "DONE"})
	},
	"ERR_SESSION_EXISTS": func(p *place) answer {
		s := p.start()
		s.call("audit_session_start", args{"session_id": "s"}).fine()
		return s.call("audit_session_start", args{"session_id": "s"})
	},
	"ERR_SESSION_NOT_FOUND": func(p *place) answer { return p.start().call("merkle_finalize", args{"session_id": "s"}) },
	"ERR_ALREADY_FINALIZED": func(p *place) answer {
		s := p.start()
		s.call("audit_session_start", args{"session_id": "s"}).fine()
		s.think(s.task(nil), nil).fine()
		s.call("merkle_finalize", args{"session_id": "s"}).fine()
		return s.call("merkle_finalize", args{"session_id": "s"})
	},
	"ERR_NO_RECORDS": func(p *place) answer {
		s := p.start()
		s.call("audit_session_start", args{"session_id": "s"}).fine()
		return s.call("merkle_finalize", args{"session_id": "s"})
	},
	"ERR_NOT_FINALIZED": func(p *place) answer {
		s := p.start()
		s.call("audit_session_start", args{"session_id": "s"}).fine()
		return s.call("merkle_root", args{"session_id": "s"})
	},
	"ROUND_NOT_FOUND": func(p *place) answer {
		return p.start().call("consensus_vote", args{"round_id": strings.Repeat("0", 64), "voter_id": "a", "choice": "accept"})
	},
	"ALREADY_VOTED": func(p *place) answer {
		s := p.start()
		round := s.call("consensus_propose", args{"topic": "t", "proposal": "p", "proposer_id": "a", "voters": []string{"a", "b"}}).fine().data("round_id")
		s.call("consensus_vote", args{"round_id": round, "voter_id": "a", "choice": "accept"}).fine()
		return s.call("consensus_vote", args{"round_id": round, "voter_id": "a", "choice": "reject"})
	},
	"INVALID_KEY":              func(p *place) answer { return p.start().call("vrf_eval", args{"priv_key_hex": ""}) },
	"FALLBACK_CHAIN_EXHAUSTED": func(p *place) answer { return p.start().call("router_call", args{"tool": "t"}) },
	"TOOL_NOT_ADMITTED":        func(p *place) answer { return p.start("--access", "readonly").call("task_create", args{"title": "x"}) },
	"TOOL_LOCK_TIMEOUT": func(p *place) answer {
		s := p.start("--drill", "--lock-wait", "100ms")
		refused, _ := either(s.later("drill", args{"kind": "hold"}), s.later("drill", args{"kind": "hold"}))
		return refused
	},
	"DB_BUSY": func(p *place) answer {
		s := p.start("--db-wait", "100ms")
		defer p.hold()()
		return s.call("task_create", args{"title": "x"})
	},
	"DB_FULL": func(p *place) answer {
		s := p.start("--max-db", "200KiB")
		id := s.task(nil)
		for {
			if a := s.think(id, args{"content": strings.Repeat("x", 60<<10)}); a.Code() != "" {
				return a
			}
		}
	},
	"UNIQUE_VIOLATION": func(p *place) answer {
		s := p.start()
		id := s.task(nil)
		taken := s.think(id, nil).fine().data("id")
		return s.think(id, args{"id": taken})
	},
}

// TestD2EveryCodeIsEmitted makes the running server emit each of the 20 codes, in the pattern of its tool, and decodes
// each.
func TestD2EveryCodeIsEmitted(t *testing.T) {
	t.Parallel()
	registered := 0
	for c := range candor.Codes() {
		if c.Domain() != "dual" {
			continue
		}
		registered++
		t.Run("dual/"+c.Symbol(), func(t *testing.T) {
			t.Parallel()
			trigger := triggers[c.Symbol()]
			if trigger == nil {
				t.Fatal("nothing emits it")
			}
			if c.Info().Status != "active" {
				t.Errorf("it is emitted and %s in the catalogue", c.Info().Status)
			}
			for _, dialect := range []string{"dual", "dual-unified"} {
				a := trigger(newPlace(t, "--dialect", dialect)).is(c.Symbol())
				if domain, _ := a.Canonical().Path("domain").Str(); domain != "dual" {
					t.Errorf("the domain is %s", domain)
				}
				switch {
				case dialect == "dual-unified":
					if !a.envelope().Path("error", "code").Is(c.Symbol()) || !a.marked() {
						t.Errorf("%s", a.M.Bytes())
					}
				case strings.HasPrefix(c.Symbol(), "ERR_"):
					a.isB(c.Symbol())
				default:
					a.isA(c.Symbol())
				}
				decoded(t, a, c)
			}
		})
	}
	if registered != 20 || len(triggers) != 20 {
		t.Errorf("%d codes are registered and %d have a trigger, want 20", registered, len(triggers))
	}
}

// decoded decodes an answer with client.Decode, unchanged and without _meta, as the original server would have sent it.
func decoded(t *testing.T, a answer, want candor.Code) {
	t.Helper()
	var whole mcp.CallToolResult
	if err := json.Unmarshal(a.M.Result().Raw(), &whole); err != nil {
		t.Fatal(err)
	}
	if got := client.Decode(&whole, nil); got == nil || got.Code() != want {
		t.Errorf("decoded: %v, want %s", got, want)
	}
	bare := whole
	bare.Meta = nil
	bare.Content = whole.Content[:1]
	got, confidence := client.DecodeSuspected(&bare, nil)
	if got == nil || got.Code() != want || confidence <= 0 {
		t.Errorf("decoded without _meta: %v with confidence %v, want %s", got, confidence, want)
	}
}
