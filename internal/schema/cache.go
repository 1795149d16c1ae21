package schema

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// maxCached bounds a [Cache]. A server has tens of tools, a gateway hundreds.
const maxCached = 1024

// Cache compiles each schema text once. The zero Cache is ready and safe for concurrent use. It holds up to 1024 schemas;
// the one not asked for the longest makes room.
type Cache struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]*list.Element // guarded by mu; values are *cached
	order list.List                           // guarded by mu; last asked for in front
}

// cached is one place of a cache. once makes whoever comes second wait for whoever came first.
type cached struct {
	key    [sha256.Size]byte
	once   sync.Once
	schema *Schema
	err    error
}

// Get returns the schema compiled from raw as [Compile] does, or the error of that, which is kept too: a schema that cannot be
// compiled costs once. raw is not kept.
func (c *Cache) Get(raw []byte) (*Schema, error) {
	at := c.place(sha256.Sum256(raw))
	at.once.Do(func() { at.schema, at.err = Compile(raw) })
	return at.schema, at.err
}

// place finds the place of a key or makes one.
func (c *Cache) place(key [sha256.Size]byte) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*cached) //nolint:errcheck,forcetypeassert // the list holds nothing else
	}
	if c.byKey == nil {
		c.byKey = map[[sha256.Size]byte]*list.Element{}
	}
	if c.order.Len() >= maxCached {
		last := c.order.Remove(c.order.Back()).(*cached) //nolint:errcheck,forcetypeassert // as above
		delete(c.byKey, last.key)
	}
	at := &cached{key: key}
	c.byKey[key] = c.order.PushFront(at)
	return at
}
