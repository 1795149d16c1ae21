package stdio

// lateIDs remembers the calls that were given up while an answer may still come. It forgets the oldest when it is full.
type lateIDs struct {
	limit int
	has   map[string]struct{}
	order []string // oldest first, from next on
	next  int
}

func newLateIDs(limit int) *lateIDs { return &lateIDs{limit: limit, has: map[string]struct{}{}} }

func (l *lateIDs) add(key string) {
	if _, ok := l.has[key]; ok {
		return
	}
	if len(l.order) < l.limit {
		l.order = append(l.order, key)
	} else {
		delete(l.has, l.order[l.next])
		l.order[l.next] = key
		l.next = (l.next + 1) % l.limit
	}
	l.has[key] = struct{}{}
}

// arrived reports whether the answer to a call that was given up has come now. It comes once.
func (l *lateIDs) arrived(key string) bool {
	_, ok := l.has[key]
	delete(l.has, key)
	return ok
}

func (l *lateIDs) awaits(key string) bool {
	_, ok := l.has[key]
	return ok
}
