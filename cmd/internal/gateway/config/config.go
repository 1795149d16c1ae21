// Package config reads candor.yaml, which configures a gateway and its upstreams, and profiles, the rules for one
// server.
//
// The reader is strict, because a setting that is silently ignored misleads users. It refuses unknown keys and suggests similar
// ones; it refuses duplicate keys, values without a unit, and secrets written into the file. Every [Problem] has a position,
// shows the line and describes the valid values.
//
// The reader, the [Schema] and the reference in docs/gateway.md are generated from one table of keys, so they agree.
package config

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/internal/durable"
)

// Defaults for settings that a file omits.
const (
	DefaultListen = "127.0.0.1:8765"
	DefaultDrain  = 10 * time.Second
)

// None disables a setting, such as the ledger, a deadline or the token.
const None = "none"

// File is the configuration of a gateway. It is complete: missing settings have their defaults, and settings for all upstreams
// are copied into each.
type File struct {
	Listen    string        // address for clients
	Admin     string        // address for health and metrics; "" means none
	Hosts     []string      // host names to accept besides those of this machine
	Token     string        // bearer token that clients need; "" means none
	TokenEnv  string        // environment variable with the token, which no server gets: the commands remove it from their environment
	NoToken   bool          // the file has token: none
	Ledger    string        // a directory, [None], or "" for the default one
	NoWatch   bool          // the file has watch: false
	Drain     time.Duration // how long open calls may take to finish during shutdown
	Upstreams []Upstream    // in the order of the file
}

// Upstream is one server behind the gateway. Either URL or Command is set.
type Upstream struct {
	Name    string
	URL     *url.URL
	Command []string
	Env     []string // variables for Command, as NAME=VALUE, added to the gateway's environment
	Dir     string   // absolute folder in which Command is started; "" means that of the gateway
	Shared  bool     // all sessions share one server that Command starts
	Restart int      // restarts per minute of a server that Command starts
	// Secrets are the environment variables with secrets that the settings refer to. They are hidden from the other upstreams.
	Secrets []string
	Profile string // file of the rules in Options; "" means none

	Options gateway.Options  // without ledger, meter and logger, which are set later
	HTTP    httpgate.Options // which clients are served, and how much memory they may use
}

// Environ returns the environment of a server that is started for u: environ, which does not have the token for
// clients, without the secrets to which only other upstreams refer, and with the variables of u.
func (f *File) Environ(u *Upstream, environ []string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		refers := func(other Upstream) bool { return slices.Contains(other.Secrets, name) }
		return !refers(*u) && slices.ContainsFunc(f.Upstreams, refers)
	})
	return append(environ, u.Env...)
}

// Source provides the environment and the files that a configuration refers to.
type Source struct {
	Getenv   func(string) string               // nil means [os.Getenv]
	ReadFile func(name string) ([]byte, error) // nil means [ReadFile]
}

func (s Source) filled() Source {
	if s.Getenv == nil {
		s.Getenv = os.Getenv
	}
	if s.ReadFile == nil {
		s.ReadFile = ReadFile
	}
	return s
}

// ReadFile reads a regular file of at most 1 MiB.
func ReadFile(name string) ([]byte, error) {
	data, _, err := durable.ReadFile(name, maxBytes)
	return data, err
}

// Read reads a file. File names in it are relative to its directory. The error is an [*Error] if the file exists but is invalid.
func Read(name string, s Source) (*File, error) {
	s = s.filled()
	data, err := s.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, data, s)
}

// Parse parses the text of a file with that name.
func Parse(name string, data []byte, s Source) (*File, error) {
	r := newReader(name, data, s.filled())
	d := &draft{dir: filepath.Dir(name), profiles: map[*Upstream]*gateway.Rules{}}
	r.document(data, "the file", d.keys())
	if len(d.upstreams)+r.Count() == 0 {
		r.Whole(mistake("add one below upstreams:, such as github: {url: http://127.0.0.1:3000/mcp}", "there is no upstream"))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return d.file(), nil
}

// draft is a file while it is being read.
type draft struct {
	dir       string // directory of the file
	f         File
	version   int
	origins   []string
	all       gateway.Options  // for all upstreams
	clients   httpgate.Options // of all upstreams
	upstreams []*Upstream
	profiles  map[*Upstream]*gateway.Rules
}

func (d *draft) keys() []key {
	return []key{
		{name: "version", needed: true, value: version(&d.version), about: "the version of this format"},
		{name: "listen", value: parsed(&d.f.Listen, "an address such as "+DefaultListen, ParseListen),
			about: "where clients connect; default " + DefaultListen + ". An address that other machines reach needs a token"},
		{name: "admin", value: parsed(&d.f.Admin, "an address of this machine such as 127.0.0.1:8766", ParseAdmin),
			about: "where `/healthz`, `/metrics` and `/status` are served; default nowhere"},
		{name: "token", value: d.token(), about: "the token that clients must send as `Authorization: Bearer …`; default none"},
		{name: "hosts", value: words(&d.f.Hosts, "a list of host names"),
			about: "host names to accept besides those of this machine; `*` accepts any"},
		{name: "origins", value: words(&d.origins, "a list of origins such as https://app.example"),
			about: "origins of web pages that may call from a browser and read the answers (CORS); `*` accepts any"},
		{name: "ledger", value: parsed(&d.f.Ledger, "a folder, the URL of a store, or none", d.path),
			about: "where failures are recorded: a folder, or the URL of a store that the folder is shipped to; default `CANDOR_LEDGER`, else the state directory of the user"},
		{name: "drain", value: parsed(&d.f.Drain, "a duration such as 10s", ParseDuration),
			about: "how long open calls may take to finish when the gateway is stopped; default 10s"},
		{name: "watch", value: boolean(func(on bool) { d.f.NoWatch = !on }),
			about: "whether the gateway reads this file again when it, or a profile in it, has changed; default true"},
		{name: "mode", value: choice(&d.all.Mode, "mode", gateway.Modes()), about: "how failing answers may be changed, unless an upstream overrides it; default annotate"},
		{name: "dialect", value: dialectValue(&d.all.Dialect), about: "the dialect of answers that the gateway writes itself, unless an upstream overrides it; default candor"},
		{name: "mirror", value: boolean(func(on bool) { d.all.Mirror = on }), about: "whether those answers repeat the error in structuredContent where the tool has no outputSchema, in the candor dialect; default false"},
		{name: "client", value: choice(&d.all.Client, "client", gateway.ClientNames()),
			about: "the client program that reads the answers, which decides their form, unless an upstream overrides it; default auto: the one that names itself in `initialize`"},
		{name: "timeout", value: deadline(&d.all.Timeout), about: "how long a call may take without reporting progress, unless an upstream overrides it; default 5m"},
		{name: "startTimeout", value: deadline(&d.all.StartTimeout), about: "how long a server may take to answer `initialize`, unless an upstream overrides it; default 2m"},
		{name: "limits", value: mapping("limits", d.limitKeys), about: "limits on memory, calls and sessions"},
		{name: "upstreams", needed: true, value: named("upstream", "upstreams by name", d.upstream),
			about: "the servers behind the gateway, by a name that becomes the path: `/NAME/`"},
	}
}

func (d *draft) limitKeys() []key {
	return []key{
		{name: "message", value: parsed(&d.all.Limits.Message.MaxBytes, "a size such as 16MiB", ParseSize), about: "bytes of one message; default 16MiB"},
		{name: "calls", value: integer(&d.all.Limits.Calls, 1, 1_000_000), about: "open calls of one upstream; default 4096, 1024 for a server that the gateway starts"},
		{name: "sessions", value: integer(&d.clients.Sessions, 1, 10_000_000), about: "sessions of one upstream; default 10000, 32 for a server that the gateway starts, because each may be a process"},
		{name: "streams", value: integer(&d.clients.Streams, 1, 1_000_000), about: "open event streams of one upstream; default 4096"},
		{name: "idle", value: parsed(&d.clients.SessionIdleTimeout, "a duration such as 1h", ParseDuration), about: "how long an unused session is kept, with its server; default 1h, 30m for a server that the gateway starts"},
		{name: "patience", value: parsed(&d.clients.ClientTimeout, "a duration such as 30s", ParseDuration), about: "how long a client may take to send a message; default 30s"},
	}
}

// version returns a value that refuses files of another version.
func version(into *int) value {
	return scalar("1", map[string]any{"const": 1}, func(text string) error {
		if text != "1" {
			return mistake("this program reads version 1", "version %s of the format is unknown", quote(text))
		}
		*into = 1
		return nil
	})
}

// path returns a path relative to the directory of this file.
func (d *draft) path(text string) (string, error) {
	switch {
	case text == "":
		return "", mistake("leave the key out for the default", "the name is empty")
	case text == None || filepath.IsAbs(text):
		return text, nil
	case isURL(text):
		return d.location(text), nil
	default:
		return filepath.Join(d.dir, text), nil
	}
}

// isURL reports whether a text begins with a scheme. A Windows drive letter is no scheme.
func isURL(text string) bool {
	scheme, _, found := strings.Cut(text, ":")
	return found && len(scheme) > 1 && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// location returns the URL of a store, which is checked when it is opened. The folder in file:DIR is relative to the file, as one without
// a scheme is.
func (d *draft) location(text string) string {
	folder, isFile := strings.CutPrefix(text, "file:")
	if isFile && folder != "" && !strings.ContainsAny(folder, "?%") && !strings.HasPrefix(folder, "/") {
		return filepath.Join(d.dir, folder)
	}
	return text
}

// file returns the complete File, with the settings for all upstreams copied into each.
func (d *draft) file() *File {
	f := d.f
	for _, u := range d.upstreams {
		u.Options.Mode = cmp.Or(u.Options.Mode, d.all.Mode)
		u.Options.Client = cmp.Or(u.Options.Client, d.all.Client)
		u.Options.Timeout = cmp.Or(u.Options.Timeout, d.all.Timeout)
		u.Options.StartTimeout = cmp.Or(u.Options.StartTimeout, d.all.StartTimeout)
		if u.Options.Dialect == nil {
			u.Options.Dialect = d.all.Dialect
		}
		u.Options.Mirror = u.Options.Mirror || d.all.Mirror
		if more := d.profiles[u]; more != nil {
			own := rules(&u.Options)
			own.Masks, own.Codes = append(own.Masks, more.Masks...), append(own.Codes, more.Codes...)
			own.Results = append(own.Results, more.Results...)
		}
		u.Options.Limits = d.all.Limits
		own := u.HTTP.Header
		u.HTTP = d.clients
		u.HTTP.Header, u.HTTP.Hosts, u.HTTP.Origins, u.HTTP.Token, u.HTTP.Calls = own, f.Hosts, d.origins, f.Token, d.all.Limits.Calls
		f.Upstreams = append(f.Upstreams, *u)
	}
	f.fill()
	return &f
}

func (f *File) fill() {
	f.Listen = cmp.Or(f.Listen, DefaultListen)
	f.Drain = cmp.Or(f.Drain, DefaultDrain)
}

// Of returns a configuration of the upstreams with all defaults, for settings from a command line.
func Of(token string, hosts []string, upstreams ...Upstream) *File {
	f := &File{Token: token, Hosts: hosts, Upstreams: upstreams}
	for i := range f.Upstreams {
		f.Upstreams[i].HTTP.Token, f.Upstreams[i].HTTP.Hosts = token, hosts
	}
	f.fill()
	return f
}

// At returns an upstream with that name and address, and defaults otherwise.
func At(name string, target *url.URL) Upstream {
	return Upstream{Name: name, URL: target, Options: gateway.Options{Name: name}, HTTP: httpgate.Options{Header: http.Header{}}}
}

// CheckReach returns an error if other machines can reach the gateway without a token, or if its token is empty. The error is a
// [*Mistake].
func (f *File) CheckReach() error {
	switch {
	case IsLocal(f.Listen):
		return nil
	case f.Token == "" && !f.NoToken:
		return mistake("require a token from the environment, or none: token: ${CANDOR_TOKEN} or token: none in the file, --token-env or --no-token",
			"reachable from other machines without a token")
	case len(f.Hosts) == 0:
		return mistake("list the host names that clients use: hosts: [gate.example] in the file, or --host; * is any",
			"reachable from other machines, but every request from there would be refused")
	}
	return nil
}
