package schema

import (
	"crypto/sha256"
	"errors"
	"sync"
	"weak"
)

// Bounds of a [Cache]. A server has tens of tools, a gateway hundreds; a compiled schema of a tool takes some tens of kilobytes.
const (
	maxCached      = 8192
	maxCachedBytes = 32 << 20 // of all compiled schemas together, by their weight
	maxWeight      = maxCachedBytes / 4
	errorWeight    = 1 << 10 // of a schema that cannot be used
)

var errTooHeavy = errors.New("the compiled schema is too large to keep")

// Cache compiles each schema text once. The zero Cache is ready and safe for concurrent use. It is bounded in number and in bytes;
// a full cache is emptied.
type Cache struct {
	mu     sync.Mutex
	byKey  map[[sha256.Size]byte]*slot // guarded by mu
	weight int                         // guarded by mu; of all slots
}

type slot struct {
	once   sync.Once
	schema *Schema
	err    error
}

// Get returns the schema compiled from raw, or the error of [Compile]. Errors are cached too. raw is not kept.
func (c *Cache) Get(raw []byte) (*Schema, error) {
	key := sha256.Sum256(raw)
	c.mu.Lock()
	s := c.byKey[key]
	if s == nil {
		if s = new(slot); c.byKey == nil {
			c.byKey = map[[sha256.Size]byte]*slot{}
		}
		c.byKey[key] = s
	}
	c.mu.Unlock()
	s.once.Do(func() {
		weight := errorWeight
		if s.schema, s.err = Compile(raw); s.err == nil {
			weight = s.schema.weight
		}
		if weight > maxWeight {
			s.schema, s.err, weight = nil, errTooHeavy, errorWeight
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.weight += weight; c.weight > maxCachedBytes || len(c.byKey) > maxCached {
			c.byKey, c.weight = map[[sha256.Size]byte]*slot{key: s}, weight
		}
	})
	return s.schema, s.err
}

// Entry is a schema in a [Cache]. It does not keep a schema in memory that the cache has dropped.
type Entry struct {
	schema   weak.Pointer[Schema]
	unusable bool
}

// Entry is [Cache.Get] for a caller that must not keep a schema which the cache has dropped.
func (c *Cache) Entry(raw []byte) *Entry {
	s, err := c.Get(raw)
	return &Entry{weak.Make(s), err != nil}
}

// Schema returns the compiled schema, nil if it cannot be used. It is not ok if the schema was dropped.
func (e *Entry) Schema() (s *Schema, ok bool) {
	s = e.schema.Value()
	return s, e.unusable || s != nil
}
