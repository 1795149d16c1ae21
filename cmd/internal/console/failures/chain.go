package failures

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

// chain is a chain that is being followed. It belongs to the goroutine of Run.
type chain struct {
	name      string
	closed    int         // number of the last closed segment that was read or will be read in the background
	active    *segment    // nil if there is none
	info      fs.FileInfo // of its file before it was last read
	ended     bool        // no more lines will be written
	modified  time.Time   // of the folder, when its files were last listed
	published uint64      // number of the last entry that was read
}

// readBuffer is the size of reads of whole files.
const readBuffer = 256 << 10

// unchanged reports whether the active file is as it was.
func (c *chain) unchanged(info fs.FileInfo) bool {
	return c.info != nil && os.SameFile(c.info, info) && c.info.Size() == info.Size() && c.info.ModTime().Equal(info.ModTime())
}

// follower reads the lines that are written to a ledger. It belongs to the goroutine of Run.
type follower struct {
	store   *Store
	chains  map[string]*chain
	since   time.Time // older failures are not published
	scanned time.Time // when the folders were last compared
	folder  time.Time // modification time of the ledger's folder at that time
	turn    int       // position of the next idle chain to look at

	compared bool      // the first read is over
	saved    time.Time // when the index was last saved
}

// reader collects what one look at a file finds.
type reader struct {
	chain string
	own   *groups
	fresh []Failure
	keep  func(*ledger.Line) bool // whether to publish a failure
}

func (r *reader) each(l *ledger.Line) {
	if r.keep(l) {
		r.fresh = append(r.fresh, ofLine(l, r.chain))
	}
}

// newReader returns a reader of a chain. If publish is false it is the first look at the chain.
func (f *follower) newReader(c *chain, publish bool) *reader {
	publish = publish && f.store.hub.listening()
	return &reader{chain: c.name, own: newGroups(), keep: func(l *ledger.Line) bool {
		return publish && l.Seq > c.published && !l.Time.Before(f.since)
	}}
}

// readOn reads what was written to a chain since the last look, through rotation and compression.
func (f *follower) readOn(fsys fs.FS, c *chain, publish bool) error {
	const attempts = 10 // a list is out of date as soon as a segment is closed
	for range attempts {
		l, err := listAfter(fsys, c.name, c.closed)
		if err != nil {
			return err
		}
		for i := range l.closed {
			if l.closed[i].number <= c.closed {
				continue
			}
			if err := f.readClosed(fsys, c, &l.closed[i], publish); err != nil {
				return err
			}
		}
		again, err := f.readActive(fsys, c, &l, publish)
		if err != nil {
			return err
		}
		if !again {
			c.ended = l.ended || c.active != nil && c.active.closed
			return nil
		}
	}
	return nil
}

// readClosed reads a segment that was closed since the last look: the former active one, or one that began and ended
// since then.
func (f *follower) readClosed(fsys fs.FS, c *chain, file *file, publish bool) error {
	err := f.readFile(fsys, c, file, publish)
	if errors.Is(err, errReplaced) { // the former active one was removed
		f.drop(c)
		err = f.readFile(fsys, c, file, publish)
	}
	if err != nil {
		return err
	}
	f.store.index.rename(c.active, file.number)
	c.active, c.info, c.closed = nil, nil, file.number
	return nil
}

func (f *follower) readFile(fsys fs.FS, c *chain, file *file, publish bool) error {
	l, err := openLines(fsys, file, readBuffer, nil)
	if err != nil {
		return err
	}
	defer l.close()
	return f.read(c, l, file, publish)
}

// readActive reads the active segment. again is true if the files have to be listed again, because the segment was
// closed or cut off meanwhile.
func (f *follower) readActive(fsys fs.FS, c *chain, list *listing, publish bool) (again bool, err error) {
	if list.active == nil {
		return false, nil
	}
	l, err := openLines(fsys, list.active, readBuffer, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer l.close()
	// If a segment was closed between listing and opening, this file is the one after it.
	if after, err := listChain(fsys, c.name); err != nil || after.last() != list.last() {
		return true, err
	}
	c.info = list.active.info
	err = f.read(c, l, list.active, publish)
	if errors.Is(err, errReplaced) {
		f.drop(c)
		return true, nil
	}
	return false, err
}

// drop removes the active segment from the index.
func (f *follower) drop(c *chain) {
	gone := c.active
	f.store.index.remove(func(s *segment) bool { return s == gone })
	c.active, c.info = nil, nil
}

// read reads the new lines of a file into the index, and passes new failures on to the subscribers.
func (f *follower) read(c *chain, l *lines, file *file, publish bool) error {
	if c.active == nil {
		c.active = &segment{chain: c.name}
		f.store.index.add(c.active, nil)
	}
	r, s, index := f.newReader(c, publish), c.active, &f.store.index
	skipped := s.skipped
	s.source = stampOf(file)
	rows, err := s.read(l, r.own, r.each)
	index.extend(s, rows, r.own)
	index.skipped.Add(s.skipped - skipped)
	c.published = max(c.published, s.lastSeq)
	for i := range r.fresh {
		f.store.hub.publish(&r.fresh[i])
		if i%(queued/4) == queued/4-1 { // let subscribers empty their queues during a burst
			time.Sleep(time.Millisecond)
		}
	}
	return err
}
