package view

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/filelock"
	"github.com/candor-mcp/candor/ledger/verify"
)

// The text of a checkpoint over a fleet; spec/fleet.md describes it.
const (
	origin     = "candor-fleet/1"
	keyName    = "candor-fleet"
	blockEnd   = "---"
	noKey      = "-"
	timeLayout = time.RFC3339
	lockWait   = 10 * time.Second
)

// Head is the state of one chain: its last entry, and the tree over all of its entries.
type Head struct {
	Chain fleet.Chain
	Size  uint64
	Last  [sha256.Size]byte
	Root  string // in base64
	Key   string // verifier line that the first entry states, or "" if retention removed that entry
}

// State is the heads of all chains and the keys of all nodes. A nil State knows nothing.
type State struct {
	Time  time.Time
	Heads map[fleet.Chain]Head
	Keys  map[string][]string // verifier lines by node
}

// nodes returns the nodes that the state knows.
func (s *State) nodes() map[string]bool {
	known := map[string]bool{}
	if s != nil {
		for chain := range s.Heads {
			known[chain.Node] = true
		}
	}
	return known
}

func (s *State) keys() map[string][]string {
	if s == nil {
		return nil
	}
	return s.Keys
}

// of returns the known entries of a node for the verifier.
func (s *State) of(node string) (known []verify.Known) {
	if s == nil {
		return nil
	}
	for chain, h := range s.Heads {
		if chain.Node == node {
			known = append(known, verify.Known{Chain: chain.Name, Seq: h.Size, Hash: h.Last, By: "the operator's checkpoint"})
		}
	}
	return known
}

// add merges a later state into s: the longest known head of each chain, and all keys.
func (s *State) add(later *State) {
	s.Time = later.Time
	for chain, h := range later.Heads {
		if known, ok := s.Heads[chain]; !ok || h.Size >= known.Size {
			s.Heads[chain] = h
		}
	}
	for node, keys := range later.Keys {
		for _, key := range keys {
			if !slices.Contains(s.Keys[node], key) {
				s.Keys[node] = append(s.Keys[node], key)
			}
		}
	}
}

// StateOf returns the state that a verification found. The report must be OK, except for entries that were not shipped yet.
func StateOf(r *Report, now time.Time) (*State, error) {
	if !r.OK && !r.Incomplete() {
		return nil, errors.New("the store is damaged; a checkpoint of it cannot be written")
	}
	s := &State{Time: now.UTC(), Heads: map[fleet.Chain]Head{}, Keys: map[string][]string{}}
	for _, n := range r.Nodes {
		if len(n.Keys) > 0 {
			s.Keys[n.Node] = n.Keys
		}
		for _, c := range n.Chains {
			if c.Size == 0 {
				continue
			}
			h := Head{Chain: fleet.Chain{Node: n.Node, Name: c.Chain}, Size: c.Size, Root: c.Root, Key: n.signer[c.Chain]}
			if _, err := hex.Decode(h.Last[:], []byte(c.Last)); err != nil {
				return nil, fmt.Errorf("chain %s: malformed hash: %w", h.Chain, err)
			}
			s.Heads[h.Chain] = h
		}
	}
	return s, nil
}

// records returns the lines that a checkpoint signs, in their order.
func (s *State) records() []string {
	heads := slices.SortedFunc(maps.Values(s.Heads), func(a, b Head) int {
		return cmp.Or(cmp.Compare(a.Chain.Node, b.Chain.Node), cmp.Compare(a.Chain.Name, b.Chain.Name))
	})
	lines := make([]string, 0, len(heads)+len(s.Keys))
	for _, h := range heads {
		lines = append(lines, fmt.Sprintf("head %s %s %d %x %s %s", h.Chain.Node, h.Chain.Name, h.Size, h.Last, cmp.Or(h.Root, noKey), cmp.Or(h.Key, noKey)))
	}
	for _, node := range slices.Sorted(maps.Keys(s.Keys)) {
		for _, key := range s.Keys[node] {
			lines = append(lines, fmt.Sprintf("key %s %s", node, key))
		}
	}
	return lines
}

// read adds one record.
func (s *State) read(line string) error {
	words := strings.Split(line, " ")
	if len(words) == 3 && words[0] == "key" {
		s.Keys[words[1]] = append(s.Keys[words[1]], words[2])
		return nil
	}
	if len(words) != 7 || words[0] != "head" {
		return fmt.Errorf("%q is not a record", line)
	}
	h := Head{Chain: fleet.Chain{Node: words[1], Name: words[2]}, Root: words[5], Key: words[6]}
	size, err := strconv.ParseUint(words[3], 10, 63)
	last, hexErr := hex.DecodeString(words[4])
	if err != nil || hexErr != nil || copy(h.Last[:], last) != sha256.Size || len(last) != sha256.Size {
		return fmt.Errorf("%q is not the head of a chain", line)
	}
	h.Size = size
	if h.Key == noKey {
		h.Key = ""
	}
	if h.Root == noKey {
		h.Root = ""
	}
	s.Heads[h.Chain] = h
	return nil
}

// treeRoot returns the root of the tree of RFC 6962 over the records.
func treeRoot(records []string) tlog.Hash {
	leaves := make([]tlog.Hash, len(records))
	for i, r := range records {
		leaves[i] = tlog.RecordHash([]byte(r))
	}
	return rootOf(leaves)
}

func rootOf(leaves []tlog.Hash) tlog.Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	left := 1
	for left*2 < len(leaves) {
		left *= 2
	}
	return tlog.NodeHash(rootOf(leaves[:left]), rootOf(leaves[left:]))
}

// sign returns the block of a state for the file of checkpoints.
func (s *State) sign(signer note.Signer) ([]byte, error) {
	records := s.records()
	text := fmt.Sprintf("%s\n%d\n%s\ntime %s\n", origin, len(records), treeRoot(records), s.Time.Format(timeLayout))
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		return nil, fmt.Errorf("signing the checkpoint: %w", err)
	}
	return []byte(string(signed) + "\n" + strings.Join(append(records, blockEnd), "\n") + "\n"), nil
}

// parseBlock checks the signature of a block and that its records are those that were signed.
func parseBlock(block string, key note.Verifier) (*State, error) {
	end := strings.Index(block, "\n\n— ")
	if end < 0 {
		return nil, errors.New("not a signed checkpoint")
	}
	after := strings.Index(block[end+2:], "\n\n")
	if after < 0 {
		return nil, errors.New("not a signed checkpoint")
	}
	signed, rest := block[:end+2+after+1], block[end+2+after+2:]
	opened, err := note.Open([]byte(signed), note.VerifierList(key))
	if unknown := (*note.UnverifiedNoteError)(nil); errors.As(err, &unknown) {
		return nil, errors.New("signed with another key")
	}
	if err != nil {
		return nil, fmt.Errorf("invalid signature: %w", err)
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 5 || lines[0] != origin {
		return nil, errors.New("signed, but not a checkpoint of a fleet")
	}
	records := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	if rest == "" {
		records = nil
	}
	if strconv.Itoa(len(records)) != lines[1] || treeRoot(records).String() != lines[2] {
		return nil, errors.New("the records are not those that were signed")
	}
	s := &State{Heads: map[fleet.Chain]Head{}, Keys: map[string][]string{}}
	if s.Time, err = time.Parse(timeLayout, strings.TrimPrefix(lines[3], "time ")); err != nil {
		return nil, errors.New("malformed time")
	}
	for _, record := range records {
		if err := s.read(record); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Checkpoints is a file of signed checkpoints over a fleet, which an operator keeps outside the store.
type Checkpoints struct {
	Name string
	Key  *OperatorKey
}

// Read returns what the checkpoints in the file know together: for each chain the longest head. It returns nil if the file does not
// exist, or has no checkpoint. A block without its end was left by a crash and is ignored.
func (c *Checkpoints) Read() (*State, error) {
	state, _, err := c.read()
	return state, err
}

func (c *Checkpoints) read() (state *State, end int64, err error) {
	file, err := os.Open(c.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	in, at, count := bufio.NewReader(file), int64(0), 0
	var block strings.Builder
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return state, end, nil
		}
		if err != nil {
			return nil, 0, err
		}
		at += int64(len(line))
		if line != blockEnd+"\n" {
			block.WriteString(line)
			continue
		}
		count++
		found, err := parseBlock(block.String(), c.Key.verifier)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: checkpoint %d: %w", c.Name, count, err)
		}
		block.Reset()
		if end = at; state == nil {
			state = found
		} else {
			state.add(found)
		}
	}
}

// Append signs a state and adds it to the file, durably. It returns the added block.
func (c *Checkpoints) Append(ctx context.Context, s *State) ([]byte, error) {
	if c.Key.signer == nil {
		return nil, fmt.Errorf("%s is a public key, which cannot sign (hint: name the operator's private key, or use --no-checkpoint)", c.Key.Name)
	}
	block, err := s.sign(c.Key.signer)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(c.Name), 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockBeside(ctx, c.Name)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", c.Name, err)
	}
	defer unlock()
	_, end, err := c.read()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(c.Name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	err = file.Truncate(end) // removes a block that a crash left without its end
	if err == nil {
		_, err = file.WriteAt(block, end)
	}
	if err == nil {
		err = file.Sync()
	}
	return block, errors.Join(err, file.Close())
}

// lockBeside locks a file beside name, so that two processes do not write at the same time.
func lockBeside(ctx context.Context, name string) (unlock func(), err error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	file, err := filelock.Wait(ctx, root, filepath.Base(name)+".lock", lockWait)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return func() { _, _ = file.Close(), root.Close() }, nil
}
