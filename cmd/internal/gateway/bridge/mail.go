package bridge

import (
	"sync"
	"time"

	"github.com/candor-mcp/candor/wire"
)

// letter is a message of the server on its way to a client.
type letter struct {
	bytes []byte
	asks  wire.ID   // of a question that the server waits for an answer to; nil of others
	since time.Time // when it came here
	last  bool      // it is the answer to the call, and nothing follows
}

// mailbox holds what the server has said until the client's connection takes it. It is bounded, so that neither side can make it
// grow by not reading: the oldest letter goes, of the news if there are any, but never an answer.
type mailbox struct {
	most  int
	ready chan struct{} // holds something if there may be letters

	mu      sync.Mutex // guards all below
	letters []*letter
	size    int
	closed  bool
}

// maxMail bounds the bytes of a mailbox. One letter may be larger.
const maxMail = 1 << 20

func newMailbox(most int) *mailbox { return &mailbox{most: most, ready: make(chan struct{}, 1)} }

// put takes a letter in, and returns those that had to go for it.
func (b *mailbox) put(l *letter) (dropped []*letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return []*letter{l}
	}
	l.since = time.Now()
	b.letters = append(b.letters, l)
	b.size += len(l.bytes)
	for !l.last && len(b.letters) > 1 && (len(b.letters) > b.most || b.size > maxMail) {
		dropped = append(dropped, b.drop(b.oldest()))
	}
	b.wake()
	return dropped
}

// oldest returns the place of the letter that is missed least. The lock is held.
func (b *mailbox) oldest() int {
	for i, l := range b.letters {
		if l.asks == nil && !l.last {
			return i
		}
	}
	return 0
}

func (b *mailbox) drop(i int) *letter {
	l := b.letters[i]
	b.letters = append(b.letters[:i], b.letters[i+1:]...)
	b.size -= len(l.bytes)
	return l
}

func (b *mailbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// add returns all letters, and whether more can come.
func (b *mailbox) take() (letters []*letter, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	letters, b.letters, b.size = b.letters, nil, 0
	return letters, !b.closed
}

// unheard takes out the questions that came before then, and reports whether younger ones are left.
func (b *mailbox) unheard(then time.Time) (old []*letter, left bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := 0; i < len(b.letters); {
		switch l := b.letters[i]; {
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

// close lets nothing in any more. What is there can still be taken.
func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wake()
}
