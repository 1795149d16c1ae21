//go:build unix

package pgstore_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

func TestConformance(t *testing.T) {
	server := sharedServer(t)
	databases := 0
	storetest.Run(t, func(t *testing.T) storetest.Opened {
		databases++
		database := fmt.Sprintf("store%d", databases)
		server.SQL(t, "postgres", "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)")
		server.SQL(t, "postgres", "CREATE DATABASE "+database)
		again := func(t *testing.T) fleet.Store { t.Helper(); return open(t, server, "admin", database) }
		store := again(t)
		if err := store.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
			t.Fatal(err)
		}
		return storetest.Opened{
			Store: store, Again: again,
			Reopen: func(t *testing.T) fleet.Store {
				t.Helper()
				server.Crash()
				server.Run(t)
				return again(t)
			},
			Raw: func(t *testing.T, chain fleet.Chain, line []byte) {
				t.Helper()
				server.SQL(t, database, fmt.Sprintf(`WITH c AS (UPDATE candor.chains SET position = position + 1 WHERE node = '%s' AND name = '%s' RETURNING id, position)
					INSERT INTO candor.lines SELECT id, position, decode('%s', 'hex') FROM c`, chain.Node, chain.Name, hex.EncodeToString(line)))
			},
		}
	})
}
