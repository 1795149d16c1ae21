//go:build unix

package pgstore_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
)

func TestRemoteHostsAreVerifiedUnlessTheURLSaysOtherwise(t *testing.T) {
	for _, test := range []struct {
		url, environment string
		refused, warned  bool
	}{
		{url: "postgres://db.example/candor"},
		{url: "postgres://db.example/candor?sslmode=verify-full"},
		{url: "postgres://a.example,b.example:5433/candor"},
		{url: "postgres://localhost/candor"}, {url: "postgres://127.0.0.1:5433/candor"}, {url: "postgres://[::1]/candor"},
		{url: "postgres:///candor?host=/run/postgresql"},
		{url: "postgres://db.example/candor?sslmode=require", warned: true},
		{url: "postgres://db.example/candor?sslmode=prefer", warned: true},
		{url: "postgres://localhost,192.0.2.7/candor?sslmode=disable", warned: true},
		{url: "postgres:///candor?host=db.example&sslmode=verify-ca", warned: true},
		{url: "postgres://db.example/candor", environment: "require", refused: true},
		{url: "postgres://[2001:db8::1]:5432/candor", environment: "disable", refused: true},
		{url: "postgres://localhost/candor", environment: "disable"},
	} {
		t.Setenv("PGSSLMODE", test.environment)
		var logged bytes.Buffer
		at, err := fleet.ParseLocation(test.url)
		if err != nil {
			t.Fatalf("%s: %v", test.url, err)
		}
		at.Node = "n"
		store, err := openLocation(t, at, slog.New(slog.NewTextHandler(&logged, nil)))
		if (err != nil) != test.refused {
			t.Errorf("%s with %q: %v", test.url, test.environment, err)
		}
		if err != nil && !strings.Contains(err.Error(), "sslmode=verify-full") {
			t.Errorf("%v does not say what to change", err)
		}
		if strings.Contains(logged.String(), "verify") != test.warned {
			t.Errorf("%s: logged %q", test.url, logged.String())
		}
		if store != nil {
			_ = store.Close()
		}
	}
}

func TestSecretsAreRefusedInTheURLAndNeverShown(t *testing.T) {
	for _, text := range []string{
		"postgres://localhost/candor?password=hunter2", "postgres://localhost/candor?sslpassword=hunter2", "postgres://role:hunter2@localhost/candor",
		"postgres://localhost/candor?connect_timeout=hunter2", "postgres://localhost/candor?sslmode=hunter2",
	} {
		_, err := tryOpen(t, text+"&node=n", slog.New(slog.DiscardHandler))
		if err == nil || strings.Contains(err.Error(), "role:hunter2") || strings.Contains(err.Error(), "password=hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
	server := pgtest.StartWith(t, pgtest.Options{}) // its roles need passwords
	file := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(file, []byte("*:*:*:reader:hunter2-wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("postgres://reader@/shop?host=%s&node=n&passfile=%s", server.Socket, file)
	_, err := openURL(t, url).Chains(t.Context())
	wantClass(t, "a wrong password", err, candor.ClassDenied)
	if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "hunter2") {
		t.Errorf("the error shows the password: %v", err)
	}
	if err := os.WriteFile(file, []byte("*:*:*:reader:hunter2-reader\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = openURL(t, url).Chains(t.Context())
	wantClass(t, "the right password, without a store", err, candor.ClassPrecondition)
}

func TestUnreachableServerIsUnavailable(t *testing.T) {
	store := openURL(t, "postgres:///candor?node=n&host="+t.TempDir())
	chain := fleet.Chain{Node: "n", Name: "c"}
	_, err := store.Head(t.Context(), chain)
	wantClass(t, "Head", err, candor.ClassUnavailable)
	wantClass(t, "Append", store.Append(t.Context(), chain, fleet.Head{}, storetest.MakeLines(chain, fleet.Head{}, 1, 10)), candor.ClassUnavailable)
	_, err = store.Durability(t.Context())
	wantClass(t, "Durability", err, candor.ClassUnavailable)
}
