package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// preview reads the first entry of a chain for what it says about the others. A line that is not sound is passed over: the scan
// will name it.
func (v *verification) preview(name string) error {
	lines := newLineStream(v.fsys, name)
	defer lines.close() //nolint:errcheck // it was only read
	raw, err := lines.next()
	if errors.Is(err, io.EOF) || errors.Is(err, errCorrupt) || errors.Is(err, errTornInside) {
		return nil
	}
	if err != nil {
		return err
	}
	line, err := parseLine(raw.bytes)
	if err != nil || line.Kind != KindSetting || !line.In(name) {
		return nil
	}
	for _, c := range claimsIn(&line) {
		v.claim(c.about, c.claim)
	}
	v.namePlace(&line)
	return nil
}

// lateClaim is a claim that was found while the chains were being read.
type lateClaim struct {
	about string
	claim claim
}

// claimsIn reads data.before.
func claimsIn(line *Line) []lateClaim {
	var data struct {
		Before []struct {
			Chain string `json:"chain"`
			Size  uint64 `json:"size"`
			Last  string `json:"last"`
		} `json:"before"`
	}
	if unmarshalData(line, &data) != nil {
		return nil
	}
	var found []lateClaim
	for _, b := range data.Before {
		if !looksLikeChain(b.Chain) {
			continue // an earlier version named every folder
		}
		c := claim{size: b.Size, by: line.Chain()}
		if readHex(c.last[:], []byte(b.Last)) || b.Size == 0 {
			found = append(found, lateClaim{b.Chain, c})
		}
	}
	return found
}

// gone reports whether retention removed all entries; the last one may have stood behind the last checkpoint.
func (c *ChainReport) gone() bool { return c.Entries == 0 && c.Pruned > 0 }

// compareLate holds the ends of chains against claims that were found late.
func (v *verification) compareLate() error {
	for i := range v.report.Chains {
		c := &v.report.Chains[i]
		for _, l := range v.late {
			if l.about != c.Chain || c.Harm != nil || c.gone() || c.Size >= l.claim.size {
				continue
			}
			took, err := v.tookAll(c, l.claim.size)
			if err != nil {
				return err
			}
			if took {
				continue
			}
			c.Harm = &Harm{Kind: HarmTruncated, Chain: c.Chain, Seq: c.Size + 1, File: c.Chain + "/" + activeName, Offset: c.Bytes,
				Text: fmt.Sprintf("entries %d to %d are gone: chain %s has seen them", c.Size+1, l.claim.size, l.claim.by)}
		}
	}
	for _, l := range v.late {
		v.claim(l.about, l.claim)
	}
	return nil
}

// tookAll reports whether nothing is left of a chain because retention removed it, and notes that.
func (v *verification) tookAll(c *ChainReport, size uint64) (bool, error) {
	if c.Entries > 0 {
		return false, nil
	}
	p, found, err := v.prunedAs(c.Chain, func(p pruning) bool { return p.size >= size })
	if found {
		c.First, c.Size, c.Pruned, c.Last = p.size+1, p.size, p.size, p.last.String()
	}
	return found, err
}

// claim adds what a chain says about another, once: many restarts say the same about an old chain.
func (v *verification) claim(about string, c claim) {
	same := func(o claim) bool { return o.size == c.size && o.last == c.last }
	if !slices.ContainsFunc(v.claims[about], same) {
		v.claims[about] = append(v.claims[about], c)
	}
}

// missing finds chains that somebody names and that are gone.
func (v *verification) missing(chains []string) {
	named, file := map[string]string{}, map[string]*witnessFile{}
	for about, claims := range v.claims {
		named[about] = "chain " + claims[0].by
	}
	for by, t := range v.heard {
		for _, r := range t.remarks {
			if r.end != nil {
				named[r.about] = "chain " + by
			}
		}
	}
	for _, p := range v.places {
		foreign := ForeignChains{Place: p.name}
		for about, at := range p.blocks {
			if slices.Contains(chains, about) || v.exists(about) {
				continue
			}
			_, flaw := readStatement(at.newest, v.keys)
			switch {
			case flaw == nil:
				named[about], file[about] = "a checkpoint in "+p.name, p
			case flaw.kind == HarmUnknownKey && (p.own || len(chains) == 0 && !v.keyed):
				named[about], file[about] = "a checkpoint in "+p.name+", signed with a key that is gone too,", p
			case flaw.kind == HarmUnknownKey: // of another ledger that uses the same place, or of this one before its keys went
				foreign.Chains, foreign.Last = foreign.Chains+1, max(foreign.Last, about)
			default:
				v.report.Harms = append(v.report.Harms, Harm{Kind: flaw.kind, Chain: about, File: p.name, Offset: at.last,
					Text: "a checkpoint cannot be believed: " + flaw.why})
			}
		}
		if foreign.Chains > 0 {
			v.report.Foreign = append(v.report.Foreign, foreign)
		}
	}
	for _, about := range sortedKeys(named) {
		if slices.Contains(chains, about) {
			continue
		}
		h := Harm{Kind: HarmMissingChain, Chain: about, Text: "the chain is gone; " + named[about] + " names it"}
		if p := file[about]; p != nil {
			h.File, h.Offset = p.name, p.blocks[about].last
		}
		v.report.Harms = append(v.report.Harms, h)
	}
}

// exists reports whether a chain is there that was begun after the chains were listed. Only a real folder with a log is a chain.
func (v *verification) exists(chain string) bool {
	folder, err := fs.Lstat(v.fsys, chain)
	if err != nil || !folder.IsDir() {
		return false
	}
	log, err := fs.Lstat(v.fsys, chain+"/"+activeName)
	return err == nil && log.Mode().IsRegular()
}

// impostors finds what has the name of a chain and is not a folder.
func (v *verification) impostors() error {
	list, err := fs.ReadDir(v.fsys, ".")
	if err != nil {
		return fmt.Errorf("listing the ledger: %w", err)
	}
	for _, item := range list {
		if looksLikeChain(item.Name()) && !item.IsDir() {
			v.report.Harms = append(v.report.Harms, Harm{Kind: HarmMissingChain, Chain: item.Name(), File: item.Name(),
				Text: "a file or a link stands where the folder of a chain should be"})
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// compareTwins demands that a segment which is there both plain and compressed is the same twice.
func (v *verification) compareTwins(c *ChainReport) error {
	list, err := closedSegments(v.fsys, c.Chain)
	if err != nil {
		return err
	}
	for _, s := range list {
		if !s.twice {
			continue
		}
		plain, err := digestOf(v.fsys, s.name, false)
		packed, packedErr := digestOf(v.fsys, s.name+packedSuffix, true)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(packedErr, fs.ErrNotExist) {
			continue // tidied up meanwhile
		}
		if errors.Is(packedErr, errCorrupt) || plain != packed {
			c.Harm = &Harm{Kind: HarmDuplicate, Chain: c.Chain, File: s.name + packedSuffix, Text: "the segment is there twice, and the compressed one holds something else"}
			return nil
		}
		if err := errors.Join(err, packedErr); err != nil {
			return err
		}
	}
	return nil
}

func digestOf(fsys fs.FS, name string, packed bool) (string, error) {
	file, err := openSegment(fsys, name, packed)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, file.Close())
}

// verifiersOf reads verifier lines, each once.
func verifiersOf(lines []string) (note.Verifiers, error) {
	var list []note.Verifier
	seen := map[string]bool{}
	for _, line := range lines {
		if line = strings.TrimSpace(line); line == "" || seen[line] {
			continue
		}
		seen[line] = true
		verifier, err := note.NewVerifier(line)
		if err != nil {
			return nil, fmt.Errorf("reading a public key: %w", err)
		}
		list = append(list, verifier)
	}
	return note.VerifierList(list...), nil
}

// keyLines splits the text of a key file: one key a line, blank lines and lines that begin with # do not count.
func keyLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}
