package ledger

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

const (
	activeName      = "audit-log.jsonl"
	segmentPrefix   = "audit-log."
	segmentSuffix   = ".jsonl"
	packedSuffix    = ".gz"
	checkpointsName = "checkpoints"
	keysName        = "keys"
)

// segmentFile is one closed file of a chain.
type segmentFile struct {
	number int
	name   string // relative to the ledger's folder
	packed bool   // compressed
	twice  bool   // there both plain and compressed, as between packing a segment and removing the plain one
}

// closedSegments lists the closed segments of a chain in their order. Of one that is there twice it returns the plain one.
func closedSegments(fsys fs.FS, chain string) ([]segmentFile, error) {
	list, err := fs.ReadDir(fsys, chain)
	if err != nil {
		return nil, fmt.Errorf("listing chain %s: %w", chain, err)
	}
	byNumber := map[int]segmentFile{}
	for _, item := range list {
		number, packed, ok := segmentNumber(item.Name())
		if !ok {
			continue
		}
		found := segmentFile{number: number, name: chain + "/" + item.Name(), packed: packed}
		if other, double := byNumber[number]; double {
			if packed {
				found = other
			}
			found.twice = true
		}
		byNumber[number] = found
	}
	segments := make([]segmentFile, 0, len(byNumber))
	for _, s := range byNumber {
		segments = append(segments, s)
	}
	slices.SortFunc(segments, func(a, b segmentFile) int { return a.number - b.number })
	return segments, nil
}

// segmentNumber reads audit-log.000001.jsonl and audit-log.000001.jsonl.gz.
func segmentNumber(name string) (number int, packed, ok bool) {
	name, packed = strings.CutSuffix(name, packedSuffix)
	digits, isSegment := strings.CutSuffix(name, segmentSuffix)
	digits, isClosed := strings.CutPrefix(digits, segmentPrefix)
	if !isSegment || !isClosed || len(digits) < 6 {
		return 0, false, false
	}
	number, err := strconv.Atoi(digits)
	return number, packed, err == nil && number > 0 && fmt.Sprintf("%06d", number) == digits
}

// chainNames lists the chains of a folder by name. What is not named like a chain is none.
func chainNames(fsys fs.FS) ([]string, error) {
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("listing the ledger: %w", err)
	}
	var names []string
	for _, item := range list {
		if item.IsDir() && looksLikeChain(item.Name()) {
			names = append(names, item.Name())
		}
	}
	return names, nil
}

// looksLikeChain accepts INSTANCE-20261115T040506789Z-0123abcd.
func looksLikeChain(name string) bool {
	const form = "-dddddddd-ddddddddd--hhhhhhhh"
	if len(name) <= len(form) || !isChainName(name) {
		return false
	}
	tail := name[len(name)-len(form):]
	return tail[0] == '-' && tail[9] == 'T' && tail[19] == 'Z' && tail[20] == '-' && isHexText(tail[21:]) &&
		isDigits(tail[1:9]) && isDigits(tail[10:19])
}

func isHexText(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// openSegment opens a file of entries and sees to it that it is a file: a pipe would keep the reader waiting.
func openSegment(fsys fs.FS, name string, packed bool) (io.ReadCloser, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", errCorrupt, name)
	}
	file, err := fsys.Open(name)
	if err != nil || !packed {
		return file, err
	}
	return &packedFile{file: file}, nil
}

// packedFile reads a compressed segment. What keeps it from being unpacked is harm.
type packedFile struct {
	file fs.File
	zip  *gzip.Reader
	err  error
}

// Read returns unpacked bytes.
func (p *packedFile) Read(b []byte) (int, error) {
	if p.zip == nil && p.err == nil {
		p.zip, p.err = gzip.NewReader(p.file)
	}
	if p.err != nil {
		return 0, asCorrupt(p.err)
	}
	n, err := p.zip.Read(b)
	return n, asCorrupt(err)
}

// Close closes the file.
func (p *packedFile) Close() error { return p.file.Close() }

func asCorrupt(err error) error {
	var bad flate.CorruptInputError
	switch {
	case err == nil, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &bad):
		return fmt.Errorf("%w: it cannot be unpacked: %v", errCorrupt, err)
	}
	return err
}
