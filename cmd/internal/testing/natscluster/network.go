package natscluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
)

// errPortTaken means that another process took a port between the choice and its use.
var errPortTaken = errors.New("a port is taken")

// host is where a server runs. It listens on port for clients, on the next for the cluster, and on the one after that for monitoring.
type host struct {
	address   string
	port      int
	prefix    []string // of the command, such as ip netns exec NAME
	namespace string   // empty without namespaces
}

// addresses returns a function that chooses hosts for all servers.
func (c *Cluster) addresses(t testing.TB, o Options) func() []host {
	t.Helper()
	switch {
	case o.Host != nil:
		return func() []host {
			hosts := make([]host, o.Servers)
			for i := range hosts {
				hosts[i].address, hosts[i].prefix = o.Host(i)
				hosts[i].port = 4222
			}
			return hosts
		}
	case o.Namespaces:
		c.network = newNetwork(t, o.Servers)
		return func() []host { return c.network.hosts }
	default:
		return func() []host {
			hosts := make([]host, o.Servers)
			for i := range hosts {
				hosts[i] = host{address: "127.0.0.1", port: freePorts(t)}
			}
			return hosts
		}
	}
}

// freePorts returns the first of three free ports. They are below the range from which systems choose ports of outgoing connections, so
// that a server finds its ports free when it is started again.
func freePorts(t testing.TB) int {
	t.Helper()
	for range 1000 {
		first := 20000 + 3*rand.IntN(4000) //nolint:gosec // any free port will do
		if isFree(first) && isFree(first+1) && isFree(first+2) {
			return first
		}
	}
	t.Fatal("found no free ports")
	return 0
}

func isFree(port int) bool {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// network is a bridge with one network namespace per server. The test itself is in the namespace of the bridge, and reaches all servers.
type network struct {
	bridge string
	hosts  []host
}

var networks atomic.Int64

// NamespaceReason says why this process cannot create network namespaces, or is empty if it can.
func NamespaceReason() string {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return "network namespaces need Linux and root"
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return "network namespaces need the program ip (package iproute2)"
	}
	name := fmt.Sprintf("cdr%d-x", os.Getpid())
	if _, err := run("ip", "netns", "add", name); err != nil {
		return "this system does not allow network namespaces"
	}
	_, _ = run("ip", "netns", "del", name)
	return ""
}

func newNetwork(t testing.TB, servers int) *network {
	t.Helper()
	if reason := NamespaceReason(); reason != "" {
		t.Skip(reason)
	}
	removeAbandoned()
	number := int(networks.Add(1))
	prefix := fmt.Sprintf("cdr%d-%d", os.Getpid(), number)
	n := &network{bridge: prefix + "b"}
	// 10.0.0.0/8 has room for many test processes beside each other; a collision makes `ip` or a server fail, and is not silent.
	subnet := fmt.Sprintf("10.%d.%d", 64+os.Getpid()%128, (os.Getpid()/128+number*16)%256)
	t.Cleanup(n.remove)
	commands := [][]string{
		{"link", "add", n.bridge, "type", "bridge"},
		{"addr", "add", subnet + ".254/24", "dev", n.bridge},
		{"link", "set", n.bridge, "up"},
	}
	for i := range servers {
		name := fmt.Sprintf("%s-%d", prefix, i+1)
		outside := name + "v"
		at := host{address: fmt.Sprintf("%s.%d", subnet, i+1), port: 4222, namespace: name, prefix: []string{"ip", "netns", "exec", name}}
		n.hosts = append(n.hosts, at)
		commands = append(commands,
			[]string{"netns", "add", name},
			[]string{"link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name},
			[]string{"link", "set", outside, "master", n.bridge, "up"},
			[]string{"-n", name, "addr", "add", at.address + "/24", "dev", "eth0"},
			[]string{"-n", name, "link", "set", "eth0", "up"},
			[]string{"-n", name, "link", "set", "lo", "up"})
	}
	for _, words := range commands {
		if _, err := run("ip", words...); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// block makes the sender drop its packets.
func (n *network) block(from, to host) (restore func() error, err error) {
	if _, err := run("ip", "-n", from.namespace, "route", "add", "blackhole", to.address+"/32"); err != nil {
		return nil, err
	}
	return func() error {
		_, err := run("ip", "-n", from.namespace, "route", "del", "blackhole", to.address+"/32")
		return err
	}, nil
}

// remove removes the namespaces, with them their half of each cable, and the bridge.
func (n *network) remove() {
	for _, at := range n.hosts {
		_, _ = run("ip", "netns", "del", at.namespace)
	}
	_, _ = run("ip", "link", "del", n.bridge)
}

var ownName = regexp.MustCompile(`\bcdr([0-9]+)-[0-9x]+(b|-[0-9]+)?\b`)

// removeAbandoned removes namespaces and bridges of test processes that were killed.
func removeAbandoned() {
	for _, list := range [][]string{{"netns", "list"}, {"-o", "link", "show", "type", "bridge"}} {
		out, err := run("ip", list...)
		if err != nil {
			continue
		}
		for _, match := range ownName.FindAllStringSubmatch(out, -1) {
			if _, err := os.Stat("/proc/" + match[1]); err == nil {
				continue
			}
			if list[0] == "netns" {
				_, _ = run("ip", "netns", "del", match[0])
			} else {
				_, _ = run("ip", "link", "del", match[0])
			}
		}
	}
}
