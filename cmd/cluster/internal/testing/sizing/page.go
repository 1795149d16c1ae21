package sizing

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// The figures of docs/sizing.md are between these lines.
const (
	figuresBegin = "<!-- figures: written by make sizing -->\n"
	figuresEnd   = "<!-- end of figures -->"
)

// replaceFigures returns the page with the figures of a measurement.
func replaceFigures(page string, m Measured) (string, error) {
	before, rest, found := strings.Cut(page, figuresBegin)
	_, after, ended := strings.Cut(rest, figuresEnd)
	if !found || !ended {
		return "", errors.New("the page has no place for figures")
	}
	text, err := Figures(m)
	if err != nil {
		return "", err
	}
	return before + figuresBegin + text + figuresEnd + after, nil
}

// simulatedBatches are enough for a deviation of about one percent.
const simulatedBatches = 40_000

// Figures returns the tables of the page.
func Figures(m Measured) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nMeasured on %s: %s.\n\n", m.When, m.Machine)
	b.WriteString("| | nodes | measured, entries/s | model | simulation | model differs by |\n|---|---|---|---|---|---|\n")
	stations := map[string]Station{}
	for _, e := range append([]Engine{m.Ledger}, m.Stores...) {
		s, err := Fit(e.Points, e.Batch)
		if err != nil {
			return "", err
		}
		stations[e.Name] = s
		for _, p := range e.Points {
			model := s.Throughput(p.Nodes)
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %+.0f %% |\n", e.Name, p.Nodes, number(p.Rate), number(model),
				number(Simulate(s, p.Nodes, simulatedBatches, 1)), 100*(model-p.Rate)/p.Rate)
		}
	}
	fmt.Fprintf(&b, "\nOne entry is a line of %.0f bytes.\n\n", m.Line)
	b.WriteString("| | bytes of an entry on disk, all copies | sent by the node | preparing a batch | storing it | limit of one store |\n|---|---|---|---|---|---|\n")
	for _, e := range append([]Engine{m.Ledger}, m.Stores...) {
		s := stations[e.Name]
		wire := "none"
		if e.Wire > 0 {
			wire = number(e.Wire)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f ms | %.2f ms | %s entries/s |\n", e.Name, number(e.Disk), wire, 1000*s.Think, 1000*s.Service, number(s.Capacity()))
	}
	for _, e := range m.Stores {
		writePlan(&b, m, e, stations[e.Name])
	}
	for _, e := range m.Stores {
		writeOutage(&b, e, stations[e.Name])
	}
	return b.String(), nil
}

// chainsKept is the number of chains per node in the plans: one per start of a process, one start a day, kept for 30 days.
const chainsKept = 30

func writePlan(b *strings.Builder, m Measured, e Engine, s Station) {
	fmt.Fprintf(b, "\n**%s**, %d %% of the limit used, %d chains per node:\n\n", e.Name, int(headroom*100), chainsKept)
	b.WriteString("| nodes | entries/s of each | entries/s | stores | disk per day | network | memory for chains, per server | a node's disk per hour of outage | backlog stored after |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, nodes := range []int{10, 100, 1000, 10_000, 100_000} {
		for _, rate := range []float64{0.01, 0.1, 1} {
			p := Size(m, e, s, nodes, rate, chainsKept)
			memory := "not measured"
			if e.Subject > 0 {
				memory = size(p.Memory)
			}
			fmt.Fprintf(b, "| %s | %g | %s | %d | %s | %s/s | %s | %s | %s |\n", number(float64(nodes)), rate, number(p.Rate), p.Stores,
				size(p.DiskDay), size(p.Network), memory, size(p.Spool), duration(p.Drain))
		}
	}
}

// writeOutage shows a simulated outage beside the formula, and a load above the limit.
func writeOutage(b *strings.Builder, e Engine, s Station) {
	fmt.Fprintf(b, "\n**%s**, simulated for 15 minutes: 10,000 nodes on one store that cannot be reached for two of them.\n\n", e.Name)
	b.WriteString("| load, share of the limit | stored, entries/s | largest backlog | in the formula | backlog stored after | in the formula | waiting at the end |\n|---|---|---|---|---|---|---|\n")
	for _, share := range []float64{0.3, 0.5, 0.7, 0.9, 1.1} {
		l := Load{Nodes: 10_000, Rate: share * s.Capacity() / 10_000, Seconds: 900, Down: 60, DownFor: 120}
		r := Offer(s, l, 1)
		backlog, drain := Outage(share*s.Capacity(), s.Capacity(), l.DownFor)
		simulated := "not in this time"
		if r.Drained >= 0 {
			simulated = duration(r.Drained)
		}
		fmt.Fprintf(b, "| %.0f %% | %s | %s | %s | %s | %s | %s |\n", 100*share, number(r.Stored), number(float64(r.Backlog)), number(backlog), simulated, duration(drain), number(float64(r.Left)))
	}
	b.WriteString("\n")
}

// number rounds to three digits and separates thousands.
func number(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2g", x)
	}
	scale := math.Pow(10, max(0, math.Floor(math.Log10(x))-2))
	text := fmt.Sprintf("%.0f", math.Round(x/scale)*scale)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func size(x float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB", "TB"} {
		if x < 1000 || unit == "TB" {
			return fmt.Sprintf("%.3g %s", x, unit)
		}
		x /= 1000
	}
	return ""
}

func duration(seconds float64) string {
	switch {
	case math.IsInf(seconds, 1):
		return "never"
	case seconds < 100:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 6000:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}
