package schema

import (
	"container/list"
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
)

// Bounds of a [Cache]. A server has tens of tools, a gateway hundreds; a compiled schema of a tool takes some tens of kilobytes.
const (
	maxCached      = 8192
	maxCachedBytes = 32 << 20 // of all compiled schemas together, by their weight
	maxWeight      = maxCachedBytes / 4
	errorWeight    = 1 << 10 // of a schema that cannot be used
)

var errTooHeavy = errors.New("the compiled schema is too large to keep")

// Cache compiles each schema text once. The zero Cache is ready and safe for concurrent use. It is bounded in number and in bytes; the
// least recently used schema is dropped first.
type Cache struct {
	mu     sync.Mutex
	byKey  map[[sha256.Size]byte]*list.Element // guarded by mu; values are *Entry
	order  list.List                           // guarded by mu; newest in front
	weight int                                 // guarded by mu; of all entries
}

// Entry is a schema in a [Cache]. After the cache has dropped the schema, [Entry.Schema] reports so; an entry does not keep its memory alive.
type Entry struct {
	key     [sha256.Size]byte
	once    sync.Once
	outcome atomic.Pointer[outcome] // nil before the schema is compiled, and after it was dropped
	used    atomic.Bool             // since the cache last looked for an entry to drop
	weight  int                     // guarded by the cache's mu
}

type outcome struct {
	schema *Schema
	err    error
}

// Schema returns the compiled schema, nil if it cannot be used. It is not ok if the cache has dropped the schema.
func (e *Entry) Schema() (s *Schema, ok bool) {
	got := e.outcome.Load()
	if got == nil {
		return nil, false
	}
	if !e.used.Load() {
		e.used.Store(true)
	}
	return got.schema, true
}

// Get returns the schema compiled from raw as [Compile] does, or the error of that, which is kept too: a schema that cannot be
// compiled costs once. raw is not kept.
func (c *Cache) Get(raw []byte) (*Schema, error) {
	_, got := c.compiled(raw)
	return got.schema, got.err
}

// Entry is [Cache.Get] for a caller that must not keep a schema which the cache has dropped.
func (c *Cache) Entry(raw []byte) *Entry {
	e, _ := c.compiled(raw)
	return e
}

func (c *Cache) compiled(raw []byte) (*Entry, *outcome) {
	e := c.entryOf(sha256.Sum256(raw))
	var got *outcome
	e.once.Do(func() {
		got = compileBounded(raw)
		c.keep(e, got)
	})
	if got == nil {
		got = e.outcome.Load()
	}
	if got == nil { // dropped in the meantime
		got = compileBounded(raw)
	}
	return e, got
}

// compileBounded compiles a schema unless it would fill much of the cache.
func compileBounded(raw []byte) *outcome {
	s, err := Compile(raw)
	if err == nil && s.weight > maxWeight {
		s, err = nil, errTooHeavy
	}
	return &outcome{schema: s, err: err}
}

// entryOf returns the entry of a key, creating it if needed.
func (c *Cache) entryOf(key [sha256.Size]byte) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		found := e.Value.(*Entry) //nolint:errcheck,forcetypeassert // the list holds nothing else
		found.used.Store(true)
		return found
	}
	if c.byKey == nil {
		c.byKey = map[[sha256.Size]byte]*list.Element{}
	}
	e := &Entry{key: key}
	c.byKey[key] = c.order.PushFront(e)
	return e
}

// keep enters what was compiled, and drops other entries until the bounds hold.
func (c *Cache) keep(e *Entry, got *outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byKey[e.key]
	if at == nil || at.Value != e { // dropped while it was compiled
		return
	}
	e.weight = errorWeight
	if got.schema != nil {
		e.weight = got.schema.weight
	}
	c.weight += e.weight
	e.outcome.Store(got)
	for c.weight > maxCachedBytes || c.order.Len() > maxCached {
		c.dropOne(at)
	}
}

// dropOne drops the oldest entry that was not used since the last look; kept stays. It is called with the lock held.
func (c *Cache) dropOne(kept *list.Element) {
	for {
		last := c.order.Back()
		e := last.Value.(*Entry) //nolint:errcheck,forcetypeassert // the list holds nothing else
		if last == kept || e.used.Swap(false) {
			c.order.MoveToFront(last)
			continue
		}
		c.order.Remove(last)
		delete(c.byKey, e.key)
		c.weight -= e.weight
		e.outcome.Store(nil)
		return
	}
}
