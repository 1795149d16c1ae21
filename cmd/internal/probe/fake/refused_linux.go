package fake

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lookEvery is how often refusals are read, so that the kernel need not drop any. When a fault ends they are read as well.
const lookEvery = 20 * time.Millisecond

// refusals counts connections to where nobody listens. Nobody can count them by listening, so it looks at the answers of the kernel:
// a reset with sequence number zero is what a refused connection gets (RFC 9293, section 3.5.2), and nothing else does.
type refusals struct {
	saw func(event string)

	mu    sync.Mutex
	views []view          // guarded by mu
	told  map[[2]byte]int // by port, what was told; guarded by mu
	piece [64]byte        // guarded by mu
}

// view is a copy of all TCP over IPv4 or IPv6.
type view struct {
	fd     int
	skip   bool            // the header of IPv4 comes first
	counts map[[2]byte]int // by port
}

func watchRefusals(saw func(string), six bool) (*refusals, error) {
	r := &refusals{saw: saw, told: map[[2]byte]int{}}
	families := []int{unix.AF_INET}
	if six {
		families = append(families, unix.AF_INET6)
	}
	for _, family := range families {
		fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP)
		if err != nil {
			return nil, err
		}
		r.views = append(r.views, view{fd: fd, skip: family == unix.AF_INET, counts: map[[2]byte]int{}})
	}
	go func() {
		for range time.Tick(lookEvery) {
			r.drain()
		}
	}()
	return r, nil
}

// settle ends a window: what comes later has nothing to do with what came before.
func (r *refusals) settle() {
	r.drain()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.told)
	for _, v := range r.views {
		clear(v.counts)
	}
}

// drain reads what has been refused until now, and tells of it. Who is refused over one family and tries the other has tried once, so
// what counts for a port is the greater of the two.
func (r *refusals) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.views {
		r.read(&r.views[i])
	}
	for _, v := range r.views {
		for port, n := range v.counts {
			for ; r.told[port] < n; r.told[port]++ {
				r.saw(sawRefused)
			}
		}
	}
}

// read empties one view. r.mu is held.
func (r *refusals) read(v *view) {
	for {
		n, _, err := unix.Recvfrom(v.fd, r.piece[:], unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		segment := r.piece[:n]
		if v.skip && n > 0 {
			segment = segment[min(n, 4*int(segment[0]&0x0f)):]
		}
		const reset, ack = 0x04, 0x10
		if len(segment) >= 20 && segment[13]&(reset|ack) == reset|ack && binary.BigEndian.Uint32(segment[4:]) == 0 {
			v.counts[[2]byte(segment[:2])]++
		}
	}
}
