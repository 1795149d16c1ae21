package fleet_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

func TestLocationSeparatesCommonParametersFromThoseOfTheEngine(t *testing.T) {
	at, err := fleet.ParseLocation("nats://a:4222,b:4222/CANDOR?node=web-1&ack=both&creds=node.creds&backlog=2GiB&dir=spool")
	if err != nil {
		t.Fatal(err)
	}
	if at.Node != "web-1" || at.Mode != fleet.ModeBoth || at.Backlog != "2GiB" || at.Dir != "spool" {
		t.Errorf("got %+v", at)
	}
	if at.URL.RawQuery != "creds=node.creds" {
		t.Errorf("the engine gets %q, want only creds", at.URL.RawQuery)
	}
}

func TestLocationNeverShowsASecret(t *testing.T) {
	for _, text := range []string{"postgres://candor:hunter2@db/ledger", "nats://user:hunter2@host:4222", "nats://%zz:hunter2@x"} {
		if _, err := fleet.ParseLocation(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseLocation(%q) = %v, want an error without the password", text, err)
		}
	}
	at, err := fleet.ParseLocation("postgres://candor@db/ledger?passfile=secret.pgpass&node=n")
	if err != nil {
		t.Fatal(err)
	}
	if got := at.String(); got != "postgres://db/ledger" {
		t.Errorf("String() = %q", got)
	}
}

func TestLocationRefusesBadModesAndNodes(t *testing.T) {
	for _, text := range []string{"nats://h?node=n&ack=often", "nats://h?node=a.b", "nats://h?node=a%2Fb", "nats://h?node=*", "http://h"} {
		if _, err := fleet.ParseLocation(text); err == nil {
			t.Errorf("ParseLocation(%q) succeeded", text)
		}
	}
}

func TestPathsAreNoLocations(t *testing.T) {
	for text, want := range map[string]bool{
		"file:ledger": true, "nats://h": true, "postgres://h/d": true,
		"ledger": false, "none": false, `C:\ledger`: false, "/var/lib/candor": false,
	} {
		if got := fleet.IsLocation(text); got != want {
			t.Errorf("IsLocation(%q) = %v", text, got)
		}
	}
}

func TestStoresWithDifferentURLsHaveDifferentIDs(t *testing.T) {
	id := func(text string) string {
		at, err := fleet.ParseLocation(text)
		if err != nil {
			t.Fatal(err)
		}
		return at.ID()
	}
	one := id("postgres:///candor?host=db1&port=1")
	for text, same := range map[string]bool{
		"postgres://role@/candor?port=1&host=db1&ack=both&node=n&backlog=1MiB": true,
		"postgres:///candor?host=db2&port=1":                                   false,
		"postgres:///other?host=db1&port=1":                                    false,
	} {
		if (id(text) == one) != same {
			t.Errorf("%s: the same is %v", text, !same)
		}
	}
}
