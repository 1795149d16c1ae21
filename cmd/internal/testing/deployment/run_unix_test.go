//go:build unix

package deployment

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// folder is deploy in the repository.
var folder = filepath.FromSlash("../../../../deploy")

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// program builds candor-cluster once.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "candor-cluster")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, "github.com/candor-mcp/candor/cmd/candor-cluster").CombinedOutput()
	if err != nil {
		t.Fatalf("building candor-cluster: %v\n%s", err, out)
	}
	return path
}

// compose is the part of the format that the example uses. Other keys are refused, so that none is overlooked.
type compose struct {
	Name     string
	Nats     any `yaml:"x-nats"`
	Candor   any `yaml:"x-candor"`
	Services map[string]service
	Networks map[string]any
	Volumes  map[string]any
	Secrets  map[string]struct{ File string }
}

type service struct {
	Image       string
	Restart     string
	Networks    []string
	EnvFile     string   `yaml:"env_file"`
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Tmpfs       []string
	Command     []string
	Volumes     []string
	DependsOn   []string `yaml:"depends_on"`
	Secrets     []string
	Environment []string
	Ports       []string
	Healthcheck struct {
		Test              []string
		Interval, Timeout string
	}
}

func readCompose(t *testing.T) compose {
	t.Helper()
	var c compose
	if err := yaml.UnmarshalWithOptions([]byte(read(t, "compose/compose.yaml")), &c, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestComposeNamesExist checks that everything a service refers to is in the file or beside it.
func TestComposeNamesExist(t *testing.T) {
	t.Parallel()
	c := readCompose(t)
	for name, s := range c.Services {
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.SecurityOpt) == 0 {
			t.Errorf("%s: can write to its root, or has capabilities", name)
		}
		for _, network := range s.Networks {
			if _, ok := c.Networks[network]; !ok {
				t.Errorf("%s: no network %s", name, network)
			}
		}
		for _, other := range s.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s: no service %s", name, other)
			}
		}
		for _, secret := range s.Secrets {
			if c.Secrets[secret].File != "./secrets/"+secret {
				t.Errorf("%s: no secret %s", name, secret)
			}
		}
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			_, known := c.Volumes[from]
			if _, err := os.Stat(filepath.Join(folder, "compose", from)); !known && err != nil {
				t.Errorf("%s: no volume %s", name, from)
			}
		}
	}
}

// site is the example, moved to this machine: every server and file has another address.
type site struct {
	t        *testing.T
	dir      string
	program  string
	keys     map[string]string // public keys by variable
	replaced *strings.Replacer
	ports    map[string]string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), program: program(t), keys: map[string]string{}, ports: map[string]string{}}
	var pairs []string
	for _, host := range []string{"nats-1", "nats-2", "nats-3"} {
		for _, port := range []string{"4222", "6222", "8222"} {
			s.ports[host+":"+port] = freeAddress(t)
			pairs = append(pairs, host+":"+port, s.ports[host+":"+port])
		}
	}
	for _, name := range []string{"0.0.0.0:8765", "127.0.0.1:8766", "shop:9000"} {
		s.ports[name] = freeAddress(t)
		pairs = append(pairs, name, s.ports[name])
	}
	pairs = append(pairs, "/run/secrets/", s.dir+"/secrets/", "/etc/candor/", s.dir+"/candor/", "=/data/", "="+s.dir+"/data/",
		"${CREDENTIALS_DIRECTORY}/node.nk", s.dir+"/secrets/app-0.nk", "/var/lib/app/ledger", s.dir+"/app-ledger", "/usr/bin/candor-cluster", s.program)
	s.replaced = strings.NewReplacer(pairs...)
	for _, name := range []string{"operator", "reader", "gateway-0", "app-0"} {
		public, seed := natscluster.NewUser(t)
		s.keys[strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"_NKEY"] = public
		content, err := os.ReadFile(seed)
		if err != nil {
			t.Fatal(err)
		}
		s.write("secrets/"+name+".nk", string(content))
	}
	s.write("candor/candor.yaml", s.replaced.Replace(read(t, "compose/candor.yaml")))
	return s
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only the number is needed
	return l.Addr().String()
}

func (s *site) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// start runs a program until the test ends.
func (s *site) start(name string, args, env []string) *exec.Cmd {
	s.t.Helper()
	output := &bytes.Buffer{}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), append(env, "XDG_STATE_HOME="+s.dir+"/state")...)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("%s %s:\n%.4000s", filepath.Base(name), strings.Join(args, " "), output)
		}
	})
	return cmd
}

// run runs candor-cluster and returns its exit code and output.
func (s *site) run(args ...string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.dir+"/state")
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// startNATS starts the three servers of the compose file.
func (s *site) startNATS(c compose) {
	s.t.Helper()
	var env []string
	for line := range strings.Lines(read(s.t, "compose/keys.env")) {
		if name, _, found := strings.Cut(strings.TrimSpace(line), "="); found {
			env = append(env, name+"="+s.keys[name])
		}
	}
	if len(env) != len(s.keys) {
		s.t.Fatalf("keys.env has %d keys, want %d", len(env), len(s.keys))
	}
	for _, host := range []string{"nats-1", "nats-2", "nats-3"} {
		config := s.replaced.Replace(read(s.t, "nats/nats.conf"))
		for from, to := range map[string]string{
			"\nport: 4222": "\nlisten: " + s.ports[host+":4222"], "\nhttp_port: 8222": "\nhttp: " + s.ports[host+":8222"],
			"\n  port: 6222": "\n  listen: " + s.ports[host+":6222"], "/data": s.dir + "/" + host,
		} {
			if !strings.Contains(config, from) {
				s.t.Fatalf("nats.conf lacks %q", from)
			}
			config = strings.ReplaceAll(config, from, to)
		}
		path := s.write("etc/"+host+"/nats.conf", config)
		s.write("etc/"+host+"/accounts.conf", read(s.t, "nats/accounts.conf"))
		var args []string
		for _, arg := range c.Services[host].Command {
			args = append(args, strings.ReplaceAll(arg, "/etc/nats/nats.conf", path))
		}
		s.start(natscluster.Executable(s.t), args, env)
	}
}

// moved returns a command with the addresses and files of this machine.
func (s *site) moved(command []string) (args []string) {
	for _, arg := range command {
		args = append(args, s.replaced.Replace(arg))
	}
	return args
}

var startAll = flag.Bool("all", false, "start the servers and commands of the compose file too")

// TestComposeRecordsAFailure starts everything in the compose file, lets a call fail at the gateway, and finds it in the store, which
// verifies. Then it runs the command of the shipper's unit against the same store.
func TestComposeRecordsAFailure(t *testing.T) {
	if !*startAll {
		t.Skip("only with the flag -all: starts three servers and waits for their elections")
	}
	c := readCompose(t)
	s := newSite(t)
	s.startNATS(c)
	setup := s.moved(c.Services["setup"].Command)
	wait.For(s.t, "setup", func() error { // as restart: on-failure does
		code, out := s.run(setup...)
		if code != 0 || !strings.Contains(out, "ack=quorum is possible") {
			return fmt.Errorf("exit code %d: %s", code, out)
		}
		return nil
	})
	gateway := s.start(s.program, s.moved(c.Services["gateway"].Command), []string{"CANDOR_TOKEN=test-token"})
	health := s.moved(c.Services["gateway"].Healthcheck.Test)[2:]
	wait.For(s.t, "health of the gateway", func() error {
		if code, out := s.run(health...); code != 0 {
			return errors.New(out)
		}
		return nil
	})
	s.fail()
	store := s.replaced.Replace("nats://nats-1:4222,nats-2:4222,nats-3:4222/CANDOR")
	reader := store + "?node=READER&nkey=" + s.dir + "/secrets/reader.nk"
	wait.For(s.t, "the failure in the store", func() error { return s.stored(reader, "gateway-0") })

	t.Run("rights", func(t *testing.T) { checkAccounts(t, s, store) })
	t.Run("shipper", func(t *testing.T) {
		if code, out := s.run("wrap", "--ledger", s.dir+"/app-ledger", "--", s.dir+"/no-such-server"); code == 0 {
			t.Fatal(out)
		}
		line := s.moved(execStart(t, "systemd/candor-shipper.service"))
		if code, out := s.run(append(line[1:], "--once")...); code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		if err := s.stored(reader, "app-0"); err != nil {
			t.Error(err)
		}
	})
	if err := gateway.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = gateway.Wait()
	if code, out := s.run("ledger", "verify", reader); code != 0 || !strings.Contains(out, "OK") {
		t.Errorf("verify: exit code %d\n%s", code, out)
	}
}

// fail makes a call that the gateway cannot pass on: nothing listens at the address of the upstream.
func (s *site) fail() {
	s.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy","arguments":{}}}`
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.ports["0.0.0.0:8765"]+"/shop/", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer test-token")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	answer, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(answer), "error") {
		s.t.Fatalf("the gateway answered %s %v", answer, err)
	}
}

// stored returns an error unless the store has a failure of the node.
func (s *site) stored(url, node string) error {
	code, out := s.run("ledger", "stats", url, "--by", "node", "--json")
	if code != 0 || !strings.Contains(out, `"`+node+`"`) {
		return fmt.Errorf("exit code %d: %s", code, out)
	}
	return nil
}

// checkAccounts checks that accounts.conf grants a node what `candor fleet join` prints, and no more.
func checkAccounts(t *testing.T, s *site, store string) {
	t.Helper()
	code, out := s.run("fleet", "join", "gateway-0", store+"?node=operator&nkey="+s.dir+"/secrets/operator.nk")
	if code != 0 {
		t.Fatal(out)
	}
	tidy := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, " #")
			line = regexp.MustCompile(`"PUBLIC-KEY-OF-\w+"|\$\w+_NKEY`).ReplaceAllString(strings.TrimSpace(line), "KEY")
			if line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	have := tidy(read(t, "nats/accounts.conf"))
	for _, line := range tidy(out) {
		if !slices.Contains(have, line) {
			t.Errorf("accounts.conf lacks %s", line)
		}
	}
	want := append(tidy(out), tidy(strings.ReplaceAll(out, "gateway-0", "app-0"))...)
	for _, line := range have {
		if !slices.Contains(want, line) {
			t.Errorf("accounts.conf grants %s, which join does not print", line)
		}
	}
}
