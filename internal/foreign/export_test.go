package foreign

import "github.com/candor-mcp/candor/wire"

// Overlooked returns the phrases that match somewhere in a text although their demands are not met: there must be none.
func Overlooked(text string, args wire.Value) []string {
	r := newReader(args)
	toks := tokens(clip(text, MaxText))
	g := compiledSentences()
	met := g.demanded.metBy(toks)
	var out []string
	for n := range g.phrases {
		p := &g.phrases[n]
		if p.needs.within(&met) {
			continue
		}
		for i := range toks {
			if _, ok := r.match(p.items, toks, i); ok {
				out = append(out, p.rule+": "+toks[i].text)
			}
		}
	}
	return out
}

// Demands counts what the phrases demand, and how much of that has room.
func Demands() (all, room int) {
	return len(compiledSentences().demanded.numbers), 64 * len(demandSet{})
}
