// Package natsstore keeps the lines of a fleet in NATS JetStream.
//
// All chains are in one stream: each line is a message on the subject candor.ledger.NODE.CHAIN. A line is appended with the number of the
// last message of its subject as a condition, which only the leader of the stream decides, so two writers never continue the same head.
package natsstore

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Schemes are the URL schemes of the engine.
var Schemes = []string{"nats", "tls"}

// Engine opens stores.
type Engine struct{}

// DefaultStream is the stream that a URL without a path names.
const DefaultStream = "CANDOR"

// subjectPrefix is followed by the names of the node and of the chain.
const subjectPrefix = "candor.ledger."

// requestTimeout limits how long one request waits for its answer. A cluster elects a new leader in less time as a rule.
const requestTimeout = 5 * time.Second

// Open connects to the store. If no server can be reached it returns a store, and calls fail as unavailable until one can be; credentials
// that a server refuses are an error, and so is the end of ctx before the servers have been tried.
func (Engine) Open(ctx context.Context, at fleet.Location, o fleet.OpenOptions) (fleet.Store, error) {
	p, err := parse(at)
	if err != nil {
		return nil, err
	}
	s := &store{at: at, params: p, log: o.Log, known: map[fleet.Chain]position{}, closed: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// params are the parameters of the URL that belong to this engine.
type params struct {
	servers string // URLs separated by commas
	stream  string
	node    string

	creds, nkey   string   // files
	ca, cert, key string   // files
	monitor       []string // URLs of monitoring ports
}

func parse(at fleet.Location) (params, error) {
	u := at.URL
	query := u.Query()
	p := params{
		node: at.Node, creds: query.Get("creds"), nkey: query.Get("nkey"), ca: query.Get("ca"), cert: query.Get("cert"), key: query.Get("key"),
		stream: strings.Trim(u.Path, "/"),
	}
	allowed := []string{"creds", "nkey", "ca", "cert", "key", "monitor"}
	for name := range query {
		if !slices.Contains(allowed, name) {
			return p, invalid("the URL of the store has the unknown parameter %q (known: %s)", name, strings.Join(allowed, ", "))
		}
	}
	if p.stream == "" {
		p.stream = DefaultStream
	}
	if monitor := query.Get("monitor"); monitor != "" {
		p.monitor = strings.Split(monitor, ",")
	}
	return p, p.check(u)
}

// check refuses what cannot work, before anything is opened.
func (p *params) check(u *url.URL) error {
	if !fleet.ValidNode(p.stream) { // the same characters are safe in the name of a stream
		return invalid("%q is not the name of a stream (hint: letters, digits, hyphens and underscores, such as nats://host/%s)", p.stream, DefaultStream)
	}
	if p.creds != "" && p.nkey != "" {
		return invalid("the URL of the store has creds= and nkey= (hint: keep one of them)")
	}
	if (p.cert == "") != (p.key == "") {
		return invalid("the URL of the store has only one of cert= and key=")
	}
	for _, each := range p.monitor {
		address, err := url.Parse(each)
		if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" || address.User != nil {
			return invalid("monitor= is not a list of URLs such as http://host:8222")
		}
	}
	if u.Host == "" {
		return invalid("the URL names no server (hint: %s://host:4222)", u.Scheme)
	}
	if u.User != nil {
		return invalid("the URL of the store has a user (hint: name a file of credentials with creds= or nkey=)")
	}
	var servers []string
	for host := range strings.SplitSeq(u.Host, ",") {
		servers = append(servers, u.Scheme+"://"+host)
	}
	p.servers = strings.Join(servers, ",")
	return nil
}

func invalid(format string, args ...any) error {
	return candor.New(candor.CodeConfigInvalid, fmt.Sprintf(format, args...))
}
