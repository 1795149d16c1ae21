//go:build unix

package pgstore_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestClientCertificateIsTheIdentityOfANode starts a server that accepts TLS with client certificates only.
func TestClientCertificateIsTheIdentityOfANode(t *testing.T) {
	dir := t.TempDir()
	authority := newAuthority(t, dir)
	port := freePort(t)
	server := pgtest.StartWith(t, pgtest.Options{
		Rules: "local all admin trust\nhostssl candor all 127.0.0.1/32 cert\n", Port: port,
	})
	authority.issue(t, "server", "127.0.0.1")
	server.Install(t, filepath.Join(dir, "server.crt"), "server.crt")
	server.Install(t, filepath.Join(dir, "server.key"), "server.key")
	server.Install(t, filepath.Join(dir, "ca.crt"), "ca.crt")
	server.SQL(t, "postgres", "ALTER SYSTEM SET ssl_ca_file = 'ca.crt'")
	server.SQL(t, "postgres", "ALTER SYSTEM SET ssl = on")
	server.SQL(t, "postgres", "SELECT pg_reload_conf()")
	server.SQL(t, "postgres", "CREATE DATABASE candor")
	admin := openURL(t, fmt.Sprintf("postgres://admin@/candor?host=%s&port=%d&node=n", server.Socket, port))
	if err := admin.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"web-1", "web-2"} {
		text, err := admin.Grant(node)
		if err != nil {
			t.Fatal(err)
		}
		server.SQL(t, "candor", text)
		authority.issue(t, "candor_node_"+node, "")
	}
	address := func(role, certificate, more string) string {
		return fmt.Sprintf("postgres://%s@127.0.0.1:%d/candor?node=n&sslcert=%[3]s/%[4]s.crt&sslkey=%[3]s/%[4]s.key%[5]s", role, port, dir, certificate, more)
	}
	verified := "&sslmode=verify-full&sslrootcert=" + filepath.Join(dir, "ca.crt")
	chain := fleet.Chain{Node: "web-1", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 3, 100)
	appendLines(t, openURL(t, address("candor_node_web-1", "candor_node_web-1", verified)), chain, fleet.Head{}, lines)
	wantChain(t, admin, chain, lines)

	_, err := openURL(t, address("candor_node_web-1", "candor_node_web-2", verified)).Head(t.Context(), chain)
	wantClass(t, "the certificate of another node", err, candor.ClassDenied)
	_, err = openURL(t, address("candor_node_web-2", "candor_node_web-2", verified)).Head(t.Context(), chain)
	wantClass(t, "the chain of another node", err, candor.ClassDenied)
	_, err = openURL(t, address("candor_node_web-1", "candor_node_web-1", "&sslmode=disable")).Head(t.Context(), chain)
	wantClass(t, "a connection without TLS", err, candor.ClassDenied)
	newAuthority(t, dir) // the server's certificate is not from this one
	_, err = openURL(t, address("candor_node_web-1", "candor_node_web-1", verified)).Head(t.Context(), chain)
	if !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "certificate") {
		t.Errorf("a server of another authority: %v", err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // only its number is used
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return int(address.Port())
}

// authority issues certificates into a folder.
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	a := &authority{dir: dir}
	a.certificate, a.key = a.write(t, "ca", &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func (a *authority) issue(t *testing.T, name, address string) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}}
	if address != "" {
		template.IPAddresses = []net.IP{net.ParseIP(address)}
	}
	a.write(t, name, template)
}

// write signs a certificate and writes it and its key as NAME.crt and NAME.key.
func (a *authority) write(t *testing.T, name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{name + ".crt": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(a.dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}
