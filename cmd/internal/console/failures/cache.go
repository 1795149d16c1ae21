package failures

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The copy of the index in the user's cache folder. It has names and numbers, but no texts of failures, and is never
// written into the ledger's folder.
const (
	cacheMagic  = "candor failures 1\n"
	cacheSuffix = ".index"
	cacheAge    = 30 * 24 * time.Hour // unused copies of other ledgers are removed after this time

	moreSaved = 64 << 20 // bytes after which a running store saves again
	saveEvery = time.Minute
	maxCached = 1 << 28 // rows or bytes of a member; more is a damaged file
)

// minSaved is the number of bytes of the ledger that are worth a copy.
var minSaved int64 = 4 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cache is a copy that was loaded. A nil cache is empty.
type cache struct {
	segments map[cacheKey]*segment
}

type cacheKey struct {
	chain  string
	number int
}

// cacheFile returns the path of the copy, or "" if there is none.
func (s *Store) cacheFile() string {
	folder := s.options.Cache
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(user, "candor", "console")
	}
	if s.options.NoCache {
		return ""
	}
	sum := sha256.Sum256([]byte(s.dir))
	return filepath.Join(folder, hex.EncodeToString(sum[:12])+cacheSuffix)
}

// take returns the segment of a file that has not changed, or nil.
func (c *cache) take(chain string, f *file) *segment {
	if c == nil {
		return nil
	}
	s := c.segments[cacheKey{chain, f.number}]
	if s == nil || s.source != stampOf(f) {
		return nil
	}
	return s
}

// resume continues the active segment of a chain where the copy ends.
func (f *follower) resume(fsys fs.FS, c *chain, cached *cache) {
	if cached == nil {
		return
	}
	s := cached.segments[cacheKey{c.name, 0}]
	if s == nil || !f.continues(fsys, s) {
		return
	}
	f.store.index.skipped.Add(s.skipped)
	f.store.index.add(s, nil)
	c.active, c.published = s, s.lastSeq
}

// continues reports whether the active file of a chain begins with the lines that a segment has.
func (f *follower) continues(fsys fs.FS, s *segment) bool {
	const buffer = 8 << 10
	l, err := openLines(fsys, &file{name: s.chain + "/" + activeName}, buffer, nil)
	if err != nil {
		return false
	}
	defer l.close()
	return s.resume(l) == nil
}

// save writes the copy if at least atLeast bytes were read since the last time. An error is ignored: without a copy the
// ledger is read again.
func (f *follower) save(atLeast int64) {
	s := f.store
	f.saved = time.Now()
	name := s.cacheFile()
	var added int64
	s.index.mu.RLock()
	segments, groups := s.index.segments, s.index.groups.list
	for _, x := range segments {
		added += x.added
	}
	s.index.mu.RUnlock()
	if name == "" || added < atLeast {
		return
	}
	if writeCache(name, s.dir, segments, groups) == nil {
		for _, x := range segments {
			x.added = 0
		}
	}
	removeOld(filepath.Dir(name))
}

// writeCache replaces the copy. A crash leaves the old one, or a temporary file that removeOld removes.
func writeCache(name, dir string, segments []*segment, groups []group) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(name), "*"+cacheSuffix+".tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, temp.Close()); err == nil {
			err = os.Rename(temp.Name(), name)
		}
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	sum := crc32.New(castagnoli)
	w := &cacheWriter{out: bufio.NewWriterSize(io.MultiWriter(temp, sum), 1<<20)}
	w.text(cacheMagic)
	w.text(dir)
	w.number(uint64(len(groups)))
	for i := range groups {
		w.group(&groups[i])
	}
	w.number(uint64(len(segments)))
	for _, s := range segments {
		w.segment(s)
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	_, err = temp.Write(sum.Sum(nil))
	return err
}

// removeOld removes copies that were not used for long.
func removeOld(folder string) {
	items, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, item := range items {
		info, err := item.Info()
		if err == nil && strings.Contains(item.Name(), cacheSuffix) && info.Mode().IsRegular() && time.Since(info.ModTime()) > cacheAge {
			_ = os.Remove(filepath.Join(folder, item.Name()))
		}
	}
}

// load reads the copy. It returns nil if there is none, or if it is damaged or of another version.
func (s *Store) load() *cache {
	name := s.cacheFile()
	if name == "" {
		return nil
	}
	in, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer in.Close() //nolint:errcheck // only read
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < crc32.Size {
		return nil
	}
	sum := crc32.New(castagnoli)
	body := io.LimitReader(in, info.Size()-crc32.Size)
	r := &cacheReader{in: bufio.NewReaderSize(io.TeeReader(body, sum), 1<<20)}
	c, groups, err := r.cache(s.dir)
	if err != nil || !checked(in, r.in, sum) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now) // see removeOld
	s.adopt(c, groups)
	return c
}

// checked reports whether the body is at its end and the checksum after it is right.
func checked(in io.Reader, body *bufio.Reader, sum hash.Hash32) bool {
	if _, err := body.ReadByte(); !errors.Is(err, io.EOF) {
		return false
	}
	want := make([]byte, crc32.Size)
	_, err := io.ReadFull(in, want)
	return err == nil && binary.BigEndian.Uint32(want) == sum.Sum32()
}

// adopt gives the rows of a copy the groups of the index.
func (s *Store) adopt(c *cache, groups []group) {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	ids := s.index.number(groups)
	for _, x := range c.segments {
		for i := range x.rows {
			x.rows[i].group = ids[x.rows[i].group]
		}
	}
}

var errCache = fmt.Errorf("%s: damaged or of another version", cacheSuffix)
