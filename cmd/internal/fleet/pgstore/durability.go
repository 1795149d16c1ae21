package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// server is what candor.server_settings returns.
type server struct {
	Fsync        bool
	FullPages    bool
	Permanent    bool // the tables are not unlogged
	StandbyNames string
	Standbys     []string // that receive changes from this server
	Visible      bool     // Standbys is complete
}

// Durability reports a quorum if the settings of the primary guarantee it and enough standbys are connected. That each
// standby runs with fsync is the operator's responsibility.
func (s *store) Durability(ctx context.Context) (fleet.Durability, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, "SELECT fsync, full_pages, permanent, standby_names, standbys, visible FROM candor.server_settings()")
	if err != nil {
		return fleet.Durability{}, storeError(err)
	}
	primary, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[server])
	if err != nil {
		return fleet.Durability{}, storeError(err)
	}
	return judge(primary), nil
}

// judge decides what the acknowledgement of a primary means.
func judge(primary server) fleet.Durability {
	d := fleet.Durability{Replicas: 1, Gap: syncGap(primary)}
	if d.Synced = d.Reason == ""; !d.Synced {
		return d
	}
	rule, err := parseStandbyNames(primary.StandbyNames)
	if err != nil {
		d.Gap = fleet.Wrong("synchronous_standby_names cannot be checked: "+err.Error(), "Name every standby once, such as "+exampleNames)
		return d
	}
	d.Replicas = 1 + rule.count
	d.Gap = cmp.Or(ruleGap(rule), connectedGap(primary, rule))
	d.Quorum = d.Reason == ""
	return d
}

const exampleNames = "synchronous_standby_names = 'ANY 1 (db2, db3)', where db2 and db3 are the cluster_name of the standbys."

// syncGap returns why a power cut could lose lines on the server.
func syncGap(on server) fleet.Gap {
	switch {
	case !on.Fsync:
		return fleet.Wrong("the server runs with fsync = off, so a power cut loses lines", "Set fsync = on in its postgresql.conf and reload it.")
	case !on.FullPages:
		return fleet.Wrong("the server runs with full_page_writes = off, so a power cut can damage lines", "Set full_page_writes = on in its postgresql.conf and reload it.")
	case !on.Permanent:
		return fleet.Wrong("a table of the store is unlogged, so a crash empties it", "As its owner, run ALTER TABLE candor.lines SET LOGGED, and the same for candor.chains.")
	}
	return fleet.Gap{}
}

// ruleGap returns why a rule does not make a majority of at least three machines have each line. With n machines, of
// which one is the primary, and count standbys that confirm, 1 + count machines have a line. If that is a majority,
// every other majority has one of them, and the one with the most changes has all acknowledged lines.
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

// connectedGap compares the standbys that are connected with the rule. Two standbys with the same name could confirm a
// line in the place of two machines.
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

var standbyForm = regexp.MustCompile(`(?i)^\s*(?:(?:ANY|FIRST)\s+)?(\d{1,3})\s*\(\s*(\w+(?:\s*,\s*\w+)*)\s*\)\s*$`)

// parseStandbyNames parses ANY n (a, b), FIRST n (a, b) and n (a, b). Names are compared without regard to case, as the
// server does. Other forms are refused: quoted names, and *, which means any number of machines.
func parseStandbyNames(text string) (standbyRule, error) {
	if strings.TrimSpace(text) == "" {
		return standbyRule{}, nil
	}
	m := standbyForm.FindStringSubmatch(text)
	if m == nil {
		return standbyRule{}, errors.New("not of the form ANY n (a, b)")
	}
	count, _ := strconv.Atoi(m[1]) // at most three digits
	rule := standbyRule{count, strings.FieldsFunc(strings.ToLower(m[2]), func(c rune) bool { return c == ',' || unicode.IsSpace(c) })}
	unique := slices.Compact(slices.Sorted(slices.Values(rule.names)))
	if count < 1 || count > len(rule.names) || len(unique) < len(rule.names) {
		return standbyRule{}, fmt.Errorf("%d standbys required, %d of %d names differ", count, len(unique), len(rule.names))
	}
	return rule, nil
}
