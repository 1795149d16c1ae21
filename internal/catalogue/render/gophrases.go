package render

import (
	"bytes"
	"fmt"
	"strings"
)

// goPhrases writes the phrases that package contradiction searches for.
func goPhrases(in Input, out Files) error {
	p := in.Phrases
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage contradiction\n\n", strings.Replace(Header, "catalogue.json", "contradictions.json", 1))
	b.WriteString("// Contract has the phrases of spec/contradictions.json.\nvar Contract = Rules{\n")
	goList(&b, "Negations", p.Negations)
	goList(&b, "ClauseWords", p.ClauseWords)
	goList(&b, "LeadWords", p.LeadWords)
	fmt.Fprintf(&b, "NegationReach: %d,\nAfterReach: %d,\n", p.NegationReach, p.AfterReach)
	for i, name := range []string{"Never", "Immediate", "After"} {
		fmt.Fprintf(&b, "%s: Rule{\n", name)
		goList(&b, "Phrases", p.Rules[i].Phrases)
		goList(&b, "UnlessBefore", p.Rules[i].UnlessBefore)
		goList(&b, "UnlessAfter", p.Rules[i].UnlessAfter)
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	return addGo(out, "internal/catalogue/contradiction/rules_gen.go", b.Bytes())
}

func goList(b *bytes.Buffer, field string, phrases []string) {
	fmt.Fprintf(b, "%s: NewList(\n", field)
	for _, p := range phrases {
		fmt.Fprintf(b, "%q,\n", p)
	}
	b.WriteString("),\n")
}
