package checklist

import (
	"encoding/json"
	"fmt"
	"io"
)

// Report is the rows and their sum.
type Report struct {
	OK      bool            `json:"ok"`
	Counts  map[Verdict]int `json:"counts"`
	Problem string          `json:"problem,omitempty"` // that no row can show
	Rows    []Row           `json:"rows"`
}

// NewReport counts the rows. A problem that no row shows makes the report wrong too.
func NewReport(rows []Row, problem error) Report {
	r := Report{OK: problem == nil, Counts: map[Verdict]int{}, Rows: rows}
	if problem != nil {
		r.Problem = problem.Error()
	}
	for _, row := range rows {
		r.Counts[row.Verdict]++
		r.OK = r.OK && !row.Bad()
	}
	return r
}

// JSON writes the report for programs.
func (r Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Print writes the report as text: each row with its tests below it, and the sum. If brief, only rows that are bad are shown.
func (r Report) Print(w io.Writer, brief bool) {
	group := ""
	for _, row := range r.Rows {
		if brief && !row.Bad() {
			continue
		}
		if row.Group != group {
			group = row.Group
			fmt.Fprintf(w, "\n%s\n", group)
		}
		fmt.Fprintf(w, "  %-4s %s: %s\n", row.ID, row.Verdict, row.Says)
		for _, t := range row.Tests {
			fmt.Fprintf(w, "         %-11s %s %s\n", t.Result, t.Dir, t.Name)
		}
		if row.Verdict == Missing {
			fmt.Fprintf(w, "         none%s\n", in(row.Home))
		}
	}
	fmt.Fprintf(w, "\n%d rows:", len(r.Rows))
	for _, v := range r.order() {
		fmt.Fprintf(w, " %d %s;", r.Counts[v], v)
	}
	if r.Problem != "" {
		fmt.Fprintf(w, " PROBLEM: %s;", r.Problem)
	}
	fmt.Fprintf(w, " %s\n", map[bool]string{true: "ok", false: "NOT OK"}[r.OK])
}

// in names the folder where a test is missing.
func in(home string) string {
	if home == "" {
		return ""
	}
	return " in " + home
}

// order is that of the first row with each verdict.
func (r Report) order() []Verdict {
	var out []Verdict
	seen := map[Verdict]bool{}
	for _, row := range r.Rows {
		if !seen[row.Verdict] {
			out = append(out, row.Verdict)
		}
		seen[row.Verdict] = true
	}
	return out
}
