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
	"net/http"
	"os"
	"strings"

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

// syncGap says why a power cut could lose lines, or which server could not be asked. A known fault comes before an unknown state.
func (s *store) syncGap(ctx context.Context, info *jetstream.StreamInfo) fleet.Gap {
	switch {
	case info.Config.Storage != jetstream.FileStorage:
		return fleet.Wrong("the stream is kept in memory", "create the stream with file storage: candor fleet setup")
	case info.Config.PersistMode != jetstream.DefaultPersistMode:
		return fleet.Wrong("the stream has persist_mode async, so it acknowledges before it writes", "create the stream again with candor fleet setup")
	}
	if info.Cluster == nil || info.Cluster.Leader == "" {
		return fleet.Unverified("the stream has no leader", "check the servers of the cluster, and try again")
	}
	servers := []string{info.Cluster.Leader}
	for _, peer := range info.Cluster.Replicas {
		servers = append(servers, peer.Name)
	}
	states, err := s.askMonitors(ctx)
	missing := fleet.Gap{}
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
	if len(s.params.monitor) == 0 {
		return fleet.Unverified("it was not verified that the servers sync every message (no monitoring address)",
			"add monitor=http://HOST:8222,… with the monitoring addresses of all servers to the URL of the store")
	}
	reason := fmt.Sprintf("it was not verified that server %s syncs every message", server)
	if err != nil {
		reason += ": " + err.Error()
	}
	return fleet.Unverified(reason, "name the monitoring addresses of all servers in monitor=, and check that they answer")
}

// maxState bounds the answer of a monitoring port.
const maxState = 4 << 20

// askMonitors reads /varz of each monitoring address, and returns for each server that has answered whether it syncs every message. The error
// is the first that occurred.
func (s *store) askMonitors(ctx context.Context) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if s.params.ca != "" {
		pem, err := os.ReadFile(s.params.ca)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem)
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	states := map[string]bool{}
	var failure error
	for _, address := range s.params.monitor {
		name, syncs, err := askMonitor(ctx, client, address)
		if err == nil {
			states[name] = syncs
		}
		failure = cmp.Or(failure, err)
	}
	return states, failure
}

// askMonitor returns the name of a server, and whether it syncs every message.
func askMonitor(ctx context.Context, client *http.Client, address string) (name string, syncs bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/varz", nil)
	if err != nil {
		return "", false, err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", false, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return "", false, fmt.Errorf("%s answers %s", address, response.Status)
	}
	var state struct {
		Name      string `json:"server_name"`
		JetStream struct {
			Config *struct {
				SyncAlways bool `json:"sync_always"`
			} `json:"config"`
		} `json:"jetstream"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxState)).Decode(&state); err != nil || state.Name == "" {
		return "", false, errors.New("the answer is not the state of a nats-server")
	}
	return state.Name, state.JetStream.Config != nil && state.JetStream.Config.SyncAlways, nil
}
