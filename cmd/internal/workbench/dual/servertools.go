package dual

import (
	"context"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519/extra/ecvrf"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type noArgs struct{}

func (s *System) serverPing() workbench.Tool {
	return workbench.Tool{
		Name: "server_ping", Title: "Ping", About: "Answer at once, to check that the server works.", ReadOnly: true, Idempotent: true,
		Run: handle(func(context.Context, *workbench.Call, noArgs) (any, error) {
			return map[string]any{"pong": true, "time": time.Now().UTC().Format(time.RFC3339Nano), "uptime_ms": time.Since(s.begun).Milliseconds()}, nil
		}),
	}
}

// health is the result of server_health.
type health struct {
	Status     string           `json:"status"` // ok, or degraded if records are not attested yet
	Version    string           `json:"version"`
	UptimeMs   int64            `json:"uptime_ms"`
	Access     Access           `json:"access"`
	Tools      int              `json:"tools"`
	Tables     map[string]int64 `json:"db_tables"`
	Ledger     bool             `json:"ledger"`
	Unattested int64            `json:"unattested_records"`
	Upstreams  int              `json:"upstreams"`
	Open       []store.Session  `json:"open_sessions"` // the newest
}

func (s *System) serverHealth() workbench.Tool {
	return workbench.Tool{
		Name: "server_health", Title: "Health", About: "Return the version, the access, the number of database rows and the open audit sessions. The records are not verified; audit_verify_chain does that.", ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{dualcode.DBBusy},
		Run: handle(func(ctx context.Context, c *workbench.Call, _ noArgs) (any, error) {
			h := health{Status: "ok", Version: s.o.Version, UptimeMs: time.Since(s.begun).Milliseconds(), Access: s.o.Access, Tools: toolCount,
				Ledger: c.Bench().Ledger() != "", Upstreams: len(s.o.Upstreams)}
			err := s.store.View(ctx, func(tx *store.Tx) (err error) {
				if h.Tables, err = tx.Tables(); err != nil {
					return err
				}
				if h.Open, err = tx.OpenSessions(rules.MaxShown); err != nil {
					return err
				}
				h.Unattested, err = tx.CountUnattested()
				return err
			})
			if h.Ledger && h.Unattested > 0 {
				h.Status = "degraded"
			}
			return h, err
		}),
	}
}

// skill is a procedure that an agent can follow with the tools of this server.
type skill struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Tags        []string `json:"tags,omitempty"`
	Tools       []string `json:"tools,omitempty"` // used by the steps
	Steps       []string `json:"steps,omitempty"`
}

//go:embed skills/*.yaml
var skillFiles embed.FS

// readSkills returns the skills, sorted by name.
func readSkills() (all []skill, err error) {
	files, err := fs.Glob(skillFiles, "skills/*")
	for _, file := range files {
		data, failed := skillFiles.ReadFile(file)
		var one skill
		err = errors.Join(err, failed, yaml.UnmarshalWithOptions(data, &one, yaml.Strict()))
		all = append(all, one)
	}
	return all, err
}

type skillArgs struct {
	Tag   string `json:"tag"`
	Query string `json:"query"`
}

func (s *System) skillList() workbench.Tool {
	return workbench.Tool{
		Name: "skill_list", Title: "List skills", About: "List what can be done with this server, step by step.",
		Input: `{"tag":{"type":"string","minLength":1,"maxLength":64,"description":"Only skills with this tag."},
"query":{"type":"string","minLength":1,"maxLength":200,"description":"Only skills with this text in the name or the description."}}`,
		ReadOnly: true, Idempotent: true,
		Run: handle(func(_ context.Context, _ *workbench.Call, in skillArgs) (any, error) {
			all, err := readSkills()
			total := len(all)
			all = slices.DeleteFunc(all, func(one skill) bool {
				return in.Tag != "" && !slices.Contains(one.Tags, in.Tag) ||
					!strings.Contains(strings.ToLower(one.Name+"\n"+one.Description), strings.ToLower(in.Query))
			})
			return map[string]any{"skills": all, "count": len(all), "total": total}, err
		}),
	}
}

// vrfSuite is the name of the suite in RFC 9381.
const vrfSuite = "ECVRF-EDWARDS25519-SHA512-ELL2"

type vrfArgs struct {
	Key      string  `json:"priv_key_hex"`
	Input    *string `json:"input"`
	InputHex *string `json:"input_hex"`
}

// vrfOutput is the result of vrf_eval, in hex. Proof proves to a holder of PublicKey that Beta belongs to the input.
type vrfOutput struct {
	Suite     string `json:"suite"`
	PublicKey string `json:"public_key"`
	Beta      string `json:"output"` // 64 bytes
	Proof     string `json:"proof"`  // 80 bytes
}

func (s *System) vrfEval() workbench.Tool {
	return workbench.Tool{
		Name: "vrf_eval", Title: "Evaluate a verifiable random function",
		About: "Evaluate the VRF of RFC 9381 (" + vrfSuite + ") for an input: a pseudorandom output with a proof, which can be checked with the public key.",
		Input: `{"priv_key_hex":{"type":"string","maxLength":256,"description":"The private key: 32 bytes as 64 hexadecimal digits. It is not stored."},
"input":{"type":"string","maxLength":65536,"description":"The input as text."},
"input_hex":{"type":"string","maxLength":131072,"pattern":"^([0-9a-fA-F]{2})*$","description":"The input in hex, in place of input."}}`,
		Required: []string{"priv_key_hex"}, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.InvalidKey},
		Run: handle(func(_ context.Context, _ *workbench.Call, in vrfArgs) (any, error) { return in.eval() }),
	}
}

// eval evaluates the function. Its errors do not repeat the key.
func (in *vrfArgs) eval() (any, error) {
	var alpha []byte
	switch {
	case in.Input != nil && in.InputHex != nil:
		return nil, invalid("input_hex", "cannot be given together with input", nil)
	case in.InputHex != nil:
		alpha, _ = hex.DecodeString(*in.InputHex) // has passed the schema
	case in.Input != nil:
		alpha = []byte(*in.Input)
	}
	seed, err := hex.DecodeString(in.Key)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, failure(dualcode.InvalidKey, "priv_key_hex must be 64 hexadecimal digits.", nil)
	}
	key := ed25519.NewKeyFromSeed(seed)
	proof := ecvrf.Prove(key, alpha)
	public, _ := key.Public().(ed25519.PublicKey) // by its contract
	ok, beta := ecvrf.Verify(public, proof, alpha)
	if !ok {
		return nil, errors.New("the proof does not verify")
	}
	return vrfOutput{vrfSuite, hex.EncodeToString(public), hex.EncodeToString(beta), hex.EncodeToString(proof)}, nil
}
