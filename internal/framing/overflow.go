package framing

// The bytes that are kept of the ends of a frame that is too large.
const (
	headSize = 4096
	tailSize = 256
)

// overflow keeps the ends of a frame while the rest is drained.
type overflow struct {
	active bool
	size   int64
	head   []byte
	tail   []byte // one byte more than tailSize, for a CR that turns out to end the line
}

// absorb takes the next bytes of the frame. The ends do not depend on how the frame is cut into
// calls.
func (o *overflow) absorb(b []byte) {
	o.active = true
	o.size += int64(len(b))
	if room := headSize - len(o.head); room > 0 {
		o.head = append(o.head, b[:min(room, len(b))]...)
	}
	const most = tailSize + 1
	b = b[max(0, len(b)-most):]
	if extra := len(o.tail) + len(b) - most; extra > 0 {
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
	o.tail = append(o.tail, b...)
}

// trimCR forgets a CR at the end of what was absorbed.
func (o *overflow) trimCR() {
	if n := len(o.tail); n > 0 && o.tail[n-1] == '\r' {
		o.tail = o.tail[:n-1]
		o.size--
	}
}

// take returns the ends and begins anew. The slices are the caller's.
func (o *overflow) take() (size int64, head, tail []byte) {
	size = o.size
	head = o.head[:min(int64(len(o.head)), size)]
	tail = o.tail[max(0, len(o.tail)-tailSize):]
	*o = overflow{}
	return size, head, tail
}
