// Package token makes and reads the tokens of workflow sessions: short texts that a model copies from one answer into
// its next call.
//
// A token names a session, a node and an attempt, and is valid for one kind of use. It is signed, so that it cannot be
// forged or changed, and it is self-contained, so that the server needs no table of tokens.
//
//	ct_ + 40 characters of base32: version, key, session, node, attempt, signature
//
// The alphabet has lower-case letters and digits only, without those that are easily confused. A token has exactly one
// valid spelling, so every character that is changed, added or removed is detected.
package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Kind is the purpose of a token.
type Kind string

// Each kind is the prefix of its tokens.
const (
	Continue Kind = "ct_" // completes the pending step of its node
	Resume   Kind = "rt_" // reads the position of its session
)

func (k Kind) valid() bool { return k == Continue || k == Resume }

// String returns a name for messages.
func (k Kind) String() string {
	switch k {
	case Continue:
		return "continue token"
	case Resume:
		return "resume token"
	default:
		return "unknown token"
	}
}

// SessionID is the id of a session.
type SessionID [8]byte

// String returns the id in hexadecimal.
func (s SessionID) String() string { return hex.EncodeToString(s[:]) }

// ParseSessionID parses the form that [SessionID.String] writes.
func ParseSessionID(text string) (id SessionID, ok bool) {
	if len(text) != hex.EncodedLen(len(id)) || text != strings.ToLower(text) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(text))
	return id, err == nil
}

// Token is the content of a token.
type Token struct {
	Kind    Kind
	Session SessionID
	Node    uint32 // number of steps completed when it was made
	Attempt uint16 // number of earlier blocked attempts at the node
}

const (
	version   = 1
	payload   = 1 + 1 + len(SessionID{}) + 4 + 2
	signature = 9 // 72 bits: guessing one takes more calls than a disk can record
	size      = payload + signature
)

// encoding needs no padding: 25 bytes are exactly 40 characters.
var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// length is the length of a token.
var length = len(Continue) + encoding.EncodedLen(size)

// Mint returns the text of a token, signed with the current key.
func (r *Keyring) Mint(t Token) string {
	r.refresh() // a key that another process has retired must not sign
	key := r.current()
	b := make([]byte, 0, size)
	b = append(b, version, key.ID)
	b = append(b, t.Session[:]...)
	b = binary.BigEndian.AppendUint32(b, t.Node)
	b = binary.BigEndian.AppendUint16(b, t.Attempt)
	b = append(b, key.sign(t.Kind, b)...)
	return string(t.Kind) + encoding.EncodeToString(b)
}

// Parse parses a token of the kind want. The error is an [*Error].
func (r *Keyring) Parse(text string, want Kind) (Token, error) {
	t := Token{Kind: want}
	kind, b, err := decode(text, want)
	if err != nil {
		return t, err
	}
	r.refresh()
	if b[0] != version {
		return t, &Error{Problem: UnsupportedVersion, Reason: "unknown_version", Expected: "version 1"}
	}
	key, ok := r.find(b[1])
	if !ok {
		return t, &Error{Problem: BadSignature, Reason: "unknown_key", Expected: "a token signed with a key that this server still has"}
	}
	if !hmac.Equal(b[payload:], key.sign(kind, b[:payload])) {
		return t, &Error{Problem: BadSignature, Reason: "signature_mismatch", Expected: "the token exactly as it was returned"}
	}
	if kind != want {
		return t, &Error{Problem: ScopeMismatch, Reason: "wrong_kind", Expected: "a " + want.String() + " (" + string(want) + "…), not a " + kind.String()}
	}
	b = b[2:]
	copy(t.Session[:], b)
	b = b[len(t.Session):]
	t.Node, t.Attempt = binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:])
	return t, nil
}

// decode splits a text into its kind and its bytes, signature included.
func decode(text string, want Kind) (Kind, []byte, error) {
	malformed := func(reason, expected string) (Kind, []byte, error) {
		return "", nil, &Error{Problem: InvalidFormat, Reason: reason, Expected: expected}
	}
	if len(text) < len(want) || !Kind(text[:len(want)]).valid() {
		return malformed("wrong_prefix", "a "+want.String()+", which begins with "+string(want))
	}
	switch {
	case len(text) < length:
		return malformed("too_short", lengthText)
	case len(text) > length:
		return malformed("too_long", lengthText)
	}
	b, err := encoding.DecodeString(text[len(want):])
	if err != nil || len(b) != size {
		return malformed("wrong_character", "lower-case letters and digits as they were returned")
	}
	return Kind(text[:len(want)]), b, nil
}

const lengthText = "43 characters"

// sign returns the signature of a payload for one kind of use.
func (k *key) sign(kind Kind, payload []byte) []byte {
	mac := hmac.New(sha256.New, k.Secret)
	mac.Write([]byte(kind))
	mac.Write(payload)
	return mac.Sum(nil)[:signature]
}

// Problem is the reason why a token is not accepted.
type Problem int

// Each problem has a separate code on the wire.
const (
	InvalidFormat Problem = iota + 1
	UnsupportedVersion
	BadSignature
	ScopeMismatch
)

// Error is the error for a token that is not accepted. It never contains the token.
type Error struct {
	Problem  Problem
	Reason   string // a stable word, such as too_short
	Expected string // a phrase
}

// Error returns a sentence without its full stop.
func (e *Error) Error() string {
	return "the token is not accepted (" + e.Reason + "): expected " + e.Expected
}
