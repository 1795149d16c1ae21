package ledgercmd

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
)

// Limits of the search for ids that begin with a text.
const (
	maxCandidates = 10   // ids that the error lists
	maxCompared   = 1000 // ids after which the search stops
)

// found is an entry that a text names.
type found struct {
	record ledger.Record
	raw    []byte
	id     string // its ref or call id that begins with the text
}

// find returns the entry CHAIN/SEQ, or SEQ in a ledger with one chain, or else the entries with the ref or call id that is the text,
// or with the only one that begins with it.
func find(ctx context.Context, r *ledger.Reader, asked string) ([]found, error) {
	if asked == "" {
		return nil, noSuchEntry(ctx, r, asked)
	}
	chain, seq, notEntry := parseEntry(r, asked)
	if seq > 0 {
		list, err := entries(ctx, r, ledger.ReadOptions{Chain: chain, Keep: func(l *ledger.Line) bool { return l.Seq == seq }}, nil)
		if err != nil || len(list) > 0 {
			return list, err
		}
	}
	if notEntry != nil && strings.Contains(asked, "/") {
		return nil, notEntry
	}
	list, err := withID(ctx, r, asked)
	switch {
	case err != nil || len(list) > 0:
		return list, err
	case notEntry != nil:
		return nil, notEntry
	}
	return nil, noSuchEntry(ctx, r, asked)
}

// entries returns the entries that options select. With an id it returns those with a ref or call id that begins with it, until too many
// ids do.
func entries(ctx context.Context, r *ledger.Reader, options ledger.ReadOptions, id *string) (list []found, err error) {
	ids := map[string]bool{}
	for l, err := range r.Entries(ctx, options) {
		if err != nil {
			return nil, cannotRead(err)
		}
		record, err := l.Record()
		if err != nil {
			continue
		}
		entry := found{record: record, raw: bytes.Clone(l.Raw())}
		if id == nil {
			list = append(list, entry)
			continue
		}
		for _, entry.id = range []string{record.Ref, record.Call} {
			if entry.id == *id || strings.HasPrefix(entry.id, *id) && len(ids) <= maxCompared {
				ids[entry.id] = true
				list = append(list, entry)
			}
			if entry.id == *id {
				break
			}
		}
	}
	return list, ctx.Err()
}

// withID returns the entries with the ref or call id, or with the only one that begins with the text. Several ids are an error that
// lists them.
func withID(ctx context.Context, r *ledger.Reader, asked string) ([]found, error) {
	mentions := func(l *ledger.Line) bool { return bytes.Contains(l.Raw(), []byte(`":"`+asked)) }
	list, err := entries(ctx, r, ledger.ReadOptions{Keep: mentions}, &asked)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if exact := slices.DeleteFunc(slices.Clone(list), func(f found) bool { return f.id != asked }); len(exact) > 0 {
		return exact, nil
	}
	var ids, lines []string
	for i := range list {
		if f := &list[i]; !slices.Contains(ids, f.id) {
			ids, lines = append(ids, f.id), append(lines, "  "+candidateWords(f))
		}
	}
	if len(ids) == 1 {
		return list, nil
	}
	count := strconv.Itoa(len(ids))
	if len(ids) > maxCompared {
		count = fmt.Sprintf("more than %d", maxCompared)
	}
	return nil, term.BadInput("give more characters of the ref", "%q: ambiguous, %s ids begin with it:\n%s", asked, count, shortList(lines))
}

// shortList joins the first lines.
func shortList(lines []string) string {
	if len(lines) > maxCandidates {
		lines = append(lines[:maxCandidates:maxCandidates], "  …")
	}
	return strings.Join(lines, "\n")
}

// candidateWords describes an entry with a ref or call id that begins with the text.
func candidateWords(f *found) string {
	words := []string{term.Printable(f.id), f.record.Time.Local().Format(milliLayout)}
	for _, word := range []string{f.record.Code, f.record.Server(), f.record.Tool} {
		if word != "" {
			words = append(words, term.Printable(word))
		}
	}
	return strings.Join(words, "  ")
}

// parseEntry parses CHAIN/SEQ, or SEQ in a ledger with one chain. seq is 0 for other text.
func parseEntry(r *ledger.Reader, asked string) (chain string, seq uint64, err error) {
	chain, number, named := strings.Cut(asked, "/")
	if !named {
		chain, number = "", asked
	}
	if seq, err = strconv.ParseUint(number, 10, 64); err != nil || seq == 0 {
		return "", 0, nil
	}
	chains, err := r.Chains()
	if err != nil {
		return "", 0, cannotRead(err)
	}
	switch {
	case named && !term.MatchFold(chains, &chain):
		return "", 0, term.Unknown("chain", chain, chains)
	case len(chains) == 0:
		return "", 0, nil
	case !named && len(chains) == 1:
		chain = chains[0]
	case !named:
		return "", 0, term.BadInput("give CHAIN/SEQ; the last chains are "+term.JoinWords(chains[max(0, len(chains)-3):]), "%[2]d: ambiguous, there are %[1]d chains", len(chains), seq)
	}
	return chain, seq, nil
}

// noSuchEntry returns the error for an entry that was not found. It may be one of the lines that are not valid.
func noSuchEntry(ctx context.Context, r *ledger.Reader, asked string) error {
	invalid := uint64(0)
	_, err := entries(ctx, r, ledger.ReadOptions{Keep: func(*ledger.Line) bool { return false }, Skipped: func(string, int64) { invalid++ }}, nil)
	switch {
	case err != nil:
		return err
	case invalid > 0:
		return term.BadInput("run candor ledger verify", "%q: no such entry; %s skipped", asked, plural.Count(invalid, "invalid line was", "invalid lines were"))
	}
	return term.BadInput("candor ledger tail lists the last entries with their ref and CHAIN/SEQ", "%q: no such entry", asked)
}
