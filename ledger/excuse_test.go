package ledger

import (
	"bytes"
	"fmt"
	"testing"
	"testing/fstest"
)

// TestUnsignedExcuses: entries that no checkpoint covers can be written without the key, so that they must not excuse damage to another chain.
func TestUnsignedExcuses(t *testing.T) {
	excuses := map[string]func(a *forgedChain) string{
		"poisoned at 0": func(a *forgedChain) string {
			return fmt.Sprintf(`,"data":{"chain":"%s","size":0,"poisoned":true}`, a.name)
		},
		"poisoned at 2": func(a *forgedChain) string {
			return fmt.Sprintf(`,"data":{"chain":"%s","size":2,"last":"%s","poisoned":true}`, a.name, hashIn(a.lines[1]))
		},
		"pruned": func(a *forgedChain) string {
			return fmt.Sprintf(`,"data":{"pruned":[{"chain":"%s","segment":1,"size":%d,"last":"%s"}]}`, a.name, a.seq, a.prev)
		},
	}
	for name, excuse := range excuses {
		for _, signed := range []bool{false, true} {
			if name == "pruned" && signed {
				continue // the owner of the key may prune
			}
			t.Run(fmt.Sprintf("%s, signed %v", name, signed), func(t *testing.T) {
				fsys, a := excused(t, name, excuse, signed)
				for what, spoil := range spoilers(a) {
					spoiled := copyFS(fsys)
					spoil(spoiled)
					if r := verify(t, spoiled, true); r.OK {
						t.Errorf("%s: verify says OK", what)
					}
				}
			})
		}
	}
}

func excused(t *testing.T, name string, excuse func(*forgedChain) string, signed bool) (fstest.MapFS, *forgedChain) {
	f := newForge(t)
	a := f.chain()
	a.fail(5)
	a.checkpoint(true)
	b := &forgedChain{f: f, segments: [][]byte{nil}, name: "test-20261115T050000000Z-0badf00d"}
	genesis := genesis(b.name)
	b.prev = genesis.String()
	f.chains = append(f.chains, b)
	b.add("setting", fmt.Sprintf(`,"data":{"version":1,"key":%q,"policy":"closed","before":[]}`, f.public))
	kind := "recovered"
	if name == "pruned" {
		kind = "setting"
	}
	b.add(kind, excuse(a))
	if signed {
		b.checkpoint(false)
	}
	return f.fs(), a
}

func spoilers(a *forgedChain) map[string]func(fstest.MapFS) {
	log, notes := a.name+"/audit-log.jsonl", a.name+"/checkpoints"
	return map[string]func(fstest.MapFS){
		"emptied": func(m fstest.MapFS) { m[log].Data = nil },
		"emptied with its checkpoints": func(m fstest.MapFS) {
			m[log].Data = nil
			delete(m, notes)
		},
		"cut": func(m fstest.MapFS) { m[log].Data = append(bytes.Join(a.lines[:2], []byte("\n")), '\n') },
		"cut with its checkpoints": func(m fstest.MapFS) {
			m[log].Data = append(bytes.Join(a.lines[:2], []byte("\n")), '\n')
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
