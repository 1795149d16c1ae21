// Package token makes and reads the tokens of workflow sessions: short texts that a model copies from one answer into
// its next call.
//
// A token names a session, a node and an attempt, and is valid for one kind of use. It is signed, so that it cannot be
// forged or changed, and it is self-contained, so that the server needs no table of tokens.
//
//	ct_ + 40 characters of base32: version, session, node, attempt, signature
//
// The alphabet has lower-case letters and digits only, without those that are easily confused. A token has exactly one
// valid spelling, so every character that is changed, added or removed is detected.
package token

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

// Kind is the purpose of a token.
type Kind string

// Each kind is the prefix of its tokens.
const (
	Continue Kind = "ct_" // completes the pending step of its node
	Resume   Kind = "rt_" // reads the position of its session
)

// names has the kinds in the words of messages.
var names = map[Kind]string{Continue: "continue token", Resume: "resume token"}

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
	payload   = 1 + len(SessionID{}) + 4 + 2
	signature = 10 // 80 bits: guessing one takes more calls than a disk can record
	size      = payload + signature
)

// encoding needs no padding: 25 bytes are exactly 40 characters.
var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// length is the length of a token.
var length = len(Continue) + encoding.EncodedLen(size)

// Mint returns the text of a token.
func (k *Key) Mint(t Token) string {
	b := make([]byte, 0, size)
	b = append(b, version)
	b = append(b, t.Session[:]...)
	b = binary.BigEndian.AppendUint32(b, t.Node)
	b = binary.BigEndian.AppendUint16(b, t.Attempt)
	b = append(b, k.sign(t.Kind, b)...)
	return string(t.Kind) + encoding.EncodeToString(b)
}

// Parse parses a token of the kind want. The error is a [*candor.Error].
func (k *Key) Parse(text string, want Kind) (Token, error) {
	t := Token{Kind: want}
	kind, b, err := decode(text, want)
	if err != nil {
		return t, err
	}
	if b[0] != version {
		return t, refused(workrailcode.TokenUnsupportedVersion, "unknown_version", "version 1")
	}
	if !hmac.Equal(b[payload:], k.sign(kind, b[:payload])) {
		return t, refused(workrailcode.TokenBadSignature, "signature_mismatch", "the token exactly as it was returned")
	}
	if kind != want {
		return t, refused(workrailcode.TokenScopeMismatch, "wrong_kind", "a "+names[want]+" ("+string(want)+"…), not a "+names[kind])
	}
	b = b[1:]
	copy(t.Session[:], b)
	b = b[len(t.Session):]
	t.Node, t.Attempt = binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:])
	return t, nil
}

// decode splits a text into its kind and its bytes, signature included.
func decode(text string, want Kind) (Kind, []byte, error) {
	malformed := func(reason, expected string) (Kind, []byte, error) {
		return "", nil, refused(workrailcode.TokenInvalidFormat, reason, expected)
	}
	kind := Kind(text[:min(len(text), len(want))])
	if names[kind] == "" {
		return malformed("wrong_prefix", "a "+names[want]+", which begins with "+string(want))
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
	return kind, b, nil
}

const lengthText = "43 characters"

// sign returns the signature of a payload for one kind of token.
func (k *Key) sign(kind Kind, payload []byte) []byte {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte(kind))
	mac.Write(payload)
	return mac.Sum(nil)[:signature]
}

// advice suggests how to get a valid token. Only resume_session without arguments works without one.
var advice = map[candor.Code]string{
	workrailcode.TokenInvalidFormat:      "Copy the token exactly from the last answer. If it is lost, call resume_session without arguments, which lists the open sessions.",
	workrailcode.TokenUnsupportedVersion: "Call resume_session without arguments: it lists the open sessions, with tokens of this server.",
	workrailcode.TokenBadSignature:       "Copy the token exactly from the last answer. If it is old, call resume_session without arguments, which lists the open sessions.",
	workrailcode.TokenScopeMismatch:      "continue_workflow takes the continueToken or retryContinueToken of the last answer, all other tools take its resumeToken.",
}

// refused is the error for a token that is not accepted. It never contains the token. reason is a stable word, such as
// too_short.
func refused(code candor.Code, reason, expected string) *candor.Error {
	return candor.New(code, "", candor.WithSuggestion(advice[code]),
		candor.WithDetails(map[string]any{"tokenErrorCode": code.Symbol(), "reason": reason, "expected": expected}))
}

const (
	keyFile  = "token.key"
	lockFile = "token.lock"
	keySize  = 32
	lockWait = 5 * time.Second // for another process that creates the key
)

// Key signs tokens. It is safe for concurrent use.
type Key struct{ secret []byte }

// Open reads the key in a directory, and creates one if there is none. If several processes open a new directory at the
// same time, one of them creates the key.
func Open(root *os.Root) (*Key, error) {
	key, err := readKey(root)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	lock, err := filelock.Wait(context.Background(), root, lockFile, lockWait)
	if err != nil {
		return nil, err
	}
	key, err = readKey(root)
	if errors.Is(err, fs.ErrNotExist) {
		key = &Key{make([]byte, keySize)}
		_, _ = rand.Read(key.secret) // never fails
		err = durable.WriteFile(root, keyFile, []byte(hex.EncodeToString(key.secret)), 0o600)
	}
	return key, errors.Join(err, lock.Close())
}

func readKey(root *os.Root) (*Key, error) {
	info, err := root.Lstat(keyFile)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(hex.EncodedLen(keySize)) {
		return nil, fmt.Errorf("%s is not a key (hint: restore it from a copy, or remove it: the next start makes a new one, and resume_session returns new tokens)", keyFile)
	}
	text, err := root.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	return &Key{secret}, nil
}
