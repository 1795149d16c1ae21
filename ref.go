package candor

import (
	"crypto/sha256"
	"encoding/hex"
)

const (
	derivedRefPrefix = "c-"
	derivedRefSize   = 6 // bytes
)

// WireRef returns the ref to write: [Error.Ref], or where nobody has given one "c-" and twelve hex digits that follow from code,
// message, details, tool and time. So an error that is written twice has one ref. Two failures that say the same at
// the same time, or at no time, share it; the room that owns the clock stamps a better one with [WithRef].
func (e *Error) WireRef() string {
	e = e.orZero()
	if e.ref != "" {
		return e.ref
	}
	var space [len(derivedRefPrefix) + 2*derivedRefSize]byte
	return string(e.appendDerivedRef(space[:0]))
}

// appendDerivedRef appends the ref that follows from the error. No text in an error holds a zero byte, which therefore
// keeps the parts apart.
func (e *Error) appendDerivedRef(dst []byte) []byte {
	var space [2 * MaxMessage]byte // enough for most, and not on the heap
	code := e.wireCode()
	text := append(space[:0], code.Domain()...)
	text = append(append(text, '/'), code.Symbol()...)
	text = append(append(text, 0), firstText(e.message, code.Sentence())...)
	text = append(append(text, 0), e.details.json...)
	text = append(append(text, 0), e.callInfo.Tool...)
	text = append(text, 0)
	if !e.at.IsZero() {
		text = AppendTime(text, e.at)
	}
	sum := sha256.Sum256(text)
	return hex.AppendEncode(append(dst, derivedRefPrefix...), sum[:derivedRefSize])
}
