package bridge

import (
	"sync"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// queuedMessage is a message from the server that waits for a client.
type queuedMessage struct {
	bytes []byte
	asks  wire.ID   // id of a request from the server; nil for other messages
	since time.Time // when it was queued
	last  bool      // it is the answer to the call, and the last message
}

// messageQueue holds messages from the server until the client's connection reads them. It is bounded: when it is full, the
// oldest notification is dropped, then the oldest request, but never an answer.
type messageQueue struct {
	most  int
	ready chan struct{} // holds a value if there may be messages

	mu       sync.Mutex // guards the fields below
	messages []*queuedMessage
	size     int
	closed   bool
}

// maxQueueBytes bounds the bytes of a queue. A single message may be larger.
const maxQueueBytes = 1 << 20

func newMessageQueue(most int) *messageQueue {
	return &messageQueue{most: most, ready: make(chan struct{}, 1)}
}

// put adds a message, and returns the messages that were dropped to make space.
func (b *messageQueue) put(l *queuedMessage) (dropped []*queuedMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return []*queuedMessage{l}
	}
	l.since = time.Now()
	b.messages = append(b.messages, l)
	b.size += len(l.bytes)
	for !l.last && len(b.messages) > 1 && (len(b.messages) > b.most || b.size > maxQueueBytes) {
		dropped = append(dropped, b.drop(b.oldest()))
	}
	b.wake()
	return dropped
}

// oldest returns the index of the message to drop. The lock must be held.
func (b *messageQueue) oldest() int {
	for i, l := range b.messages {
		if l.asks == nil && !l.last {
			return i
		}
	}
	return 0
}

func (b *messageQueue) drop(i int) *queuedMessage {
	l := b.messages[i]
	b.messages = append(b.messages[:i], b.messages[i+1:]...)
	b.size -= len(l.bytes)
	return l
}

func (b *messageQueue) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take returns all messages, and whether more can follow.
func (b *messageQueue) take() (messages []*queuedMessage, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages, b.messages, b.size = b.messages, nil, 0
	return messages, !b.closed
}

// expired removes the requests that were queued before then, and reports whether newer ones are left.
func (b *messageQueue) expired(then time.Time) (old []*queuedMessage, left bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := 0; i < len(b.messages); {
		switch l := b.messages[i]; {
		case l.asks == nil:
			i++
		case l.since.After(then):
			left = true
			i++
		default:
			old = append(old, b.drop(i))
		}
	}
	return old, left
}

// close refuses further messages. Those in the queue can still be taken.
func (b *messageQueue) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wake()
}
