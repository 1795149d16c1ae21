package ledgercmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// Limits of the search for ids that begin with a prefix.
const (
	maxCandidates = 10   // ids that the error lists
	maxCompared   = 1000 // ids after which the search stops
)

// completeID returns the only ref or call id that begins with prefix, or "" if none does. Several are an error that lists
// them.
func completeID(ctx context.Context, r *ledger.Reader, prefix string) (string, error) {
	seen := map[string]bool{}
	var ids, lines []string
	mentions := func(l *ledger.Line) bool { return strings.Contains(string(l.Raw()), `":"`+prefix) }
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Keep: mentions}) {
		if err != nil {
			return "", cannotRead(err)
		}
		record, err := l.Record()
		if err != nil {
			continue
		}
		for _, id := range []string{record.Ref, record.Call} {
			if !strings.HasPrefix(id, prefix) || seen[id] {
				continue
			}
			seen[id] = true
			if ids = append(ids, id); len(lines) < maxCandidates {
				lines = append(lines, "  "+candidateWords(id, &record))
			}
		}
		if len(ids) > maxCompared {
			break
		}
	}
	if len(ids) > maxCandidates {
		lines = append(lines, "  …")
	}
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return ids[0], nil
	}
	count := strconv.Itoa(len(ids))
	if len(ids) > maxCompared {
		count = fmt.Sprintf("more than %d", maxCompared)
	}
	return "", term.BadInput("give more characters of the ref", "%q: ambiguous, %s ids begin with it:\n%s", prefix, count, strings.Join(lines, "\n"))
}

// candidateWords describes an entry with a ref or call id that begins with the prefix.
func candidateWords(id string, r *ledger.Record) string {
	words := []string{term.Printable(id), r.Time.Local().Format(milliLayout)}
	for _, word := range []string{r.Code, r.Server(), r.Tool} {
		if word != "" {
			words = append(words, term.Printable(word))
		}
	}
	return strings.Join(words, "  ")
}

// parseEntry parses CHAIN/SEQ, or SEQ in a ledger with one chain. seq is 0 if the text is neither.
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

// entryOf returns the only entry with a ref or call id, or with the only one that begins with the text. Several entries
// are an error that lists them.
func entryOf(ctx context.Context, r *ledger.Reader, asked string) (chain string, seq uint64, err error) {
	if asked == "" {
		return "", 0, nil
	}
	for _, find := range []func() (string, error){
		func() (string, error) { return asked, nil },
		func() (string, error) { return completeID(ctx, r, asked) },
	} {
		id, err := find()
		if err != nil || id == "" {
			return "", 0, err
		}
		chain, seq, err = onlyEntry(ctx, r, id)
		if err != nil || seq > 0 {
			return chain, seq, err
		}
	}
	return "", 0, nil
}

// onlyEntry returns the entry with a ref or call id. seq is 0 if no entry has it.
func onlyEntry(ctx context.Context, r *ledger.Reader, id string) (chain string, seq uint64, err error) {
	var names []string
	mentions := func(l *ledger.Line) bool { return strings.Contains(string(l.Raw()), `":"`+id+`"`) }
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Keep: mentions}) {
		if err != nil {
			return "", 0, cannotRead(err)
		}
		record, err := l.Record()
		if err != nil || record.Ref != id && record.Call != id {
			continue
		}
		chain, seq = record.Chain, record.Seq
		if names = append(names, fmt.Sprintf("  %s/%d  %s", chain, seq, record.Kind)); len(names) > maxCandidates {
			names[maxCandidates] = "  …"
			break
		}
	}
	if len(names) > 1 {
		return "", 0, term.BadInput("give one of them as CHAIN/SEQ", "%q: ambiguous, several entries have this id:\n%s", id, strings.Join(names, "\n"))
	}
	return chain, seq, ctx.Err()
}
