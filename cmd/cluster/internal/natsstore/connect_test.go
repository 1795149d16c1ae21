package natsstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// TestOpenEndsWithItsContext connects to a server that accepts the connection and says nothing until the caller has given up.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing is lost
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan error, 1)
	go func() {
		at, err := fleet.ParseLocation("nats://" + listener.Addr().String() + "?node=n")
		if err == nil {
			var store fleet.Store
			if store, err = (natsstore.Engine{}).Open(ctx, at, fleet.OpenOptions{}); err == nil {
				err = errors.Join(errors.New("the store was opened"), store.Close())
			}
		}
		opened <- err
	}()
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close() //nolint:errcheck // nothing is lost
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) { // after the time limit of the connection it would be another error
		t.Fatalf("got %v, want the end of the context", err)
	}
	requireClosed(t, peer)
}

// requireClosed answers as a server does, and requires that the client closes the connection although it was made.
func requireClosed(t *testing.T, peer net.Conn) {
	t.Helper()
	if err := peer.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(peer, "INFO {\"server_id\":\"x\",\"version\":\"2.15.0\",\"proto\":1,\"headers\":true,\"max_payload\":4194304}\r\n"); err != nil {
		t.Fatal(err)
	}
	in, pings := bufio.NewReader(peer), 0
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("after %d pings: %v", pings, err)
		}
		if strings.HasPrefix(line, "PING") {
			if pings++; pings > 1 {
				t.Fatal("the connection is used after dial has returned")
			}
			if _, err := fmt.Fprint(peer, "PONG\r\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
