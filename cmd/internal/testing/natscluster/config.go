package natscluster

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// configure writes the files of all servers.
func (c *Cluster) configure(o Options, dir string) error {
	operator, err := newSeed(filepath.Join(dir, "operator.nk"))
	if err != nil {
		return err
	}
	system, err := newSeed(filepath.Join(dir, "system.nk"))
	if err != nil {
		return err
	}
	c.OperatorSeed = filepath.Join(dir, "operator.nk")
	certificates := ""
	if o.TLS {
		if certificates, err = c.makeCertificates(dir); err != nil {
			return err
		}
	}
	accounts := accountsText(operator, system, o.Auth)
	if o.Accounts != nil {
		accounts = withSystem(o.Accounts(operator), system, "")
	}
	for _, server := range c.Servers {
		text := server.configText(c.Servers, o.Lazy) + certificates + accounts
		if err := writeFile(server.config(), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// NewUser creates an nkey, writes its seed to a new file with mode 0600, and returns the public key for the configuration of the server.
func NewUser(t testing.TB) (publicKey, seedFile string) {
	t.Helper()
	seedFile = filepath.Join(t.TempDir(), "user.nk")
	publicKey, err := newSeed(seedFile)
	if err != nil {
		t.Fatal(err)
	}
	return publicKey, seedFile
}

func newSeed(path string) (publicKey string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", err
	}
	if publicKey, err = pair.PublicKey(); err != nil {
		return "", err
	}
	return publicKey, writeFile(path, seed)
}

func (s *Server) configText(all []*Server, lazy bool) string {
	sync := "always"
	if lazy {
		sync = "2m"
	}
	text := fmt.Sprintf(`server_name: %s
listen: %q
http: "%s:%d"
jetstream { store_dir: %q, sync_interval: %s, max_memory_store: 64MB, max_file_store: 4GB }
`, s.Name, s.ClientAddress(), s.host.address, s.host.port+2, filepath.Join(s.Dir, "store"), sync)
	if len(all) == 1 {
		return text
	}
	var routes []string
	for _, other := range all {
		routes = append(routes, fmt.Sprintf("%q", "nats://"+other.routeAddress()))
	}
	return text + fmt.Sprintf("cluster { name: test, listen: %q, routes: [%s] }\n", s.routeAddress(), strings.Join(routes, ", "))
}

// accountsText returns an account with JetStream and the system account. The password of the user without credentials protects nothing:
// the server accepts clients that have none.
func accountsText(operator, system string, auth bool) string {
	users, open := fmt.Sprintf("{ nkey: %s }", operator), ""
	if !auth {
		users += "\n{ user: open, password: open }"
		open = "no_auth_user: open\n"
	}
	return withSystem("CANDOR { jetstream: enabled, users: [\n"+users+"\n] }", system, open)
}

// withSystem adds the system account.
func withSystem(accounts, system, more string) string {
	return fmt.Sprintf("accounts {\n%s\nSYSTEM { users: [ { nkey: %s } ] }\n}\nsystem_account: SYSTEM\n%s", accounts, system, more)
}

// Accounts joins the texts that an engine prints for nodes, for [Options.Accounts]. It has the account of the stream once, with an
// operator and a reader, and the account of each node; keys are the public keys of the nodes.
func Accounts(grant func(node string) string, operator, reader string, keys map[string]string) string {
	const first, second = "accounts {\n", "  # The account of node "
	text := ""
	for node, key := range keys {
		_, body, _ := strings.Cut(grant(node), first)
		ledger, own, _ := strings.Cut(body, second)
		own, _, _ = strings.Cut(own, "\n}\n")
		if text == "" {
			text = ledger
		}
		text += second + strings.ReplaceAll(own, "PUBLIC-KEY-OF-NODE", key) + "\n"
	}
	return strings.NewReplacer("PUBLIC-KEY-OF-OPERATOR", operator, "PUBLIC-KEY-OF-READER", reader, "_INBOX_READER", "_INBOX_reader").Replace(text)
}
