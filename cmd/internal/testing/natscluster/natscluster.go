// Package natscluster starts and stops real nats-server processes for tests: one, or three that form a cluster.
//
// The executable is built once from the Go module, so a test needs nothing but Go.
package natscluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Options configures a cluster. The zero value is one server without credentials that syncs every message.
type Options struct {
	Servers int  // 1, which is the default, or more for a cluster
	Lazy    bool // sync every two minutes, as nats-server does by default, and not every message
	TLS     bool // clients must use TLS; see [Cluster.CA]

	Auth bool // clients without credentials are refused; see [Cluster.OperatorSeed]

	// Accounts, if set, returns the accounts of the configuration for an operator with a public key. See [Accounts].
	Accounts func(operator string) string

	// Namespaces gives each server its own network namespace, so that [Cluster.Block] can cut connections. It needs root and Linux; the
	// test is skipped elsewhere.
	Namespaces bool
	// Host, if set, gives the address of a server and the words to put before its command, instead of 127.0.0.1 and none. It is for
	// tests that arrange the network themselves.
	Host func(server int) (address string, prefix []string)
}

// Cluster is a set of running servers. They are killed and their files removed when the test ends.
type Cluster struct {
	Servers []*Server

	// OperatorSeed is a file with the nkey seed of a user with all rights in the account that has JetStream.
	OperatorSeed string

	// CA, ClientCert and ClientKey are PEM files for clients. They are empty without TLS.
	CA, ClientCert, ClientKey string

	tls     bool
	network *network
}

// startTimeout limits how long servers may take to start and elect a leader. It is generous because tests run beside each other.
const startTimeout = 60 * time.Second

// Start starts servers and waits until they have a leader.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	program := Executable(t)
	o.Servers = max(o.Servers, 1)
	c := &Cluster{tls: o.TLS}
	place := c.addresses(t, o)
	for range 5 {
		err := c.start(t, o, program, place())
		if err == nil {
			return c
		}
		if !errors.Is(err, errPortTaken) {
			t.Fatalf("starting nats-server: %v", err)
		}
	}
	t.Fatal("starting nats-server: found no free ports")
	return nil
}

// start makes one attempt with one set of addresses.
func (c *Cluster) start(t testing.TB, o Options, program string, hosts []host) error {
	dir := t.TempDir()
	c.Servers = nil
	for i, at := range hosts {
		c.Servers = append(c.Servers, &Server{
			Name: fmt.Sprintf("n%d", i+1), host: at, t: t, program: program,
			Dir: filepath.Join(dir, fmt.Sprintf("n%d", i+1)),
		})
	}
	if err := c.configure(o, dir); err != nil {
		return err
	}
	t.Cleanup(func() {
		for _, server := range c.Servers {
			server.Kill()
		}
	})
	for _, server := range c.Servers {
		if err := server.Start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		for _, server := range c.Servers {
			if strings.Contains(server.Log(), "address already in use") {
				err = errPortTaken
			}
			server.Kill()
		}
		return err
	}
	return nil
}

// URL returns the URL for clients with all servers, such as nats://127.0.0.1:21000,127.0.0.1:21003.
func (c *Cluster) URL() string {
	var hosts []string
	for _, server := range c.Servers {
		hosts = append(hosts, server.ClientAddress())
	}
	return c.scheme() + "://" + strings.Join(hosts, ",")
}

func (c *Cluster) scheme() string {
	if c.tls {
		return "tls"
	}
	return "nats"
}

// MonitorURLs returns the monitoring URLs of all servers, separated by commas.
func (c *Cluster) MonitorURLs() string {
	var urls []string
	for _, server := range c.Servers {
		urls = append(urls, server.MonitorURL())
	}
	return strings.Join(urls, ",")
}

// Server returns the server with a name, or nil.
func (c *Cluster) Server(name string) *Server {
	for _, server := range c.Servers {
		if server.Name == name {
			return server
		}
	}
	return nil
}

// Block drops all packets from one server to another until the returned function is called. Block both directions for a partition. Clients
// on the test's side still reach both. It needs [Options.Namespaces].
func (c *Cluster) Block(from, to *Server) (restore func() error, err error) {
	if c.network == nil {
		return nil, errors.New("the cluster runs without network namespaces")
	}
	return c.network.block(from.host, to.host)
}

// WaitReady waits until all running servers are healthy and, in a cluster, agree on a leader that knows them all.
func (c *Cluster) WaitReady(ctx context.Context) error {
	for _, server := range c.Servers {
		if !server.Running() {
			continue
		}
		if err := poll(ctx, func() error { return server.ready(ctx, len(c.Servers)) }); err != nil {
			return fmt.Errorf("%s is not ready: %w\n%s", server.Name, err, server.Log())
		}
	}
	return nil
}

// StreamLeader waits until a stream of the cluster has a leader, and returns it.
func (c *Cluster) StreamLeader(ctx context.Context, stream string) (*Server, error) {
	var found *Server
	err := poll(ctx, func() error {
		for _, server := range c.Servers {
			if !server.Running() {
				continue
			}
			if found = c.Server(server.streamLeader(ctx, stream)); found != nil {
				return nil
			}
		}
		return fmt.Errorf("stream %s: no leader", stream)
	})
	return found, err
}

// poll calls check until it succeeds or the context ends, and then returns the last error of check.
func poll(ctx context.Context, check func() error) error {
	for {
		err := check()
		if err == nil || errors.Is(err, errExited) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

var errExited = errors.New("it has exited")

// ready returns an error unless the server is healthy and knows a leader and all peers.
func (s *Server) ready(ctx context.Context, servers int) error {
	if s.exited() {
		return errExited
	}
	if _, err := s.get(ctx, "/healthz"); err != nil {
		return err
	}
	if servers == 1 {
		return nil
	}
	body, err := s.get(ctx, "/jsz")
	if err != nil {
		return err
	}
	var state struct {
		Meta *struct {
			Leader string `json:"leader"`
			Size   int    `json:"cluster_size"`
		} `json:"meta_cluster"`
	}
	if err := json.Unmarshal(body, &state); err != nil {
		return err
	}
	if state.Meta == nil || state.Meta.Leader == "" || state.Meta.Size != servers {
		return errors.New("no leader that knows all servers")
	}
	return nil
}

// streamLeader returns the name of the server that this one believes to lead a stream, or nothing.
func (s *Server) streamLeader(ctx context.Context, stream string) string {
	body, err := s.get(ctx, "/jsz?streams=true")
	if err != nil {
		return ""
	}
	var state struct {
		Accounts []struct {
			Streams []struct {
				Name    string `json:"name"`
				Cluster *struct {
					Leader string `json:"leader"`
				} `json:"cluster"`
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	if json.Unmarshal(body, &state) != nil {
		return ""
	}
	for _, account := range state.Accounts {
		for _, detail := range account.Streams {
			if detail.Name == stream && detail.Cluster != nil {
				return detail.Cluster.Leader
			}
			if detail.Name == stream {
				return s.Name
			}
		}
	}
	return ""
}

// get reads a page of the monitoring address.
func (s *Server) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.MonitorURL()+path, nil)
	if err != nil {
		return nil, err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, 8<<20))
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
