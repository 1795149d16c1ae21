package render

import (
	"bytes"
	"fmt"
	"strings"
)

// goPhrases writes contradictions_gen.go, the table that contradiction.go searches with.
func goPhrases(in Input, out Files) error {
	p := in.Phrases
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\npackage candor\n\n", strings.Replace(Header, "catalogue.json", "contradictions.json", 1))
	b.WriteString("import \"github.com/candor-mcp/candor/internal/catalogue/contradiction\"\n\n")
	b.WriteString("// contradictions holds the phrases of spec/contradictions.json.\nvar contradictions = contradiction.Rules{\n")
	goList(&b, "Negations", p.Negations)
	goList(&b, "ClauseWords", p.ClauseWords)
	goList(&b, "LeadWords", p.LeadWords)
	fmt.Fprintf(&b, "NegationReach: %d,\nAfterReach: %d,\n", p.NegationReach, p.AfterReach)
	for i, name := range []string{"Never", "Immediate", "After"} {
		fmt.Fprintf(&b, "%s: contradiction.Rule{\n", name)
		goList(&b, "Phrases", p.Rules[i].Phrases)
		goList(&b, "UnlessBefore", p.Rules[i].UnlessBefore)
		goList(&b, "UnlessAfter", p.Rules[i].UnlessAfter)
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	return addGo(out, "contradictions_gen.go", b.Bytes())
}

func goList(b *bytes.Buffer, field string, phrases []string) {
	fmt.Fprintf(b, "%s: contradiction.NewList(\n", field)
	for _, p := range phrases {
		fmt.Fprintf(b, "%q,\n", p)
	}
	b.WriteString("),\n")
}
