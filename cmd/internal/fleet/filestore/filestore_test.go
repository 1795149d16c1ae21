package filestore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opened {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "store")
		open := func(t *testing.T) fleet.Store {
			t.Helper()
			at, err := fleet.ParseLocation("file:" + dir + "?node=n")
			if err != nil {
				t.Fatal(err)
			}
			s, err := (filestore.Engine{}).Open(t.Context(), at, fleet.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
		s := open(t)
		if err := s.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
			t.Fatal(err)
		}
		return storetest.Opened{
			Store: s, Again: open,
			Reopen: func(t *testing.T) fleet.Store {
				t.Helper()
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				return open(t)
			},
			Raw: func(t *testing.T, chain fleet.Chain, line []byte) {
				t.Helper()
				f, err := os.OpenFile(filepath.Join(dir, chain.Node, chain.Name, "audit-log.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Write(append(append([]byte{}, line...), '\n')); err != nil {
					t.Fatal(err)
				}
				_ = f.Close()
			},
		}
	})
}
