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

// room limits the bytes of requests that are held at the same time: of large bodies over HTTP, where small calls pass by, and of all
// requests on a stream. A request that gets no space within the wait is refused with UNAVAILABLE.
type room struct {
	size int64
	free *semaphore.Weighted
	wait time.Duration
}

func newRoom(largest int) room {
	size := max(bodyRoom, int64(largest))
	return room{size: size, free: semaphore.NewWeighted(size), wait: roomWait}
}

// place is the share of one request. The zero place holds nothing.
type place struct {
	r    *room
	size int64
}

// take reserves size bytes, or returns the refusal to send if none become free in time.
func (r *room) take(ctx context.Context, size int64) (place, *refusal) {
	if r.free.TryAcquire(size) {
		return place{r, size}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	if r.free.Acquire(ctx, size) != nil {
		return place{}, &refusal{http.StatusServiceUnavailable, candor.New(candor.CodeUnavailable, "Too many large requests are under way.",
			candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(map[string]any{"bytesAtOnce": r.size}))}
	}
	return place{r, size}, nil
}

// shrink gives back all but need bytes.
func (p *place) shrink(need int64) {
	if need < p.size {
		p.r.free.Release(p.size - need)
		p.size = need
	}
}
