package pgstore

import (
	"slices"
	"strings"
	"testing"
)

func TestStandbyNamesAreReadOrRefused(t *testing.T) {
	for text, want := range map[string]standbyRule{
		"": {}, "  ": {},
		"2 (a, b, c)":    {2, []string{"a", "b", "c"}},
		"FIRST 2 (a,b)":  {2, []string{"a", "b"}},
		"any 3(a,b,c,d)": {3, []string{"a", "b", "c", "d"}},
	} {
		if got, err := parseStandbyNames(text); err != nil || got.count != want.count || !slices.Equal(got.names, want.names) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"a, b", `ANY 1 ("a", b)`, "*", "ANY 1 (*)", "a, *", "a, a", "A, a", "ANY 3 (a, b)", "0 (a)", "ANY 1 (a", "ANY 1 (a b)", "ANY 1 ()", "a,", ",", `"a`, "(a)", "ANY 1 (a) b",
		"ANY 99999999999999999999 (a)",
	} {
		if got, err := parseStandbyNames(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
}

func TestQuorumNeedsAMajorityOfSyncedMachines(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*server)
		reason   string
		unsynced bool
	}{
		"fine":            {change: func(*server) {}},
		"five":            {change: func(p *server) { p.StandbyNames = "ANY 2 (db2, db3, db4, db5)" }},
		"priorities":      {change: func(p *server) { p.StandbyNames = "FIRST 1 (db2, db3)" }},
		"torn pages":      {change: func(p *server) { p.FullPages = false }, reason: "full_page_writes", unsynced: true},
		"unlogged":        {change: func(p *server) { p.Permanent = false }, reason: "unlogged", unsynced: true},
		"lazy":            {change: func(p *server) { p.Fsync = false }, reason: "fsync", unsynced: true},
		"same name twice": {change: func(p *server) { p.Standbys = append(p.Standbys, "DB2") }, reason: "same name"},
		"minority":        {change: func(p *server) { p.StandbyNames = "ANY 1 (db2, db3, db4)" }, reason: "not a majority"},
		"hidden":          {change: func(p *server) { p.Visible = false }, reason: "cannot be read"},
		"unnamed standby": {change: func(p *server) { p.Standbys = append(p.Standbys, "backup") }},
	} {
		primary := server{Fsync: true, FullPages: true, Permanent: true, Visible: true, StandbyNames: "ANY 1 (db2, db3)", Standbys: []string{"db2", "db3"}}
		test.change(&primary)
		d := judge(primary)
		if d.Quorum != (test.reason == "") || !strings.Contains(d.Reason, test.reason) || d.Quorum != (d.Change == "") || d.Synced == test.unsynced {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
