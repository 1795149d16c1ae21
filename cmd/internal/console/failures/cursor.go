package failures

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"
)

// ErrCursor means that a cursor was not made by [Store.List].
var ErrCursor = errors.New("cursor: not one of this list; open the list again without it")

// place is a position in the list: that of a failure, which need not exist any more.
type place struct {
	time  int64 // microseconds
	chain string
	seq   uint64
}

// compare orders places as [ledger.Reader.Entries] does: by time, then chain, then number.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.time, q.time), cmp.Compare(p.chain, q.chain), cmp.Compare(p.seq, q.seq))
}

// cursor selects the failures on one side of a place.
type cursor struct {
	place
	newer bool // those that are newer, else those that are older
	any   bool // no place: all failures
}

func (c cursor) String() string {
	side := "o"
	if c.newer {
		side = "n"
	}
	return side + strconv.FormatInt(c.time, 36) + "." + strconv.FormatUint(c.seq, 36) + "." + c.chain
}

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{any: true}, nil
	}
	side, rest := text[:1], text[1:]
	when, rest, _ := strings.Cut(rest, ".")
	number, chain, ok := strings.Cut(rest, ".")
	micros, err := strconv.ParseInt(when, 36, 64)
	seq, err2 := strconv.ParseUint(number, 36, 64)
	if !ok || err != nil || err2 != nil || side != "o" && side != "n" || len(chain) > maxTerm {
		return cursor{}, ErrCursor
	}
	return cursor{place: place{micros, chain, seq}, newer: side == "n"}, nil
}

// ParseID reads the text form of an id, CHAIN/SEQ or NODE/CHAIN/SEQ.
func ParseID(text string) (ID, bool) {
	at := strings.LastIndexByte(text, '/')
	if at <= 0 {
		return ID{}, false
	}
	seq, err := strconv.ParseUint(text[at+1:], 10, 64)
	return ID{text[:at], seq}, err == nil && seq > 0
}

// String returns CHAIN/SEQ, the form that the ledger's commands accept, or NODE/CHAIN/SEQ.
func (id ID) String() string { return id.Chain + "/" + strconv.FormatUint(id.Seq, 10) }

// micros returns the time of a number of microseconds.
func micros(n int64) time.Time { return time.UnixMicro(n).UTC() }
