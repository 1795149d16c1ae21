package boundary

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/candor-mcp/candor"
)

const (
	smallBody = 64 << 10 // smaller ones are not counted
	bodyRoom  = 32 << 20 // for all that are; what is made of a body in memory is several times as large
	roomWait  = 5 * time.Second
)

// room is what large bodies have together, from before the first byte is read until the call is over. Who finds none waits for a while,
// unread, and small calls pass by.
type room struct {
	size int64
	free *semaphore.Weighted
	wait time.Duration
}

func newRoom(largest int) room {
	size := max(bodyRoom, int64(largest))
	return room{size: size, free: semaphore.NewWeighted(size), wait: roomWait}
}

// take takes the room that a request needs. The caller gives it back by calling leave, which is never nil.
func (r *room) take(q *http.Request, largest int) (leave func(), no *refusal) {
	need := q.ContentLength
	if need < 0 {
		need = int64(largest) // it does not say, so it may be
	}
	if need <= smallBody || need > int64(largest) { // the latter is refused unread
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(q.Context(), r.wait)
	defer cancel()
	if r.free.Acquire(ctx, need) != nil {
		return func() {}, &refusal{http.StatusServiceUnavailable, candor.New(candor.CodeUnavailable, "Too many large requests are under way.",
			candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(map[string]any{"bytesAtOnce": r.size}))}
	}
	return func() { r.free.Release(need) }, nil
}
