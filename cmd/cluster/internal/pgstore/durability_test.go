package pgstore

import (
	"slices"
	"strings"
	"testing"
)

func TestStandbyNamesAreReadAsTheServerReadsThem(t *testing.T) {
	for text, want := range map[string]standbyRule{
		"": {}, "  ": {},
		"a":                     {1, []string{"a"}},
		"a, B ,c":               {1, []string{"a", "b", "c"}},
		"2 (a, b, c)":           {2, []string{"a", "b", "c"}},
		"FIRST 2 (a,b)":         {2, []string{"a", "b"}},
		"any 3(a,b,c,d)":        {3, []string{"a", "b", "c", "d"}},
		`ANY 1 ("x y", "q""t")`: {1, []string{"x y", `q"t`}},
		"first, any":            {1, []string{"first", "any"}},
		`"1" , "any"`:           {1, []string{"1", "any"}},
	} {
		if got, err := parseStandbyNames(text); err != nil || got.count != want.count || !slices.Equal(got.names, want.names) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"*", "ANY 1 (*)", "a, *", "a, a", "A, a", "ANY 3 (a, b)", "0 (a)", "ANY 1 (a", "ANY 1 (a b)", "ANY 1 ()", "a,", ",", `"a`, "(a)", "ANY 1 (a) b",
		"ANY 99999999999999999999 (a)", `"*"`,
	} {
		if got, err := parseStandbyNames(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
}

// machine returns a server that is as it should be.
func machine(name string) server {
	return server{System: 7, Recovering: name != "db1", Name: name, Fsync: true, FullPages: true, Permanent: true, Visible: true}
}

func TestQuorumNeedsAMajorityOfSyncedMachines(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(primary *server, standbys []server)
		reason   string
		unsynced bool
	}{
		"fine":             {change: func(*server, []server) {}},
		"five":             {change: func(p *server, _ []server) { p.StandbyNames = "ANY 2 (db2, db3, db4, db5)" }},
		"priorities":       {change: func(p *server, _ []server) { p.StandbyNames = "FIRST 1 (db2, db3)" }},
		"torn pages":       {change: func(p *server, _ []server) { p.FullPages = false }, reason: "full_page_writes", unsynced: true},
		"unlogged":         {change: func(p *server, _ []server) { p.Permanent = false }, reason: "unlogged", unsynced: true},
		"lazy primary":     {change: func(p *server, _ []server) { p.Fsync = false }, reason: "fsync", unsynced: true},
		"lazy standby":     {change: func(_ *server, s []server) { s[1].Fsync = false }, reason: `"db3"`, unsynced: true},
		"torn standby":     {change: func(_ *server, s []server) { s[0].FullPages = false }, reason: `"db2"`, unsynced: true},
		"same name twice":  {change: func(p *server, _ []server) { p.Standbys = append(p.Standbys, "DB2") }, reason: "same name"},
		"another database": {change: func(_ *server, s []server) { s[0].System = 8 }, reason: "could not be asked", unsynced: true},
		"one of each":      {change: func(_ *server, s []server) { s[0].System, s[1].Fsync = 8, false }, reason: `"db3"`, unsynced: true},
		"not a standby":    {change: func(_ *server, s []server) { s[0].Recovering = false }, reason: "could not be asked", unsynced: true},
		"minority":         {change: func(p *server, _ []server) { p.StandbyNames = "ANY 1 (db2, db3, db4)" }, reason: "not a majority"},
		"hidden":           {change: func(p *server, _ []server) { p.Visible = false }, reason: "cannot be read"},
		"unnamed standby":  {change: func(p *server, s []server) { p.Standbys = append(p.Standbys, "backup") }},
	} {
		primary, standbys := machine("db1"), []server{machine("db2"), machine("db3")}
		primary.StandbyNames, primary.Standbys = "ANY 1 (db2, db3)", []string{"db2", "db3"}
		test.change(&primary, standbys)
		d := judge(primary, func() []server { return standbys })
		if unverified := test.reason == "could not be asked"; d.Unverified != unverified {
			t.Errorf("%s: unverified is %v", name, d.Unverified)
		}
		if d.Quorum != (test.reason == "") || !strings.Contains(d.Reason, test.reason) || d.Quorum != (d.Change == "") || d.Synced == test.unsynced {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
