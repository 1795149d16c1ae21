package share

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// A configuration cannot define codes: the catalogue is part of the program. Nodes of a fleet differ in it while a new version is rolled
// out. Each node publishes which catalogue it has and which codes of servers it does not know, and a node that knows such a code publishes
// its definition, for people to read.

// NodeStatus is what another node has said about itself. The member names are part of the format of /status.
type NodeStatus struct {
	Node      string    `json:"node"`
	Seen      time.Time `json:"seen"`
	Version   string    `json:"version"`
	Catalogue string    `json:"catalogue"` // digest
	Same      bool      `json:"same"`      // its catalogue is that of this node
	Unknown   []string  `json:"unknown,omitempty"`
}

// CodeDefinition is a code that a server sent and this program does not know, as another node has explained it. Nothing of it was checked,
// except that the texts are short and printable.
type CodeDefinition struct {
	Code   string `json:"code"`
	Node   string `json:"node,omitempty"` // "" if no node has explained it
	Class  string `json:"class,omitempty"`
	Says   string `json:"says,omitempty"`
	Action string `json:"action,omitempty"`
	Since  string `json:"since,omitempty"`
}

// catalogueValue is the value of the key catalogue.
type catalogueValue struct {
	Version   string   `json:"version"`
	Catalogue string   `json:"catalogue"`
	Unknown   []string `json:"unknown,omitempty"`
}

const (
	maxUnknown  = 32  // codes of servers that are remembered
	maxSentence = 500 // bytes of a text in a definition
	maxVersion  = 64
)

// catalogueDigest identifies the codes that this program knows.
var catalogueDigest = sync.OnceValue(func() string {
	h := sha256.New()
	for c := range candor.Codes() {
		fmt.Fprintf(h, "%s %d %s %s\n", c, c.Number(), c.Class(), c.Status())
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
})

var symbolForm = lazyregexp.New(`^[A-Z][A-Z0-9_]{0,63}$`)

// SawUnknownCode notes a code of a server that this program does not know.
func (u *Upstream) SawUnknownCode(symbol string) {
	if u != nil {
		u.g.sawUnknownCode(symbol)
	}
}

func (g *Group) sawUnknownCode(symbol string) {
	if !symbolForm.Get().MatchString(symbol) || isRegistered(symbol) {
		return
	}
	g.mu.Lock()
	if g.unknown[symbol] != nil || len(g.unknown) >= maxUnknown {
		g.mu.Unlock()
		return
	}
	g.unknown[symbol] = &CodeDefinition{Code: symbol}
	g.mu.Unlock()
	g.publishCatalogue()
}

func isRegistered(symbol string) bool {
	_, ok := candor.LookupSymbol(symbol)
	return ok
}

func (g *Group) publishCatalogue() {
	g.mu.Lock()
	unknown := slices.Sorted(maps.Keys(g.unknown))
	g.mu.Unlock()
	g.publish(keyCatalogue, catalogueValue{Version: clip(g.o.Version, maxVersion), Catalogue: catalogueDigest(), Unknown: unknown})
}

func (g *Group) receiveCatalogue(v Value) bool {
	var c catalogueValue
	if json.Unmarshal(v.Data, &c) != nil || len(c.Unknown) > maxUnknown {
		return false
	}
	for _, symbol := range c.Unknown {
		if !symbolForm.Get().MatchString(symbol) {
			return false
		}
	}
	g.mu.Lock()
	if g.nodes[v.Node] == nil && len(g.nodes) >= maxNodes {
		g.mu.Unlock()
		return false
	}
	now := g.o.Now()
	g.nodes[v.Node] = &NodeStatus{
		Node: v.Node, Seen: now.Add(-v.Age).UTC(), Version: clip(c.Version, maxVersion), Catalogue: clip(c.Catalogue, maxVersion),
		Same: c.Catalogue == catalogueDigest(), Unknown: c.Unknown,
	}
	explain := g.toExplain(c.Unknown, now)
	g.mu.Unlock()
	for _, code := range explain {
		g.publish(keyCode+code.Symbol(), CodeDefinition{
			Code: code.Symbol(), Class: string(code.Class()), Says: code.Sentence(), Action: code.Action(), Since: code.Since(),
		})
	}
	return true
}

// toExplain returns the codes that this program knows and no node has explained lately. The lock must be held.
func (g *Group) toExplain(symbols []string, now time.Time) []candor.Code {
	var known []candor.Code
	for _, symbol := range symbols {
		code, ok := candor.LookupSymbol(symbol)
		if ok && code.Symbol() == symbol && g.defined[symbol].IsZero() {
			g.defined[symbol] = now
			known = append(known, code)
		}
	}
	return known
}

// receiveCode keeps the definition of a code that this node has asked for.
func (g *Group) receiveCode(v Value, symbol string) bool {
	var d CodeDefinition
	if json.Unmarshal(v.Data, &d) != nil || d.Code != symbol || !symbolForm.Get().MatchString(symbol) || !candor.Class(d.Class).Valid() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if isRegistered(symbol) {
		g.defined[symbol] = g.o.Now() // bounded by the number of registered codes
		return true
	}
	if g.unknown[symbol] == nil {
		return true
	}
	g.unknown[symbol] = &CodeDefinition{
		Code: symbol, Node: v.Node, Class: d.Class, Says: clip(d.Says, maxSentence), Action: clip(d.Action, maxSentence), Since: clip(d.Since, maxVersion),
	}
	return true
}

// clip returns a text of another node without control characters, and not longer than limit.
func clip(text string, limit int) string { return candor.Public(text, limit) }

// Status describes a group. The member names are part of the format of /status.
type Status struct {
	BusStatus
	Ignored uint64           `json:"ignored"` // values of other nodes that were invalid or exceeded a limit
	Reports int              `json:"reports"` // about calls that keep failing, by this and other nodes
	Nodes   []NodeStatus     `json:"nodes"`
	Codes   []CodeDefinition `json:"codes,omitempty"`
}

// Status returns what is known about the other nodes.
func (g *Group) Status() Status {
	bus := g.o.Bus.Status()
	g.expire()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Status{BusStatus: bus, Ignored: g.ignored, Reports: g.reports, Nodes: []NodeStatus{}}
	for _, n := range g.nodes {
		s.Nodes = append(s.Nodes, *n)
	}
	for _, d := range g.unknown {
		s.Codes = append(s.Codes, *d)
	}
	slices.SortFunc(s.Nodes, func(a, b NodeStatus) int { return cmp.Compare(a.Node, b.Node) })
	slices.SortFunc(s.Codes, func(a, b CodeDefinition) int { return cmp.Compare(a.Code, b.Code) })
	return s
}
