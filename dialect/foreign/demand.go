package foreign

import (
	"maps"
	"slices"
	"strings"
)

// Most phrases cannot match in most texts, because a word that they insist on is not there. That is found in one pass over the
// tokens, and only what is left is tried at each of them.
//
// A demand is an item of a phrase that cannot be left out and that only some tokens satisfy. It may be held for met where it is
// not, never the other way round: what is passed over here is passed over for good.

// demandSet is a set of demands. What has no room in it is not demanded.
type demandSet [4]uint64

func (d *demandSet) add(n int) {
	if n < 64*len(d) {
		d[n/64] |= 1 << (n % 64)
	}
}

func (d *demandSet) addAll(more *demandSet) {
	for i := range d {
		d[i] |= more[i]
	}
}

// within reports whether all of d is in met.
func (d *demandSet) within(met *demandSet) bool {
	missing := uint64(0)
	for i := range d {
		missing |= d[i] &^ met[i]
	}
	return missing == 0
}

// demands are those of a list of phrases, by what meets them.
type demands struct {
	byWord   map[string]*demandSet
	inside   []string // words of script without spaces, which match inside a token
	byQuoted demandSet
	numbers  map[string]int // of each demand, by its words
}

// demandsOf numbers the demands of all phrases and gives each phrase its own.
func demandsOf(all []phrase) *demands {
	d := &demands{byWord: make(map[string]*demandSet), numbers: make(map[string]int)}
	for i := range all {
		for _, it := range all[i].items {
			if !it.optional {
				d.demand(&all[i].needs, it)
			}
		}
	}
	return d
}

// demand notes what a phrase needs for one item.
func (d *demands) demand(needs *demandSet, it item) {
	words := it.words
	switch it.op {
	case opWord:
	case opKind:
		words = slices.Sorted(maps.Keys(kinds))
	case opParam:
		words = slices.Sorted(maps.Keys(params))
	case opForeign:
		words = append(slices.Sorted(maps.Keys(foreignKinds)), spacelessKinds...)
	case opQuoted:
		n := d.number("QUOTED")
		needs.add(n)
		d.byQuoted.add(n)
		return
	case opName, opNames, opIdent, opIdents, opAny, opColon, opHead, opEnd:
		return // too much may stand there
	}
	n := d.number(strings.Join(words, "|"))
	needs.add(n)
	for _, w := range words {
		if d.byWord[w] == nil {
			d.byWord[w] = new(demandSet)
			if startsSpaceless(w) {
				d.inside = append(d.inside, w)
			}
		}
		d.byWord[w].add(n)
	}
}

// number returns the number of a demand. Phrases share those with the same words.
func (d *demands) number(words string) int {
	n, ok := d.numbers[words]
	if !ok {
		n = len(d.numbers)
		d.numbers[words] = n
	}
	return n
}

// metBy collects the demands that some token meets.
func (d *demands) metBy(toks []token) demandSet {
	var met demandSet
	for i := range toks {
		t := &toks[i]
		if t.kind == kindQuoted {
			met.addAll(&d.byQuoted)
			continue
		}
		if more := d.byWord[t.low]; more != nil {
			met.addAll(more)
		}
		if isASCII(t.low) {
			continue
		}
		for _, w := range d.inside {
			if strings.Contains(t.low, w) {
				met.addAll(d.byWord[w])
			}
		}
	}
	return met
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
