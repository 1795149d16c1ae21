package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Mode is when an entry is acknowledged.
type Mode string

// The modes of acknowledgement.
const (
	// ModeLocal acknowledges an entry when it is on the node's own disk. It is shipped in the background.
	ModeLocal Mode = "local"
	// ModeQuorum acknowledges an entry when it is on the node's own disk and a majority of at least three machines of the store has it on disk.
	ModeQuorum Mode = "quorum"
	// ModeBoth acknowledges an entry when it is on the node's own disk and the store has it on disk.
	ModeBoth Mode = "both"
)

// Modes are the modes in the order of the documentation.
var Modes = []Mode{ModeLocal, ModeQuorum, ModeBoth}

// Location is a parsed URL of a store. Its parameters node, ack, dir and backlog mean the same for all engines; the others belong to the
// engine.
type Location struct {
	URL     *url.URL // without the parameters below
	Node    string   // name of this node: letters, digits, hyphens and underscores; by default the host name
	Mode    Mode     // ModeLocal by default
	Dir     string   // folder of the node's own ledger; empty means the default folder
	Backlog string   // maximum size of the lines that wait for the store, such as 1GiB; empty means the default
}

// Engine opens stores of one kind.
type Engine interface {
	Open(ctx context.Context, at Location, o OpenOptions) (Store, error)
}

// OpenOptions is what an engine gets from the program.
type OpenOptions struct {
	Getenv func(string) string
	Log    *slog.Logger
}

// Engines are the engines of a program by URL scheme.
type Engines map[string]Engine

// schemes are all schemes that some program of this repository has an engine for.
var schemes = []string{"file", "nats", "tls", "postgres", "postgresql"}

// IsLocation reports whether text is the URL of a store, and not the path of a folder. A Windows drive letter is not a scheme.
func IsLocation(text string) bool {
	scheme, _, found := strings.Cut(text, ":")
	return found && slices.Contains(schemes, scheme)
}

// ErrNoEngine means that this program has no engine for a scheme that another program of Candor has.
var ErrNoEngine = errors.New("this executable does not include its engine")

// Open opens the store at a location.
func (e Engines) Open(ctx context.Context, at Location, o OpenOptions) (Store, error) {
	engine, ok := e[at.URL.Scheme]
	if !ok {
		return nil, fmt.Errorf("opening %s: %w (it has %s)", at, ErrNoEngine, strings.Join(slices.Sorted(maps.Keys(e)), ", "))
	}
	return engine.Open(ctx, at, o)
}

var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// ValidNode reports whether name can be the name of a node.
func ValidNode(name string) bool { return nodeName.MatchString(name) }

// ParseLocation parses the URL of a store. A password in it is refused: command lines and logs must not contain secrets.
func ParseLocation(text string) (Location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, errors.New("the URL of the store cannot be parsed") // the error of url.Parse quotes the URL, which may hold a secret
	}
	if !slices.Contains(schemes, u.Scheme) {
		return Location{}, fmt.Errorf("%q is not the scheme of a store (known: %s)", u.Scheme, strings.Join(schemes, ", "))
	}
	if _, secret := u.User.Password(); secret {
		return Location{}, errors.New("the URL of the store contains a password (hint: name a file of credentials instead; see docs/fleet.md)")
	}
	query := u.Query()
	at := Location{URL: u, Node: query.Get("node"), Mode: Mode(query.Get("ack")), Dir: query.Get("dir"), Backlog: query.Get("backlog")}
	for _, own := range []string{"node", "ack", "dir", "backlog"} {
		query.Del(own)
	}
	u.RawQuery = query.Encode()
	if at.Mode == "" {
		at.Mode = ModeLocal
	}
	if !slices.Contains(Modes, at.Mode) {
		return Location{}, fmt.Errorf("ack=%s is not a mode of acknowledgement (known: local, quorum, both)", at.Mode)
	}
	if at.Node == "" {
		at.Node = defaultNode()
	}
	if !ValidNode(at.Node) {
		return Location{}, fmt.Errorf("%q is not the name of a node (hint: up to 64 letters, digits, hyphens and underscores, such as ?node=web-1)", at.Node)
	}
	return at, nil
}

// String returns the URL without credentials and without parameters, for logs and messages.
func (l Location) String() string {
	shown := *l.URL
	shown.RawQuery = ""
	if shown.User != nil {
		shown.User = nil
	}
	return shown.String()
}

// ID returns a short digest of the URL with the parameters that String leaves out, without credentials.
func (l Location) ID() string {
	counted := *l.URL
	counted.User = nil
	sum := sha256.Sum256([]byte(counted.String()))
	return hex.EncodeToString(sum[:16])
}

var notInNode = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// defaultNode returns the first label of the host name.
func defaultNode() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	host, _, _ = strings.Cut(host, ".")
	return strings.Trim(notInNode.ReplaceAllString(host, "-"), "-")
}
