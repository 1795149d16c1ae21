package natsshare

import (
	"slices"
	"sync"
)

// queue has the values that wait to be sent: at most one for each key, and at most maxQueued.
type queue struct {
	wake chan struct{} // has one element if there may be values

	mu     sync.Mutex
	keys   []string          // guarded by mu; the oldest first
	values map[string][]byte // guarded by mu
}

// put adds a value, and returns how many others were dropped for it. A value that waits under the same key is replaced.
func (q *queue) put(key string, value []byte) (dropped uint64) {
	q.mu.Lock()
	if q.values == nil {
		q.values = map[string][]byte{}
	}
	if _, waits := q.values[key]; waits {
		dropped++
	} else {
		q.keys = append(q.keys, key)
	}
	q.values[key] = value
	if len(q.keys) > maxQueued {
		delete(q.values, q.keys[0])
		q.keys = q.keys[1:]
		dropped++
	}
	q.mu.Unlock()
	q.signal()
	return dropped
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes the oldest value.
func (q *queue) take() (key string, value []byte, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.keys) == 0 {
		return "", nil, false
	}
	key, q.keys = q.keys[0], slices.Clone(q.keys[1:])
	value = q.values[key]
	delete(q.values, key)
	return key, value, true
}
