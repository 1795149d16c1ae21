package verify

import (
	"bytes"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/forge"
)

// TestVerifyIgnoresUnsignedExcuses checks that entries that no checkpoint covers do not excuse damage to another chain, because
// they can be written without the key.
func TestVerifyIgnoresUnsignedExcuses(t *testing.T) {
	excuses := map[string]func(a *forge.Chain) string{
		"poisoned at 0": func(a *forge.Chain) string {
			return fmt.Sprintf(`,"data":{"chain":"%s","size":0,"poisoned":true}`, a.Name)
		},
		"poisoned at 2": func(a *forge.Chain) string {
			return fmt.Sprintf(`,"data":{"chain":"%s","size":2,"last":"%s","poisoned":true}`, a.Name, hashIn(a.Lines[1]))
		},
		"pruned": func(a *forge.Chain) string {
			return fmt.Sprintf(`,"data":{"pruned":[{"chain":"%s","segment":1,"size":%d,"last":"%s"}]}`, a.Name, a.Seq, a.Prev)
		},
	}
	for name, excuse := range excuses {
		for _, signed := range []bool{false, true} {
			if name == "pruned" && signed {
				continue // a signed pruning record is valid
			}
			t.Run(fmt.Sprintf("%s, signed %v", name, signed), func(t *testing.T) {
				fsys, a := excused(t, name, excuse, signed)
				for what, spoil := range spoilers(a) {
					spoiled := copyFS(fsys)
					spoil(spoiled)
					if r := verifyFiles(t, spoiled, true); r.OK {
						t.Errorf("%s: verify says OK", what)
					}
				}
			})
		}
	}
}

func excused(t *testing.T, name string, excuse func(*forge.Chain) string, signed bool) (fstest.MapFS, *forge.Chain) {
	f := forge.New(t)
	a := f.Chain()
	a.Fail(5)
	a.Checkpoint(true)
	b := &forge.Chain{F: f, Segments: [][]byte{nil}, Name: "test-20261115T050000000Z-0badf00d"}
	genesis := format.Genesis(b.Name)
	b.Prev = genesis.String()
	f.Chains = append(f.Chains, b)
	b.Add("setting", fmt.Sprintf(`,"data":{"version":1,"key":%q,"policy":"closed","before":[]}`, f.Public))
	kind := "recovered"
	if name == "pruned" {
		kind = "setting"
	}
	b.Add(kind, excuse(a))
	if signed {
		b.Checkpoint(false)
	}
	return f.FS(), a
}

func spoilers(a *forge.Chain) map[string]func(fstest.MapFS) {
	log, notes := a.Name+"/audit-log.jsonl", a.Name+"/checkpoints"
	return map[string]func(fstest.MapFS){
		"emptied": func(m fstest.MapFS) { m[log].Data = nil },
		"emptied with its checkpoints": func(m fstest.MapFS) {
			m[log].Data = nil
			delete(m, notes)
		},
		"cut": func(m fstest.MapFS) { m[log].Data = append(bytes.Join(a.Lines[:2], []byte("\n")), '\n') },
		"cut with its checkpoints": func(m fstest.MapFS) {
			m[log].Data = append(bytes.Join(a.Lines[:2], []byte("\n")), '\n')
			delete(m, notes)
		},
		"edited": func(m fstest.MapFS) {
			m[log].Data = bytes.Replace(m[log].Data, []byte("for the 4."), []byte("for the 9."), 1)
		},
	}
}

func copyFS(m fstest.MapFS) fstest.MapFS {
	out := fstest.MapFS{}
	for name, file := range m {
		again := *file
		again.Data = bytes.Clone(file.Data)
		out[name] = &again
	}
	return out
}

func hashIn(line []byte) string { return string(line[len(line)-66 : len(line)-2]) }
