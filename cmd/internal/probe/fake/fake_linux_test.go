package fake_test

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fake"
)

func TestEveryFaultIsSeenAndCounted(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	seen := map[string][]string{
		"":                {"200 application/json", "{}"},
		fake.Down:         {"connection refused"},
		fake.Unauthorized: {"401 application/json", "auth=Bearer", `"code":"invalid_token"`},
		fake.Forbidden:    {"403 application/json", `"status":403`},
		fake.NotFound:     {"404 application/json", `"status":404`},
		fake.Conflict:     {"409 application/json", `"status":409`},
		fake.Invalid:      {"422 application/json", `"status":422`},
		fake.RateLimited:  {"429 application/json", "retry=17", `"status":429`},
		fake.Broken:       {"500 text/html", "<h1>500 Internal Server Error</h1>"},
		fake.Unavailable:  {"503 application/json", "retry=23"},
		fake.LoginPage:    {"200 text/html", "Sign in"},
		fake.Garbage:      {"200 application/json", "<<<garbage>>>"},
		fake.Slow:         {"context canceled"},
	}
	for _, fault := range append(fake.Faults(), "") {
		for _, url := range []string{"http://api.example.com/v1/things", "https://api.example.org/v1/things"} {
			up.Begin(fault)
			verb := "get "
			if fault == fake.Slow {
				verb = "impatient "
			}
			got := s.ask(verb + url)
			hits, last := up.End(), up.Last()
			wants(t, got, seen[fault]...)
			if hits != 1 || last.Untrusted != 0 || last.Lookups == 0 {
				t.Errorf("%s under %q: %d hits, %+v; want 1", url, fault, hits, last)
			}
		}
	}
	if len(seen) != len(fake.Faults())+1 {
		t.Error("a fault is not looked at")
	}
}

func TestRetriesAreSeen(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, fault := range []string{fake.RateLimited, fake.Down} {
		up.Begin(fault)
		for range 3 {
			s.ask("get https://api.example.com/")
		}
		if hits := up.End(); hits != 3 {
			t.Errorf("%s: %d hits, want 3", fault, hits)
		}
		s.ask("get https://api.example.com/") // not counted
		up.Begin(fault)
		if hits := up.End(); hits != 0 {
			t.Errorf("%s: %d hits without a request", fault, hits)
		}
	}
}

func TestOtherPortsAreRefusedAndCountedOnce(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, port := range []string{"5432", "6379", "8080"} {
		for fault, met := range map[string]int{fake.Down: 2, fake.NotFound: 0} {
			up.Begin(fault)
			wants(t, s.ask("dial db.example.com:"+port), "connection refused")
			wants(t, s.ask("dial 127.0.0.1:"+port), "connection refused")
			if hits, last := up.End(), up.Last(); hits != met || last.Refused != 2 {
				t.Errorf("port %s under %s: %d hits, %+v; want %d, and 2 refused", port, fault, hits, last, met)
			}
		}
	}
}

// TestLoopbackServicesFailLikeOthers has a server that is configured with the address of a service on loopback.
func TestLoopbackServicesFailLikeOthers(t *testing.T) {
	up := start(t, fake.Port{Number: 8123}, fake.Port{Number: 8443, TLS: true})
	if up == nil {
		return
	}
	s := run(t, up)
	for fault, want := range map[string]string{fake.RateLimited: "429 application/json", fake.Down: "connection refused", fake.Broken: "500 text/html"} {
		for _, url := range []string{"http://127.0.0.1:8123/v1", "http://localhost:8123/v1", "https://127.0.0.1:8443/v1"} {
			up.Begin(fault)
			wants(t, s.ask("get "+url), want)
			if hits := up.End(); hits != 1 {
				t.Errorf("%s under %s: %d hits", url, fault, hits)
			}
		}
	}
}

func TestFaultAppliesToServersStartedLater(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	up.Begin(fake.Forbidden)
	first, second := run(t, up), run(t, up)
	wants(t, first.ask("get https://api.example.com/"), "403")
	wants(t, second.ask("get https://api.example.com/"), "403")
	if hits := up.End(); hits != 2 {
		t.Errorf("%d hits of two servers, want 2", hits)
	}
}

func TestHitsOfACrashedServerAreCounted(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	for fault, last := range map[string]string{fake.Broken: "get https://api.example.com/", fake.Down: "dial 127.0.0.1:443"} {
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
	for range 100 { // the upstream may notice long after the client has continued
		up.Begin(fake.NotFound)
		wants(t, s.ask("distrust api.example.com"), "certificate")
		if hits := up.End(); hits != 0 {
			t.Fatalf("%d hits, want none", hits)
		}
		if up.Last().Untrusted > 0 {
			return
		}
	}
	t.Error("it is never told that the client does not trust the authority")
}

func TestEveryNameIsLoopback(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, name := range []string{"api.example.com", "a.very.deep.name.in.some.zone.test"} {
		wants(t, s.ask("lookup "+name), "127.0.0.1", "::1")
		wants(t, s.ask("call "+name), "127.0.0.1", "::1")
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

func TestForbiddenNamespacesAreReported(t *testing.T) {
	if err := fake.Available(); err != nil {
		wants(t, err.Error(), "hint: ")
		return
	}
	forbidden := exec.Command(os.Args[0], "forbid")
	forbidden.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	said, err := forbidden.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	wants(t, string(said), "namespaces", "not allowed here", "hint: as root, sysctl -w user.max_user_namespaces=")
}

func TestEveryCredentialHoldsTheSecret(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "SLACK_BOT_TOKEN", "API_KEY"} {
		wants(t, s.ask("env "+name), fake.Secret)
	}
	names := map[string]bool{}
	for _, variable := range up.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if names[name] {
			t.Errorf("%s is given twice", name)
		}
		names[name] = true
		for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.Contains(name, part) && !strings.Contains(value, fake.Secret) {
				t.Errorf("%s does not hold the secret", variable)
			}
		}
	}
	if names["NODE_TLS_REJECT_UNAUTHORIZED"] {
		t.Error("servers are told not to check certificates")
	}
}

func TestFaultsAreThoseOfTheCases(t *testing.T) {
	want := []string{"down", "401", "403", "404", "409", "422", "429", "500", "503", "200html", "garbage", "slow"}
	if got := fake.Faults(); !slices.Equal(got, want) {
		t.Errorf("faults are %v, want %v", got, want)
	}
}
