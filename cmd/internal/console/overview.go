package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/cmd/internal/page"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/ledger"
)

// pageSize is the number of failures of a page of the list.
const pageSize = 50

// overviewView is the data of the list with its charts.
type overviewView struct {
	Filter   url.Values // as in the address, so that a duration stays relative
	Active   []chip
	Clear    string
	More     bool // a filter is set that is not in the first row of the form
	Choices  choices
	Summary  failures.Summary
	Chart    timeChart
	Charts   []countChart
	List     failures.Page
	Newer    string
	Older    string
	First    string // the first page, if this is another one
	LiveAddr string
	Nodes    bool // the record is that of many nodes
	Reading  bool // the ledger is being read for the first time
	JSON     string
}

// chip is a filter that is set, with the address of the list without it.
type chip struct{ Name, Value, Without string }

// choices are the values that the form offers.
type choices struct {
	Since                                [][2]string // value and text
	Classes, Verdicts, Origins, Outcomes []string
	Servers, Tools, Codes, Nodes         []string
}

// filterNames are the parameters of a filter in the order of the form, with their labels.
var filterNames = [][2]string{
	{"q", "text"}, {"server", "server"}, {"tool", "tool"}, {"code", "code"}, {"since", "since"}, {"until", "until"}, {"class", "class"},
	{"verdict", "verdict"}, {"origin", "origin"}, {"outcome", "outcome"}, {"session", "session"}, {"ref", "ref"}, {"node", "node"},
}

// firstRow is the number of filters that the form always shows.
const firstRow = 5

// closedChoices are the values of the closed sets.
var closedChoices = choices{
	Since: [][2]string{{"", "all time"}, {"15m", "last 15 minutes"}, {"1h", "last hour"}, {"24h", "last 24 hours"}, {"7d", "last 7 days"}, {"30d", "last 30 days"}},
	Classes: func() (names []string) {
		for _, c := range catalogue.Classes() {
			names = append(names, c.Name)
		}
		return names
	}(),
	Verdicts: texts(contract.Verdicts()),
	Origins:  texts([]candor.Party{candor.PartyTool, candor.PartyServer, candor.PartyGateway, candor.PartyTransport, candor.PartyClient}),
	Outcomes: texts([]ledger.Outcome{ledger.OutcomeError, ledger.OutcomeSuspected, ledger.OutcomeSuppressed, ledger.OutcomeDenied, ledger.OutcomeUnknown}),
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}

// filterOf returns the filter of an address, and the parameters that belong to it.
func filterOf(r *http.Request) (failures.Filter, url.Values, error) {
	query := r.URL.Query()
	kept := url.Values{}
	for _, name := range filterNames {
		if value := query.Get(name[0]); value != "" {
			kept.Set(name[0], value)
		}
	}
	f, err := failures.ParseFilter(kept)
	if err != nil {
		return f, kept, &problem{Status: http.StatusBadRequest, Title: "The filter in the address is not valid", Detail: err.Error()}
	}
	return f, kept, nil
}

func (*overviewView) title() string { return "Failures" }

func (s *Server) overview(r *http.Request) (*overviewView, error) {
	f, query, err := filterOf(r)
	if err != nil {
		return nil, err
	}
	cursor := r.URL.Query().Get("at")
	v := &overviewView{Filter: query, Choices: closedChoices, Clear: "/", JSON: "/api/v1/failures?" + query.Encode()}
	var counting sync.WaitGroup // a search in the text reads the ledger, so both are done at the same time
	var countErr error
	counting.Go(func() { v.Summary, countErr = s.o.Failures.Summarize(r.Context(), f) })
	v.List, err = s.o.Failures.List(r.Context(), f, cursor, pageSize)
	counting.Wait()
	if err = cmp.Or(err, countErr); err != nil {
		return nil, err
	}
	v.Reading = !s.o.Failures.Progress().Done
	v.chips()
	v.links(cursor)
	v.Chart = newTimeChart(&v.Summary, query)
	v.Charts = []countChart{
		newCountChart("code", "Why: codes", v.Summary.Codes, query),
		newCountChart("server", "Where: servers", v.Summary.Servers, query),
		newCountChart("tool", "Where: tools", v.Summary.Tools, query),
	}
	if s.o.Failures.HasNodes() {
		v.Nodes, v.Choices.Nodes = true, names(v.Summary.Nodes)
		v.Charts = append(v.Charts, newCountChart("node", "Where: nodes", v.Summary.Nodes, query))
	}
	v.Choices.Servers, v.Choices.Tools, v.Choices.Codes = names(v.Summary.Servers), names(v.Summary.Tools), names(v.Summary.Codes)
	return v, nil
}

func (v *overviewView) refreshes() bool { return v.Reading }

// chips describes the filters that are set.
func (v *overviewView) chips() {
	for i, name := range filterNames {
		if value := v.Filter.Get(name[0]); value != "" {
			v.Active = append(v.Active, chip{name[1], value, listPath(with(v.Filter, name[0], ""))})
			v.More = v.More || i >= firstRow && name[0] != "node"
		}
	}
}

// links sets the addresses of the neighbouring pages and of the live feed, which belongs to the first page.
func (v *overviewView) links(cursor string) {
	if v.List.Previous != "" {
		v.Newer = listPath(with(v.Filter, "at", v.List.Previous))
	}
	if v.List.Next != "" {
		v.Older = listPath(with(v.Filter, "at", v.List.Next))
	}
	if cursor != "" {
		v.First = listPath(v.Filter)
	} else {
		v.LiveAddr = "/live?" + v.Filter.Encode()
	}
}

// with returns a copy of a query with one parameter changed, or removed if value is "".
func with(query url.Values, name, value string) url.Values {
	out := url.Values{}
	for key, values := range query {
		out[key] = slices.Clone(values)
	}
	if value == "" {
		out.Del(name)
	} else {
		out.Set(name, value)
	}
	return out
}

func names(counts []failures.Count) (list []string) {
	for _, c := range counts {
		if c.Name != failures.Other && c.Name != failures.None {
			list = append(list, c.Name)
		}
	}
	return list
}

// countChart is a chart of counts by name.
type countChart struct {
	ID, Title string
	Rows      []countRow
	More      int // rows that are not drawn
}

// countRow is a bar with the address of the list of its failures.
type countRow struct {
	page.Bar
	Link   string
	Chosen bool
}

// maxRows is the number of bars of a chart.
const maxRows = 5

func newCountChart(param, title string, counts []failures.Count, query url.Values) countChart {
	chart := countChart{ID: param, Title: title, More: max(0, len(counts)-maxRows)}
	scale := uint64(1)
	for _, c := range counts {
		scale = max(scale, c.Count)
	}
	for _, c := range counts[:min(len(counts), maxRows)] {
		spoken := c.Name + ": " + countWords(c.Count)
		row := countRow{Bar: page.Bar{Label: c.Name, Spoken: spoken}, Chosen: query.Get(param) == c.Name}
		row.Add("b-"+param, spoken, clampInt(c.Count), clampInt(scale))
		if c.Name != failures.Other {
			row.Link = listPath(with(query, param, c.Name))
		}
		chart.Rows = append(chart.Rows, row)
	}
	return chart
}

func clampInt(n uint64) int { return int(min(n, 1<<52)) } //nolint:gosec // in the range of int

func countWords(n uint64) string {
	if n == 1 {
		return "1 failure"
	}
	return numberWords(n) + " failures"
}

// timeChart is the chart of failures over time: a column per bucket, with a part per class.
type timeChart struct {
	Columns []column
	Legend  []legendRow
	Top     uint64 // of the scale
	Step    time.Duration
	Begin   time.Time
	End     time.Time
	Spoken  string
}

type column struct {
	X, Width float64
	Begin    time.Time
	Total    uint64
	Title    string
	Link     string
	Parts    []columnPart
}

type columnPart struct {
	Class     string
	Y, Height float64
}

type legendRow struct {
	Class string
	Total uint64
}

// Sizes of the chart in its own units.
const (
	chartWidth  = 1200.0
	chartHeight = 140.0
	maxLegend   = 6 // classes that have a colour; the others are drawn together
	otherClass  = "other"
)

func newTimeChart(s *failures.Summary, query url.Values) timeChart {
	c := timeChart{Step: s.Step, Begin: s.First, End: s.Last}
	if len(s.Buckets) == 0 {
		return c
	}
	shown := c.legend(s.Classes)
	for _, b := range s.Buckets {
		c.Top = max(c.Top, b.Total)
	}
	c.Top = niceTop(c.Top)
	width := chartWidth / float64(len(s.Buckets))
	for i, b := range s.Buckets {
		end := b.Begin.Add(s.Step)
		col := column{
			X: float64(i) * width, Width: max(width*0.86, 1), Begin: b.Begin, Total: b.Total,
			Title: b.Begin.UTC().Format("2006-01-02 15:04:05") + " UTC, " + durationLength(s.Step) + ": " + countWords(b.Total),
			Link:  listPath(with(with(query, "since", b.Begin.UTC().Format(time.RFC3339)), "until", end.UTC().Format(time.RFC3339))),
		}
		col.stack(b.Classes, shown, c.Top)
		c.Columns = append(c.Columns, col)
	}
	c.Begin, c.End = s.Buckets[0].Begin, s.Buckets[len(s.Buckets)-1].Begin.Add(s.Step)
	c.Spoken = countWords(s.Total) + " from " + s.First.UTC().Format("2006-01-02 15:04:05") + " to " + s.Last.UTC().Format("2006-01-02 15:04:05") + " UTC"
	return c
}

// legend chooses the classes with a colour, the most frequent ones.
func (c *timeChart) legend(counts []failures.Count) (shown []string) {
	rest := uint64(0)
	for i, one := range counts {
		if i < maxLegend && one.Name != failures.Other {
			c.Legend = append(c.Legend, legendRow{one.Name, one.Count})
			shown = append(shown, one.Name)
			continue
		}
		rest += one.Count
	}
	if rest > 0 {
		c.Legend = append(c.Legend, legendRow{otherClass, rest})
	}
	return shown
}

// stack draws the parts of a column from the bottom.
func (col *column) stack(classes map[string]uint64, shown []string, top uint64) {
	y, rest := chartHeight, col.Total
	add := func(class string, n uint64) {
		if n == 0 {
			return
		}
		height := max(float64(n)*chartHeight/float64(max(top, 1)), 1)
		y -= height
		col.Parts = append(col.Parts, columnPart{class, max(y, 0), height})
	}
	for _, class := range shown {
		add(class, classes[class])
		rest -= min(rest, classes[class])
	}
	add(otherClass, rest)
}

// niceTop rounds the top of a scale up to a number with one digit that is not zero.
func niceTop(n uint64) uint64 {
	for step := uint64(1); ; step *= 10 {
		for _, m := range []uint64{1, 2, 3, 4, 5, 6, 8} {
			if step*m >= n || step > 1<<58 {
				return step * m
			}
		}
	}
}

// durationLength returns the length of a bucket in words.
func durationLength(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d >= unit.length && d%unit.length == 0 {
			n := d / unit.length
			if n == 1 {
				return "1 " + unit.name
			}
			return numberWords(int64(n)) + " " + unit.name + "s"
		}
	}
	return cmp.Or(d.String(), "0")
}
