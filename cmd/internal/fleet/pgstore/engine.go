// Package pgstore keeps the lines of a fleet in PostgreSQL.
//
// Nodes log in with roles of their own and can only call functions, which append to the chains of the role that has logged in; see schema.sql.
package pgstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Schemes are the URL schemes of the engine.
var Schemes = []string{"postgres", "postgresql"}

const (
	connectTimeout = 10 * time.Second // if the URL has no connect_timeout
	callTimeout    = 30 * time.Second // for one statement
	maxConns       = 8                // if the URL has no pool_max_conns
	maxMessage     = 8 << 20          // bytes in one message of the server, which has at most one line
)

// Engine opens stores.
type Engine struct{}

// Open reads the URL as libpq does, including service files, password files and the PG variables of the environment. It connects only when
// the store is used.
func (Engine) Open(ctx context.Context, at fleet.Location, o fleet.OpenOptions) (fleet.Store, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	config, err := parseURL(at.URL, o.Getenv)
	if err != nil {
		return nil, err
	}
	if err := checkTLS(at.URL, &config.ConnConfig.Config, log); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, storeError(err)
	}
	return &store{pool: pool, config: config, role: config.ConnConfig.User}, nil
}

// parseURL returns the configuration of a URL, with verify-full as the default of sslmode for remote hosts, limits, and the primary as the
// only server to use if there are several.
func parseURL(u *url.URL, getenv func(string) string) (*pgxpool.Config, error) {
	query := u.Query()
	for _, secret := range []string{"password", "sslpassword"} {
		if query.Has(secret) {
			return nil, badURL("the URL of the store has the parameter %s (hint: use passfile=FILE, a service file or a client certificate)", secret)
		}
	}
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	noChoice := !query.Has("sslmode") && !query.Has("service") && getenv("PGSSLMODE") == "" && getenv("PGSERVICE") == ""
	if noChoice && slices.ContainsFunc(urlHosts(u, getenv), isRemote) {
		query.Set("sslmode", "verify-full")
	}
	if !query.Has("target_session_attrs") {
		query.Set("target_session_attrs", "read-write")
	}
	withDefaults := *u
	withDefaults.RawQuery = query.Encode()
	config, err := pgxpool.ParseConfig(withDefaults.String())
	if err != nil {
		return nil, badURL("the URL of the store, a PG variable or a file that they name is not valid: %w", withoutURL(err))
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !query.Has("pool_max_conns") {
		config.MaxConns = maxConns
	}
	config.ConnConfig.MaxProtocolMessageBodyLen = maxMessage
	config.ConnConfig.OnNotice = keepWarning
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "candor"
	}
	return config, nil
}

func badURL(format string, args ...any) error { return fmt.Errorf(format, args...) }

// withoutURL returns the reason why a URL could not be parsed. The text of pgx quotes the URL.
func withoutURL(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) && parse.Unwrap() != nil {
		return parse.Unwrap()
	}
	return errors.New("see the parameters of PostgreSQL's connection URLs")
}

// urlHosts returns the hosts of a URL, from its parameter host or the environment if it names none.
func urlHosts(u *url.URL, getenv func(string) string) []string {
	list := cmp.Or(u.Query().Get("host"), u.Host, getenv("PGHOST"))
	var hosts []string
	for host := range strings.SplitSeq(list, ",") {
		if name, port, found := strings.Cut(host, ":"); found && !strings.Contains(port, ":") {
			host = name
		} else if end := strings.LastIndex(host, "]"); end > 0 {
			host = host[1:end]
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// isRemote reports whether traffic to a host can leave this machine. An empty name means the default socket.
func isRemote(host string) bool {
	if host == "" || host == "localhost" || filepath.IsAbs(host) || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		return false
	}
	address, err := netip.ParseAddr(host)
	return err != nil || !address.IsLoopback()
}

// checkTLS refuses connections to remote hosts without verified certificate and name, unless the URL asks for that.
func checkTLS(u *url.URL, config *pgconn.Config, log *slog.Logger) error {
	weak := ""
	check := func(host string, how *tls.Config) {
		if isRemote(host) && (how == nil || how.InsecureSkipVerify) {
			weak = host
		}
	}
	check(config.Host, config.TLSConfig)
	for _, other := range config.Fallbacks {
		check(other.Host, other.TLSConfig)
	}
	if weak == "" {
		return nil
	}
	mode := u.Query().Get("sslmode")
	if mode == "" {
		return badURL("the connection to %s would not verify the server's certificate and name "+
			"(hint: add sslmode=verify-full and, for an authority of your own, sslrootcert=FILE; a weaker sslmode must be named in the URL itself)", weak)
	}
	log.Warn("the connection to PostgreSQL does not verify the server's certificate and name; use sslmode=verify-full", slog.String("host", weak), slog.String("sslmode", mode))
	return nil
}
