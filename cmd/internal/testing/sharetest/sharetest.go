// Package sharetest connects groups of gateways within one process.
package sharetest

import (
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// Network connects the nodes of one test. The zero value is ready to use.
type Network struct {
	mu    sync.Mutex
	nodes map[string]func(share.Value) // guarded by mu
}

// Send publishes a value as a node that may not exist. It returns when all other nodes have it.
func (n *Network) Send(node, key string, data []byte, age time.Duration) {
	n.mu.Lock()
	var listeners []func(share.Value)
	for name, listen := range n.nodes {
		if name != node {
			listeners = append(listeners, listen)
		}
	}
	n.mu.Unlock()
	for _, listen := range listeners {
		listen(share.Value{Node: node, Key: key, Data: data, Age: age})
	}
}

// Bus returns the bus of a node. Values that it publishes are held back until [Bus.Flush].
func (n *Network) Bus(node string) *Bus { return &Bus{network: n, node: node} }

// Bus is the bus of one node.
type Bus struct {
	network *Network
	node    string

	mu    sync.Mutex
	queue []share.Value // guarded by mu
}

// Publish implements [share.Bus].
func (b *Bus) Publish(key string, value []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, share.Value{Node: b.node, Key: key, Data: value})
}

// Flush delivers what was published, in order.
func (b *Bus) Flush() []share.Value {
	b.mu.Lock()
	sent := b.queue
	b.queue = nil
	b.mu.Unlock()
	for _, v := range sent {
		b.network.Send(v.Node, v.Key, v.Data, v.Age)
	}
	return sent
}

// Listen implements [share.Bus].
func (b *Bus) Listen(f func(share.Value), _ func()) {
	b.network.mu.Lock()
	defer b.network.mu.Unlock()
	if b.network.nodes == nil {
		b.network.nodes = map[string]func(share.Value){}
	}
	b.network.nodes[b.node] = f
}

// Status implements [share.Bus].
func (b *Bus) Status() share.BusStatus { return share.BusStatus{Connected: true} }

// Close implements [share.Bus].
func (b *Bus) Close() error { return nil }
