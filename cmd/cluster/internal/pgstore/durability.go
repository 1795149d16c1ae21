package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// standbyTimeout limits the check of one standby.
const standbyTimeout = 5 * time.Second

// server is what candor.server returns.
type server struct {
	System       int64 // the same on a primary and its standbys
	Recovering   bool  // it is a standby
	Name         string
	Fsync        bool
	FullPages    bool
	Permanent    bool // the tables are not unlogged
	StandbyNames string
	Standbys     []string // that receive changes from this server
	Visible      bool     // Standbys is complete
}

const askServer = "SELECT system, recovering, name, fsync, full_pages, permanent, standby_names, standbys, visible FROM candor.server()"

// Durability reports a quorum if the settings of the primary and of every standby that can confirm an append guarantee it. The standbys are
// asked themselves, because a primary cannot know whether they sync; so the URL must name all machines.
func (s *store) Durability(ctx context.Context) (fleet.Durability, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, askServer)
	if err != nil {
		return fleet.Durability{}, storeError(err)
	}
	primary, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[server])
	if err != nil {
		return fleet.Durability{}, storeError(err)
	}
	return judge(primary, func() []server { return s.askStandbys(ctx) }), nil
}

// judge decides what the acknowledgement of a primary means.
func judge(primary server, ask func() []server) fleet.Durability {
	d := fleet.Durability{Replicas: 1}
	if d.Gap = syncGap(primary, "the server"); d.Reason != "" {
		return d
	}
	d.Synced = true
	rule, err := parseStandbyNames(primary.StandbyNames)
	if err != nil {
		d.Gap = fleet.Wrong("synchronous_standby_names cannot be checked: "+err.Error(), "Name every standby once, such as "+exampleNames)
		return d
	}
	d.Replicas = 1 + rule.count
	if d.Gap = cmp.Or(ruleGap(rule), connectedGap(primary, rule)); d.Reason != "" {
		return d
	}
	d.Gap = standbyGap(primary, rule, ask())
	d.Quorum = d.Reason == ""
	d.Synced = d.Quorum
	return d
}

const exampleNames = "synchronous_standby_names = 'ANY 1 (db2, db3)', where db2 and db3 are the cluster_name of the standbys."

// syncGap returns why a power cut could lose lines on a machine.
func syncGap(on server, name string) fleet.Gap {
	switch {
	case !on.Fsync:
		return fleet.Wrong(name+" runs with fsync = off, so a power cut loses lines", "Set fsync = on in its postgresql.conf and reload it.")
	case !on.FullPages:
		return fleet.Wrong(name+" runs with full_page_writes = off, so a power cut can damage lines", "Set full_page_writes = on in its postgresql.conf and reload it.")
	case !on.Permanent:
		return fleet.Wrong("a table of the store is unlogged, so a crash empties it", "As its owner, run ALTER TABLE candor.lines SET LOGGED, and the same for candor.chains.")
	}
	return fleet.Gap{}
}

// ruleGap returns why a rule does not make a majority of at least three machines have each line. With n machines, of which one is the primary,
// and count standbys that confirm, 1 + count machines have a line. If that is a majority, every other majority has one of them, and the one
// with the most changes has all acknowledged lines.
func ruleGap(rule standbyRule) fleet.Gap {
	machines := 1 + len(rule.names)
	switch {
	case rule.count == 0:
		return fleet.Wrong("the server has no synchronous standbys, so each line is on one machine only", "Add two standbys, and set "+exampleNames)
	case machines < 3:
		return fleet.Wrong(fmt.Sprintf("there are only %d machines, of which none may fail", machines), "Add standbys until there are three machines, and set "+exampleNames)
	case 2*(1+rule.count) <= machines:
		return fleet.Wrong(
			fmt.Sprintf("%d of %d machines have a line when it is acknowledged, which is not a majority", 1+rule.count, machines),
			fmt.Sprintf("Set synchronous_standby_names = 'ANY %d (%s)'.", machines/2, strings.Join(rule.names, ", ")),
		)
	}
	return fleet.Gap{}
}

// connectedGap compares the standbys that are connected with the rule. Two standbys with the same name could confirm a line in the place of two
// machines.
func connectedGap(primary server, rule standbyRule) fleet.Gap {
	if !primary.Visible {
		return fleet.Wrong("the names of the connected standbys cannot be read", "As a superuser, run GRANT pg_read_all_stats TO candor_owner.")
	}
	connected := rule.matching(primary.Standbys)
	slices.Sort(connected)
	if unique := slices.Compact(slices.Clone(connected)); len(unique) < len(connected) {
		return fleet.Wrong("several connected standbys have the same name, so they could confirm a line in each other's place", "Give each standby a cluster_name of its own.")
	}
	if len(connected) < rule.count {
		return fleet.Unverified(
			fmt.Sprintf("%d synchronous standbys are connected, and %d have to confirm each line", len(connected), rule.count),
			"Start the standbys that are missing.",
		)
	}
	return fleet.Gap{}
}

// standbyGap returns why a connected standby may not have a line on its disk when it confirms it. What is wrong comes before what is not known.
func standbyGap(primary server, rule standbyRule, standbys []server) fleet.Gap {
	missing := fleet.Gap{}
	for _, name := range rule.matching(primary.Standbys) {
		i := slices.IndexFunc(standbys, func(b server) bool {
			return strings.EqualFold(b.Name, name) && b.Recovering && b.System == primary.System
		})
		if i < 0 {
			missing = fleet.Unverified(
				fmt.Sprintf("standby %q could not be asked whether it syncs", name),
				"Name all machines in the URL, such as postgres://db1,db2,db3/candor, let the role connect to the standbys, and set cluster_name on each to its name in synchronous_standby_names.",
			)
			continue
		}
		if g := syncGap(standbys[i], fmt.Sprintf("standby %q", name)); g.Reason != "" {
			return g
		}
	}
	return missing
}

// askStandbys asks all machines of the URL. Those that do not answer are left out.
func (s *store) askStandbys(ctx context.Context) []server {
	var mu sync.Mutex
	var found []server
	var group sync.WaitGroup
	for _, config := range s.machines() {
		group.Go(func() {
			answer, err := askMachine(ctx, config)
			if err != nil {
				s.log.Debug("a machine of the store could not be asked for its settings", slog.String("host", config.Host), slog.Int("port", int(config.Port)), slog.Any("error", err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, answer)
		})
	}
	group.Wait()
	return found
}

// machines returns a configuration for each address of the URL.
func (s *store) machines() []*pgx.ConnConfig {
	base := s.config.ConnConfig.Copy()
	others := base.Fallbacks
	base.Fallbacks, base.ValidateConnect = nil, nil // a standby is wanted too
	all := []*pgx.ConnConfig{base}
	for _, other := range others {
		next := base.Copy()
		next.Host, next.Port, next.TLSConfig = other.Host, other.Port, other.TLSConfig
		all = append(all, next)
	}
	return all
}

func askMachine(ctx context.Context, config *pgx.ConnConfig) (server, error) {
	ctx, cancel := context.WithTimeout(ctx, standbyTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return server{}, err
	}
	defer conn.Close(ctx) //nolint:errcheck // only read
	rows, err := conn.Query(ctx, askServer)
	if err != nil {
		return server{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[server])
}

// standbyRule is a parsed synchronous_standby_names: count of the named standbys confirm each commit.
type standbyRule struct {
	count int
	names []string
}

// matching returns those of the connected names that the rule has, in lower case.
func (r standbyRule) matching(connected []string) []string {
	var found []string
	for _, name := range connected {
		if lower := strings.ToLower(name); slices.Contains(r.names, lower) {
			found = append(found, lower)
		}
	}
	return found
}

var errStandbyNames = errors.New("its form is not known")

// parseStandbyNames parses FIRST n (a, b), ANY n (a, b), n (a, b) and a, b, which means FIRST 1. Names are compared without regard to case, as
// the server does. The name * is refused, because it stands for any number of machines.
func parseStandbyNames(text string) (standbyRule, error) {
	tokens, err := standbyTokens(text)
	if err != nil || len(tokens) == 0 {
		return standbyRule{}, err
	}
	rule := standbyRule{count: 1}
	if first := strings.ToLower(tokens[0]); len(tokens) > 1 && (first == "first" || first == "any") && isNumber(tokens[1]) {
		tokens = tokens[1:]
	}
	if len(tokens) > 2 && isNumber(tokens[0]) && tokens[1] == "(" && tokens[len(tokens)-1] == ")" {
		if _, err := fmt.Sscan(tokens[0], &rule.count); err != nil || rule.count < 1 {
			return standbyRule{}, errStandbyNames
		}
		tokens = tokens[2 : len(tokens)-1]
	}
	for i, token := range tokens {
		if separator := i%2 == 1; separator != (token == ",") || token == "(" || token == ")" {
			return standbyRule{}, errStandbyNames
		}
		if i%2 == 0 {
			rule.names = append(rule.names, strings.ToLower(strings.TrimPrefix(token, `"`)))
		}
	}
	return rule, rule.check(len(tokens))
}

func (r standbyRule) check(tokens int) error {
	sorted := slices.Sorted(slices.Values(r.names))
	switch {
	case tokens%2 == 0:
		return errStandbyNames
	case slices.Contains(r.names, "*"):
		return errors.New("* stands for any number of machines")
	case len(slices.Compact(sorted)) < len(r.names):
		return errors.New("a name occurs twice")
	case r.count > len(r.names):
		return errors.New("it asks for more standbys than it names")
	}
	return nil
}

func isNumber(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == ""
}

// standbyTokens splits the setting into names, numbers, commas and parentheses. A quoted name begins with a quotation mark, so that it is no
// number or keyword.
func standbyTokens(text string) ([]string, error) {
	var tokens []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		switch {
		case strings.ContainsRune("(),", rune(text[0])):
			tokens, text = append(tokens, text[:1]), text[1:]
		case text[0] == '"':
			name, rest, err := quotedName(text[1:])
			if err != nil {
				return nil, err
			}
			tokens, text = append(tokens, `"`+name), rest
		default:
			end := strings.IndexAny(text, "(), \t\r\n\f\v\"")
			if end < 0 {
				end = len(text)
			}
			tokens, text = append(tokens, text[:end]), text[end:]
		}
	}
	return tokens, nil
}

// quotedName returns the name up to its closing quotation mark, and the rest. Two quotation marks stand for one.
func quotedName(text string) (name, rest string, err error) {
	for {
		part, after, found := strings.Cut(text, `"`)
		if !found {
			return "", "", errStandbyNames
		}
		name += part
		if !strings.HasPrefix(after, `"`) {
			return name, after, nil
		}
		name, text = name+`"`, after[1:]
	}
}
