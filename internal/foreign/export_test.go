package foreign

import "github.com/candor-mcp/candor/wire"

// Overlooked returns the phrases that match in a text although their demands are not met. It must return none.
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

// Demands returns the number of demands of the phrases, and the capacity of a demandSet.
func Demands() (all, room int) {
	return len(compiledSentences().demanded.numbers), 64 * len(demandSet{})
}
