package chaos

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// headOf returns the hash that ends a line. The caller knows the number.
func headOf(line []byte) fleet.Head {
	var head fleet.Head
	if len(line) < 66 {
		return head
	}
	if _, err := hex.Decode(head.Hash[:], line[len(line)-66:len(line)-2]); err != nil {
		return fleet.Head{}
	}
	return head
}

// source is a chain of a ledger on the disk, with its lines.
type source struct {
	chain fleet.Chain
	file  string
}

// lines returns the lines of the chain.
func (s source) lines() ([][]byte, error) {
	text, err := os.ReadFile(s.file)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(text, []byte("\n"))
	return lines[:len(lines)-1], nil
}

// newSource writes a ledger with that many failures, and returns its only chain.
func newSource(t *testing.T, dir, node string, entries int) source {
	t.Helper()
	l, err := ledger.Open(dir, ledger.Options{Instance: node})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	const together = 64
	for writer := range together {
		writers.Go(func() {
			for i := writer; i < entries; i += together {
				if _, err := l.Append(t.Context(), ledger.Entry{Kind: ledger.KindAttempt, Tool: "chaos", Call: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "audit-log.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: want one chain", files, err)
	}
	return source{fleet.Chain{Node: node, Name: filepath.Base(filepath.Dir(files[0]))}, files[0]}
}
