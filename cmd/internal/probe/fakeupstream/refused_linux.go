package fakeupstream

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lookEvery is how often refusals are read, so that the kernel drops none. They are also read when a fault ends.
const lookEvery = 20 * time.Millisecond

// refusals counts refused connections by the answers of the kernel: only a refused connection gets a reset with sequence number zero (RFC
// 9293, section 3.5.2).
type refusals struct {
	report func(event string)

	mu    sync.Mutex
	views []view          // guarded by mu
	told  map[[2]byte]int // reported refusals by port; guarded by mu
	piece [64]byte        // guarded by mu
}

// view receives a copy of all TCP packets over IPv4 or IPv6.
type view struct {
	fd     int
	skip   bool            // packets begin with the IPv4 header
	counts map[[2]byte]int // by port
}

func watchRefusals(report func(string), six bool) (*refusals, error) {
	r := &refusals{report: report, told: map[[2]byte]int{}}
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

// settle ends a window: later refusals belong to the next one.
func (r *refusals) settle() {
	r.drain()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.told)
	for _, v := range r.views {
		clear(v.counts)
	}
}

// drain reads the refusals so far and reports them. A client that is refused over one address family and tries the other counts once, so the
// larger count of the two is used for a port.
func (r *refusals) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.views {
		r.read(&r.views[i])
	}
	for _, v := range r.views {
		for port, n := range v.counts {
			for ; r.told[port] < n; r.told[port]++ {
				r.report(sawRefused)
			}
		}
	}
}

// read empties one view. The caller holds r.mu.
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
