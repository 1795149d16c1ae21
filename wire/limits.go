package wire

// The bounds of a zero [Limits], and the ceilings that no Limits can exceed.
const (
	DefaultMaxBytes = 16 << 20
	defaultMaxDepth = 128

	ceilingBytes = 1 << 30 // spans are 32 bits wide
	ceilingDepth = 10_000  // the scan recurses once per level
)

// Limits bounds what a parse or a reader accepts. The zero value is safe: it means
// [DefaultMaxBytes], a depth of 128 and no leniency. A Limits is a plain value.
type Limits struct {
	// MaxBytes bounds one message, line or event. Zero or less means [DefaultMaxBytes]; more than
	// 1 GiB means 1 GiB.
	MaxBytes int
	// MaxDepth bounds the nesting of arrays and objects: a scalar has depth 0. Zero or less means
	// 128; more than 10,000 means 10,000.
	MaxDepth int
	// AllowLoneSurrogates accepts \ud800 without its other half. JSON's grammar allows it and a
	// peer that cuts strings by UTF-16 units sends it, but it is not a character.
	AllowLoneSurrogates bool
}

func (l Limits) maxBytes() int { return within(l.MaxBytes, DefaultMaxBytes, ceilingBytes) }

func (l Limits) maxDepth() int { return within(l.MaxDepth, defaultMaxDepth, ceilingDepth) }

func within(n, fallback, ceiling int) int {
	if n <= 0 {
		return fallback
	}
	return min(n, ceiling)
}
