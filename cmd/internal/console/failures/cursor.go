package failures

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// ErrCursor means that a cursor was not made by [Store.List].
var ErrCursor = errors.New("cursor: not one of this list; open the list again without it")

// place is a position in the list: that of a failure, which need not exist any more.
type place struct {
	time  int64 // microseconds
	chain int64 // number in the index, which orders failures of the same microsecond
	seq   int64
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
	return fmt.Sprintf("%s%d.%d.%d", side, c.time, c.chain, c.seq)
}

func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return cursor{any: true}, nil
	}
	var side byte
	n, _ := fmt.Sscanf(text, "%c%d.%d.%d", &side, &c.time, &c.chain, &c.seq) // what it has read is compared
	c.newer = side == 'n'
	if n != 4 || c.String() != text {
		return cursor{}, ErrCursor
	}
	return c, nil
}

// String returns CHAIN/SEQ, the form that the ledger's commands accept, or NODE/CHAIN/SEQ.
func (id ID) String() string { return id.Chain + "/" + strconv.FormatUint(id.Seq, 10) }

// micros returns the time of a number of microseconds.
func micros(n int64) time.Time { return time.UnixMicro(n).UTC() }
