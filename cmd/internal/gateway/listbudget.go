package gateway

import (
	"container/list"
	"crypto/sha256"
	"sync"

	"github.com/candor-mcp/candor/wire"
)

// listBudget bounds the bytes of all tool lists in the process. When it is used up, the least recently used lists are dropped:
// calls of their callers are then forwarded unchecked until the next list. A list that several callers share counts once.
type listBudget struct {
	most int

	mu    sync.Mutex                      // guards the fields below, and the fields of toolSet that say so
	used  int                             // bytes
	lists map[[sha256.Size]byte]*toolList // complete lists
	sets  list.List                       // of *toolSet, newest first
}

// toolLists is shared by all upstreams and connections.
var toolLists = newListBudget(maxListBytes)

// maxListBytes is enough for two lists of the maximum size, or for hundreds of typical ones.
const maxListBytes = 32 << 20

// setOverhead is the memory of a set without its lists and its session id.
const setOverhead = 512

func newListBudget(most int) *listBudget {
	return &listBudget{most: most, lists: map[[sha256.Size]byte]*toolList{}}
}

// learn adds a page of a list. The list is used when its last page has arrived. A page that does not follow the previous one is
// ignored: clients may list concurrently or request a page twice, and with an incomplete list, calls of existing tools would be
// refused.
func (b *listBudget) learn(s *toolSet, result wire.Value, cursor string) {
	page, ok := result.Get("tools")
	if !ok || page.Type() != wire.TypeArray {
		return
	}
	next, more, ok := NextCursor(result)
	if !ok || len(page.Raw()) > maxToolBytes || page.Len() > maxTools {
		b.abandon(s)
		return
	}
	digest := sha256.Sum256(page.Raw())
	if cursor == "" && !more && b.share(s, digest) {
		return
	}
	read := readTools(page, digest) // outside the lock
	b.mu.Lock()
	defer b.mu.Unlock()
	switch kept := b.append(s, read, cursor, len(page.Raw())); {
	case kept && more:
		s.next = next
	case kept:
		b.complete(s)
	}
}

// NextCursor returns the cursor of the next page, and whether there is a next page. A cursor that is empty, null or missing marks
// the last page. Ok is false if the cursor is not a string.
func NextCursor(result wire.Value) (next string, more, ok bool) {
	said := result.Path("nextCursor")
	if !said.Present() || said.IsNull() {
		return "", false, true
	}
	next, ok = said.Str()
	return next, next != "", ok
}

// share gives a set the complete list with that digest, if another caller has listed it before.
func (b *listBudget) share(s *toolSet, digest [sha256.Size]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lists[digest]
	if l == nil {
		return false
	}
	b.clearPartial(s)
	b.enter(s)
	b.hold(s, l)
	return b.fit(s)
}

// append adds a page to the pages of a set, and reports whether it was kept.
func (b *listBudget) append(s *toolSet, page *toolList, cursor string, written int) bool {
	switch {
	case cursor == "":
		b.clearPartial(s)
	case s.partial == nil || cursor != s.next:
		return false
	}
	b.enter(s)
	before := 0
	if s.partial == nil {
		s.partial = page
	} else {
		before = s.partial.bytes
		s.partial = s.partial.joined(page)
	}
	b.used += s.partial.bytes - before
	if s.written += written; s.written > maxToolBytes || len(s.partial.tools) > maxTools {
		b.clearPartial(s)
		return false
	}
	return b.fit(s)
}

// complete turns the pages of a set into its list, or uses an equal list that is already known.
func (b *listBudget) complete(s *toolSet) {
	l := s.partial
	if same := b.lists[l.digest]; same != nil {
		b.clearPartial(s)
		b.hold(s, same)
		return
	}
	s.partial, s.written = nil, 0 // its bytes now count for the list
	b.lists[l.digest] = l
	b.hold(s, l)
}

// hold makes l the list of a set.
func (b *listBudget) hold(s *toolSet, l *toolList) {
	l.holders++
	b.release(s.list.Swap(l))
	s.used.Store(true)
}

// release drops a reference to a list.
func (b *listBudget) release(l *toolList) {
	if l == nil {
		return
	}
	if l.holders--; l.holders == 0 {
		delete(b.lists, l.digest)
		b.used -= l.bytes
	}
}

func (b *listBudget) clearPartial(s *toolSet) {
	if s.partial != nil {
		b.used -= s.partial.bytes
	}
	s.partial, s.next, s.written = nil, "", 0
}

// abandon drops the pages of a list that cannot be kept.
func (b *listBudget) abandon(s *toolSet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clearPartial(s)
}

// enter adds a set to the budget.
func (b *listBudget) enter(s *toolSet) {
	if s.element == nil {
		s.element = b.sets.PushFront(s)
		b.used += setOverhead + len(s.who.Session)
	}
}

// fit drops other sets until the budget is met. It drops s and returns false if that is not enough.
func (b *listBudget) fit(s *toolSet) bool {
	for b.used > b.most {
		last := b.sets.Back()
		other := last.Value.(*toolSet) //nolint:errcheck,forcetypeassert // the list holds only sets
		switch {
		case b.sets.Len() == 1:
			b.dropSet(s)
			return false
		case other == s, other.used.Swap(false):
			b.sets.MoveToFront(last)
		default:
			b.dropSet(other)
		}
	}
	return true
}

// dropSet removes the lists of one caller.
func (b *listBudget) dropSet(s *toolSet) {
	b.clearPartial(s)
	b.release(s.list.Swap(nil))
	if s.element != nil {
		b.sets.Remove(s.element)
		s.element = nil
		b.used -= setOverhead + len(s.who.Session)
	}
	s.cache.remove(s)
}

// drop removes sets that their cache has already removed.
func (b *listBudget) drop(sets map[Caller]*toolSet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range sets {
		b.dropSet(s)
	}
}
