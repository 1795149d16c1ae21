package dialect

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// native is the candor dialect: the canonical error, in a result whose first block is text for the model.
type native struct{}

// Name returns the name of the dialect.
func (native) Name() string { return "candor" }

// Carrier returns the kind of message that Write produces.
func (native) Carrier() Carrier { return CarrierResult }

// Encode appends the canonical JSON. It does not allocate if dst has the capacity.
func (native) Encode(dst []byte, e *candor.Error, o Options) []byte {
	return appendCanonical(dst, whole(e), o, stackAny)
}

// Write appends a result.
func (native) Write(dst []byte, e *candor.Error, o Options) []byte {
	e = whole(e)
	var space [MaxReadable]byte
	return appendResult(dst, e, o, resultParts{text: AppendText(space[:0], e), native: true})
}

// Read finds the canonical error under the key of _meta, of data or of a document, in structuredContent of a result, or alone.
func (d native) Read(v wire.Value) (*candor.Error, error) {
	if own, ok := Embedded(v); ok {
		return ReadCandor(own)
	}
	if result, ok := resultOf(v); ok {
		if mirror := result.Path("structuredContent"); d.marked(mirror) {
			return ReadCandor(mirror)
		}
		return nil, refuse("candor", "another dialect may read it, see Detect", "the result has no _meta[%q]", MetaKey)
	}
	return ReadCandor(v)
}

// marked requires class, domain and origin, which no other shape has together.
func (native) marked(v wire.Value) bool {
	return v.Path("code").Type() == wire.TypeString && v.Path("class").Type() == wire.TypeString &&
		v.Path("domain").Type() == wire.TypeString && v.Path("origin").Type() == wire.TypeObject &&
		!v.Path("type").Present()
}
