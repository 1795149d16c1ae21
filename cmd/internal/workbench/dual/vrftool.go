package dual

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/vrf"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type vrfArgs struct {
	Key      string  `json:"priv_key_hex"`
	Input    *string `json:"input"`
	InputHex *string `json:"input_hex"`
}

func (s *System) vrfEval() workbench.Tool {
	return workbench.Tool{
		Name: "vrf_eval", Title: "Evaluate a verifiable random function",
		About: "Evaluate the VRF of RFC 9381 (" + vrf.Suite + ") for an input: a pseudorandom output with a proof, which can be checked with the public key.",
		Input: `{"priv_key_hex":{"type":"string","maxLength":256,"description":"The private key: 32 bytes as 64 hexadecimal digits. It is not stored."},
"input":{"type":"string","maxLength":65536,"description":"The input as text."},
"input_hex":{"type":"string","maxLength":131072,"pattern":"^([0-9a-fA-F]{2})*$","description":"The input in hex, in place of input."}}`,
		Required: []string{"priv_key_hex"}, ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.InvalidKey},
		Run: handle(func(_ context.Context, _ *workbench.Call, in vrfArgs) (any, error) {
			alpha, refused := in.alpha()
			if refused != nil {
				return nil, refused
			}
			out, err := vrf.Eval(in.Key, alpha)
			if errors.Is(err, vrf.ErrKey) {
				return nil, failure(dualcode.InvalidKey, "priv_key_hex must be 64 hexadecimal digits.", nil)
			}
			return out, err
		}),
	}
}

func (in *vrfArgs) alpha() ([]byte, *candor.Error) {
	switch {
	case in.Input != nil && in.InputHex != nil:
		return nil, invalid("input_hex", "cannot be given together with input")
	case in.InputHex != nil:
		raw, err := hex.DecodeString(*in.InputHex)
		if err != nil {
			return nil, invalid("input_hex", "is not hexadecimal")
		}
		return raw, nil
	case in.Input != nil:
		return []byte(*in.Input), nil
	}
	return nil, nil
}
