package natsstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Durability reads the configuration of the stream and of each server that holds a replica.
func (s *store) Durability(ctx context.Context) (fleet.Durability, error) {
	if err := s.open(ctx); err != nil {
		return fleet.Durability{}, err
	}
	info, err := s.info(ctx)
	if err != nil {
		return fleet.Durability{}, s.failed("reading the stream", err)
	}
	d := fleet.Durability{Replicas: info.Config.Replicas/2 + 1}
	synced := s.syncGap(ctx, info)
	d.Gap = cmp.Or(synced, replicaGap(info))
	d.Synced, d.Quorum = synced.Reason == "", d.Reason == ""
	return d, nil
}

// replicaGap says which replicas of a stream are missing.
func replicaGap(info *jetstream.StreamInfo) fleet.Gap {
	if info.Config.Replicas < 3 {
		return fleet.Wrong(fmt.Sprintf("each line is on %d of at least 3 machines", info.Config.Replicas), "run three nats-server machines in a cluster, then candor fleet setup --replicas 3")
	}
	if info.Cluster == nil || info.Cluster.Leader == "" || len(info.Cluster.Replicas) != info.Config.Replicas-1 {
		return fleet.Unverified("the stream has no leader, or not all of its replicas are known", "check the servers of the cluster, and try again")
	}
	for _, peer := range info.Cluster.Replicas {
		if peer.Offline || !peer.Current {
			return fleet.Unverified(fmt.Sprintf("the replica on server %s is offline or behind", peer.Name), "start the server, wait until it has caught up, and try again")
		}
	}
	return fleet.Gap{}
}

// serverState is what a server says about itself.
type serverState struct {
	Name      string `json:"server_name"`
	JetStream struct {
		Config *struct {
			SyncAlways bool `json:"sync_always"`
		} `json:"config"`
	} `json:"jetstream"`
}

// syncGap says why a power cut could lose lines, or which server could not be asked. What is wrong comes before what is not known.
func (s *store) syncGap(ctx context.Context, info *jetstream.StreamInfo) fleet.Gap {
	switch {
	case info.Config.Storage != jetstream.FileStorage:
		return fleet.Wrong("the stream is kept in memory", "create the stream with file storage: candor fleet setup")
	case info.Config.PersistMode != jetstream.DefaultPersistMode:
		return fleet.Wrong("the stream has persist_mode async, so it acknowledges before it writes", "create the stream again with candor fleet setup")
	}
	servers := holders(info)
	states, err := s.serverStates(ctx, len(servers))
	missing := fleet.Gap{}
	if len(servers) == 0 {
		missing = fleet.Unverified("the stream has no leader", "check the servers of the cluster, and try again")
	}
	for _, name := range servers {
		syncs, known := states[name]
		switch {
		case known && !syncs:
			return fleet.Wrong(fmt.Sprintf("server %s syncs its disk only from time to time, so a power cut can lose acknowledged lines", name),
				"set sync_interval: always in the jetstream block of each nats-server, and restart the servers one by one")
		case !known && missing.Reason == "":
			missing = s.unasked(name, err)
		}
	}
	return missing
}

// unasked is the gap of a server that could not be asked.
func (s *store) unasked(server string, err error) fleet.Gap {
	if len(s.params.monitor) == 0 && s.params.sys == "" {
		return fleet.Unverified("it was not verified that the servers sync every message (no monitoring address and no system account)",
			"add monitor=http://HOST:8222,… with the monitoring addresses of all servers, or sys=FILE with the credentials of a user of the system account, to the URL of the store")
	}
	reason := fmt.Sprintf("it was not verified that server %s syncs every message", server)
	if err != nil {
		reason += ": " + err.Error()
	}
	return fleet.Unverified(reason, "name the monitoring addresses of all servers in monitor=, or give sys= a user of the system account, and check that they answer")
}

// holders returns the names of the servers that hold the stream.
func holders(info *jetstream.StreamInfo) []string {
	if info.Cluster == nil {
		return nil
	}
	var names []string
	if info.Cluster.Leader != "" {
		names = append(names, info.Cluster.Leader)
	}
	for _, peer := range info.Cluster.Replicas {
		names = append(names, peer.Name)
	}
	return names
}

// serverStates returns for each server that could be asked whether it syncs every message. The error is the first that occurred.
func (s *store) serverStates(ctx context.Context, servers int) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	states := map[string]bool{}
	if s.embedded != nil {
		states[s.embedded.server.Name()] = s.embedded.syncs
	}
	var failure error
	if len(s.params.monitor) > 0 {
		failure = s.askMonitors(ctx, states)
	}
	if s.params.sys != "" {
		if err := s.askSystem(ctx, states, servers); failure == nil {
			failure = err
		}
	}
	return states, failure
}

// add adds the state of one server. If two answers for a name differ, the worse one counts.
func add(states map[string]bool, answer []byte) error {
	var state serverState
	if err := json.Unmarshal(answer, &state); err != nil || state.Name == "" {
		return errors.New("the answer is not the state of a nats-server")
	}
	syncs := state.JetStream.Config != nil && state.JetStream.Config.SyncAlways
	if before, ok := states[state.Name]; ok {
		syncs = syncs && before
	}
	states[state.Name] = syncs
	return nil
}

// maxState bounds the answer of a monitoring port.
const maxState = 4 << 20

// askMonitors reads /varz of each monitoring address.
func (s *store) askMonitors(ctx context.Context, states map[string]bool) error {
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if s.params.ca != "" {
		pem, err := os.ReadFile(s.params.ca)
		if err != nil {
			return err
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem)
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var failure error
	for _, address := range s.params.monitor {
		if err := askMonitor(ctx, client, address, states); err != nil && failure == nil {
			failure = err
		}
	}
	return failure
}

func askMonitor(ctx context.Context, client *http.Client, address string, states map[string]bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/varz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxState))
	if err != nil {
		return err
	}
	return add(states, body)
}

// askSystem asks all servers through the system account, and waits until as many as hold the stream have answered, or for two seconds.
func (s *store) askSystem(ctx context.Context, states map[string]bool, servers int) error {
	connection, err := s.connectSystem(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	inbox, err := connection.SubscribeSync(connection.NewInbox())
	if err != nil {
		return err
	}
	if err := connection.PublishRequest("$SYS.REQ.SERVER.PING.VARZ", inbox.Subject, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	seen := map[string]bool{}
	for len(seen) < servers {
		m, err := inbox.NextMsgWithContext(ctx)
		if err != nil {
			return fmt.Errorf("%d of %d servers answered (%s): %w", len(seen), servers, strings.Join(slices.Sorted(maps.Keys(seen)), ", "), err)
		}
		var answer struct {
			Data json.RawMessage `json:"data"`
		}
		if json.Unmarshal(m.Data, &answer) != nil || add(seen, answer.Data) != nil || add(states, answer.Data) != nil {
			return errors.New("the answer of the system account is not valid")
		}
	}
	return nil
}

// connectSystem connects to the same servers as a user of the system account.
func (s *store) connectSystem(ctx context.Context) (*nats.Conn, error) {
	creds, nkey := "", s.params.sys
	if isCreds(s.params.sys) {
		creds, nkey = s.params.sys, ""
	}
	options, err := s.options(creds, nkey)
	if err != nil {
		return nil, err
	}
	return dial(ctx, s.params.servers, append(options, nats.MaxReconnects(0))...)
}
