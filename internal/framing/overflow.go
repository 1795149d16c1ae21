package framing

// Sizes of the kept ends of an oversized frame.
const (
	headSize = 4096
	tailSize = 256
)

// overflow keeps the ends of a frame while it is drained.
type overflow struct {
	active bool
	size   int64
	head   []byte
	tail   []byte // one byte more than tailSize, for a CR at the line end
}

// absorb adds the next bytes of the frame.
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

// trimCR drops a CR at the end of the absorbed bytes.
func (o *overflow) trimCR() {
	if n := len(o.tail); n > 0 && o.tail[n-1] == '\r' {
		o.tail = o.tail[:n-1]
		o.size--
	}
}

// take returns the ends and resets o. The caller owns the slices.
func (o *overflow) take() (size int64, head, tail []byte) {
	size = o.size
	head = o.head[:min(int64(len(o.head)), size)]
	tail = o.tail[max(0, len(o.tail)-tailSize):]
	*o = overflow{}
	return size, head, tail
}
