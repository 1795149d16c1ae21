package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

// TestFollowWhileTheLeaderFails kills the leader while lines are appended and followed.
func TestFollowWhileTheLeaderFails(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	store := open(t, cluster.URL()+"?node=n")
	setUp(t, store)
	const count = 60
	lines := storetest.MakeLines(testChain, fleet.Head{}, count, 100)
	followed := open(t, cluster.URL()+"?node=reader").Follow(ctx)
	failed := make(chan error, 1)
	go func() { failed <- appendWithFaults(ctx, cluster, store, lines) }()
	seen := 0
	for stored, err := range followed {
		if err != nil {
			t.Fatalf("Follow after %d lines: %v", seen, err)
		}
		if string(stored.Line) != string(lines[seen]) {
			t.Fatalf("line %d is entry %d", seen+1, storetest.HeadOf(t, stored.Line).Seq)
		}
		if seen++; seen == count {
			break
		}
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if seen != count {
		t.Errorf("followed %d lines, want %d", seen, count)
	}
	wantLines(t, store, lines)
}

// appendWithFaults appends line by line. In the middle the leader is killed and started again.
func appendWithFaults(ctx context.Context, cluster *natscluster.Cluster, store fleet.Store, lines [][]byte) error {
	faultAt := uint64(len(lines)) / 2
	for done := uint64(0); done < uint64(len(lines)); {
		if faultAt > 0 && done == faultAt {
			server, err := cluster.StreamLeader(ctx, natsstore.DefaultStream)
			if err != nil {
				return err
			}
			faultAt = 0
			server.Kill()
			if err := errors.Join(server.Start(), cluster.WaitReady(ctx)); err != nil {
				return err
			}
		}
		head, err := store.Head(ctx, testChain)
		if err == nil && head.Seq >= done {
			done = head.Seq
			if done == uint64(len(lines)) {
				return nil
			}
			if err = store.Append(ctx, testChain, head, lines[done:done+1]); err == nil {
				done++
			}
		}
		if err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// TestCredsFile uses a server whose accounts are signed by an operator, as with nsc.
func TestCredsFile(t *testing.T) {
	t.Parallel() // a refusal over a pipe takes seconds
	dir := t.TempDir()
	config, creds := operatorMode(t, dir)
	url := "nats-embedded:" + filepath.Join(dir, "store") + "?node=n&config=" + config
	store := open(t, url+"&creds="+creds)
	setUp(t, store)
	lines := storetest.MakeLines(testChain, fleet.Head{}, 3, 100)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	_, err := openURL(t, url)
	wantClass(t, "no credentials", err, candor.ClassDenied)
}

// operatorMode writes a configuration with an operator, an account with JetStream and the system account, and the credentials of a user.
func operatorMode(t *testing.T, dir string) (config, creds string) {
	t.Helper()
	operator, _ := newKey(t, nkeys.CreateOperator)
	account, accountID := newKey(t, nkeys.CreateAccount)
	_, systemID := newKey(t, nkeys.CreateAccount)
	user, userID := newKey(t, nkeys.CreateUser)
	operatorID, err := operator.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	operatorClaims := jwt.NewOperatorClaims(operatorID)
	operatorClaims.SystemAccount = systemID
	accountClaims := jwt.NewAccountClaims(accountID)
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	token := encode(t, jwt.NewUserClaims(userID), account)
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	content, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %s: %s }\n", encode(t, operatorClaims, operator), systemID,
		accountID, encode(t, accountClaims, operator), systemID, encode(t, jwt.NewAccountClaims(systemID), operator))
	config, creds = filepath.Join(dir, "nats.conf"), filepath.Join(dir, "user.creds")
	for path, text := range map[string][]byte{config: []byte(text), creds: content} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config, creds
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, id string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	if id, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return pair, id
}

func encode(t *testing.T, claims jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	token, err := claims.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
