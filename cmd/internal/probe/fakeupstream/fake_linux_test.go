package fakeupstream_test

import (
	"io"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
)

func TestEveryFaultIsSeenAndCounted(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	seen := map[string][]string{
		"":                        {"200 application/json", "{}"},
		fakeupstream.Down:         {"connection refused"},
		fakeupstream.Unauthorized: {"401 application/json", "auth=Bearer", `"code":"invalid_token"`},
		fakeupstream.Forbidden:    {"403 application/json", `"status":403`},
		fakeupstream.NotFound:     {"404 application/json", `"status":404`},
		fakeupstream.Conflict:     {"409 application/json", `"status":409`},
		fakeupstream.Invalid:      {"422 application/json", `"status":422`},
		fakeupstream.RateLimited:  {"429 application/json", "retry=17", `"status":429`},
		fakeupstream.Broken:       {"500 text/html", "<h1>500 Internal Server Error</h1>"},
		fakeupstream.Unavailable:  {"503 application/json", "retry=23"},
		fakeupstream.LoginPage:    {"200 text/html", "Sign in"},
		fakeupstream.Garbage:      {"200 application/json", "<<<garbage>>>"},
		fakeupstream.Slow:         {"context canceled"},
	}
	for _, fault := range append(fakeupstream.Faults(), "") {
		for _, url := range []string{"http://api.example.com/v1/things", "https://api.example.org/v1/things"} {
			up.Begin(fault)
			verb := "get "
			if fault == fakeupstream.Slow {
				verb = "impatient "
			}
			got := s.ask(verb + url)
			hits := up.End()
			wants(t, got, seen[fault]...)
			if hits != 1 {
				t.Errorf("%s under %q: %d hits, want 1", url, fault, hits)
			}
		}
	}
	if len(seen) != len(fakeupstream.Faults())+1 {
		t.Error("a fault is not looked at")
	}
}

func TestOtherPortsAreRefusedAndCountedOnce(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, port := range []string{"5432", "6379", "8080"} {
		for fault, met := range map[string]int{fakeupstream.Down: 2, fakeupstream.NotFound: 0} {
			up.Begin(fault)
			wants(t, s.ask("dial db.example.com:"+port), "connection refused")
			wants(t, s.ask("dial 127.0.0.1:"+port), "connection refused")
			if hits := up.End(); hits != met {
				t.Errorf("port %s under %s: %d hits, want %d", port, fault, hits, met)
			}
		}
	}
}

func TestHitsOfACrashedServerAreCounted(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	for fault, last := range map[string]string{fakeupstream.Broken: "get https://api.example.com/", fakeupstream.Down: "dial 127.0.0.1:443"} {
		for range 5 { // to provoke a race
			up.Begin(fault)
			s := run(t, up)
			if _, err := io.WriteString(s.in, last+"\nkill\n"); err != nil {
				t.Fatal(err)
			}
			_ = s.cmd.Wait()
			if hits := up.End(); hits != 1 {
				t.Errorf("%s: %d hits of a dead server, want 1", fault, hits)
			}
		}
	}
}

func TestUntrustedCertificateIsNotAHit(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	up.Begin(fakeupstream.NotFound)
	wants(t, s.ask("distrust api.example.com"), "certificate")
	if hits := up.End(); hits != 0 {
		t.Fatalf("%d hits, want none", hits)
	}
}

func TestEveryNameIsLoopback(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, name := range []string{"api.example.com", "a.very.deep.name.in.some.zone.test"} {
		wants(t, s.ask("lookup "+name), "127.0.0.1", "::1")
	}
	wants(t, s.ask("head https://api.example.com/"), "200")
}

func TestNothingLeavesTheMachine(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	if links := s.ask("links"); links != "<nil> lo" {
		t.Errorf("the namespace has the links %q, want lo alone", links)
	}
	for _, address := range []string{"192.0.2.1:443", "198.51.100.1:80", "[2001:db8::1]:443"} {
		wants(t, s.ask("dial "+address), "unreachable")
	}
	if routes := s.ask("read /proc/net/route"); strings.Count(routes, `\n`) > 1 {
		t.Errorf("there are routes: %s", routes)
	}
	wants(t, s.ask("read /etc/resolv.conf"), `"nameserver 127.0.0.1\n"`)
	wants(t, s.ask("unmount /etc/resolv.conf"), "not permitted")
	wants(t, s.ask("read /proc/self/status"), `CapPrm:\t0000000000000000\n`, `CapBnd:\t0000000000000000\n`)
	line := up.Wrap(nil)
	sharedDir := line[len(line)-2]
	wants(t, s.ask("connect "+sharedDir+"/control/s"), "control/s: connect: ")
}

func TestEveryCredentialHoldsTheSecret(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "SLACK_BOT_TOKEN", "API_KEY"} {
		wants(t, s.ask("env "+name), fakeupstream.Secret)
	}
	names := map[string]bool{}
	for _, variable := range up.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if names[name] {
			t.Errorf("%s is given twice", name)
		}
		names[name] = true
		for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.Contains(name, part) && !strings.Contains(value, fakeupstream.Secret) {
				t.Errorf("%s does not hold the secret", variable)
			}
		}
	}
	if names["NODE_TLS_REJECT_UNAUTHORIZED"] {
		t.Error("servers are told not to check certificates")
	}
}
