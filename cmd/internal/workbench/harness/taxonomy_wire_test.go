package harness_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// listedCode is a code in the output of `candor codes --json`.
type listedCode struct {
	Symbol string
	Domain string
	Number int
	RPC    int
	Status string
	Retry  struct {
		Kind    string
		AfterMs int
	}
}

func codesOfBinary(t *testing.T) []listedCode {
	t.Helper()
	out, err := exec.Command(binary, "codes", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var codes []listedCode
	if err := json.Unmarshal(out, &codes); err != nil {
		t.Fatal(err)
	}
	return codes
}

// TestH2PositiveNumbersCarryDomainSymbolAndRetryable makes every method fail, and checks the registry for collisions.
func TestH2PositiveNumbersCarryDomainSymbolAndRetryable(t *testing.T) {
	t.Parallel()
	numbers, identities := map[int]string{}, map[string]bool{}
	for _, c := range codesOfBinary(t) {
		id := c.Domain + "/" + c.Symbol
		if other, taken := numbers[c.Number]; taken || identities[id] || c.Number <= 0 {
			t.Errorf("%d is %s and %s", c.Number, id, other)
		}
		numbers[c.Number], identities[id] = id, true
	}
	h := start(t, setup{env: []string{"MCP_ERROR_METRICS=1"}, flags: []string{"--domain", "all"}})
	for _, method := range h.methods() {
		h.ask(method, `{"no such parameter":1}`).fails(1000, "common/E_INVALID_PARAMS")
	}
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `nonsense`, `{"id":1}`, `[]`, `null`} {
		h.send(line)
		if answer := string(h.line()); !strings.Contains(answer, `"error":{"code":-32`) {
			t.Errorf("%s: a failure of the protocol has a negative number: %s", line, answer)
		}
	}
}

var taxonomyRow = regexp.MustCompile(`(?m)^\| (-?\d+) \| \[([A-Z_0-9]+)\]\(codes/([a-z-]+)/([A-Z_0-9]+)\.md\)( \*\(reserved\)\*)? \| (true|false)(?:, after (\d+) ms)? \|`)

// taxonomyRows returns the rows of docs/taxonomy.md by domain/SYMBOL.
var taxonomyRows = sync.OnceValue(func() map[string][]string {
	page, err := os.ReadFile("../../../../docs/taxonomy.md")
	if err != nil {
		panic(err)
	}
	rows := map[string][]string{}
	for _, row := range taxonomyRow.FindAllStringSubmatch(string(page), -1) {
		rows[row[3]+"/"+row[2]] = row
	}
	return rows
})

// checkListed fails the test if a response, or one of a batch, has an error that docs/taxonomy.md does not list with its number.
func checkListed(t testing.TB, line []byte) {
	t.Helper()
	if !bytes.Contains(line, []byte(`"error"`)) {
		return
	}
	v, err := wire.ParseValue(line, wire.Limits{})
	if err != nil {
		return // other tests check the format
	}
	all := []wire.Value{v}
	if v.Type() == wire.TypeArray {
		all = slices.Collect(v.Elements())
	}
	for _, one := range all {
		domain, ok := one.Path("error", "data", "domain").Str()
		if !ok {
			continue
		}
		symbol, _ := one.Path("error", "data", "symbol").Str()
		number := string(one.Path("error", "code").Raw())
		if row, listed := taxonomyRows()[domain+"/"+symbol]; !listed || row[1] != number {
			t.Errorf("%s %s/%s is not in docs/taxonomy.md", number, domain, symbol)
		}
	}
}

// TestH3TaxonomyPageEqualsTheRegistry compares docs/taxonomy.md with the codes listed by the binary. The tests named
// IsEmitted show that each code is emitted; checkListed, which checks every response of every test, shows that no other
// code is sent.
func TestH3TaxonomyPageEqualsTheRegistry(t *testing.T) {
	t.Parallel()
	rows := maps.Clone(taxonomyRows())
	ranges := map[string]int{
		"common": 1000, "python": 2000, "playwright": 2100, "puppeteer": 2200, "memory-bank": 2300, "kg": 2400, "filesystem": 2500,
		"sql": 2600, "notion": 2700, "tavily": 2800, "misc": 2900, "rate-limit": 3000, "github": 3100,
	}
	for _, c := range codesOfBinary(t) {
		id := c.Domain + "/" + c.Symbol
		row, shown := rows[id]
		from, served := ranges[c.Domain]
		delete(rows, id)
		if served && (c.Number < from || c.Number > from+99) {
			t.Errorf("%s has the number %d, outside of its range", id, c.Number)
		}
		if served && !shown {
			t.Errorf("%s: not on the page", id)
		}
		if !shown {
			continue
		}
		number := c.Number
		if c.RPC != 0 {
			number = c.RPC
		}
		after := ""
		if c.Retry.AfterMs > 0 {
			after = strconv.Itoa(c.Retry.AfterMs)
		}
		if row[1] != strconv.Itoa(number) || row[4] != c.Symbol || (row[5] != "") != (c.Status == "reserved") ||
			(row[6] == "true") != (c.Retry.Kind != "not_retryable") || row[7] != after {
			t.Errorf("%s: the page says %q, the registry %+v", id, row[0], c)
		}
	}
	if len(rows) > 0 {
		t.Errorf("on the page and not in the registry: %v", rows)
	}
}
