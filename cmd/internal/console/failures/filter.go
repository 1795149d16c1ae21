package failures

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/ledgerconfig"
)

// None is the name of failures without a tool, code and so on, in a [Count] and in a [Filter].
const None = "none"

// Other is the name of the last [Count] of a list: the sum of the names that the list does not have.
const Other = "other"

// maxTerm limits each member of a filter that comes from an address.
const maxTerm = 500

// params returns the members of a filter that are plain texts, with their names in an address.
func (f *Filter) params() []param {
	return []param{
		{"node", &f.Node},
		{"server", &f.Server},
		{"tool", &f.Tool},
		{"code", &f.Code},
		{"class", &f.Class},
		{"verdict", &f.Verdict},
		{"origin", &f.Origin},
		{"outcome", &f.Outcome},
		{"session", &f.Session},
		{"ref", &f.Ref},
		{"q", &f.Text},
	}
}

type param struct {
	name  string
	value *string
}

// ParseFilter reads a filter from the query of an address and ignores other parameters. A time is in the format of
// RFC 3339, a day of it, or a duration before now such as 15m, 24h or 7d.
func ParseFilter(values url.Values) (Filter, error) { return parseFilter(values, time.Now()) }

func parseFilter(values url.Values, now time.Time) (Filter, error) {
	var f Filter
	for _, p := range f.params() {
		*p.value = strings.TrimSpace(values.Get(p.name))
		if len(*p.value) > maxTerm {
			return Filter{}, fmt.Errorf("%s: longer than %d bytes; use a shorter one", p.name, maxTerm)
		}
	}
	for name, t := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		text := strings.TrimSpace(values.Get(name))
		if text == "" {
			continue
		}
		var err error
		if *t, err = parseTime(text, now); err != nil {
			return Filter{}, fmt.Errorf("%s %.50q: not a time; use 2006-01-02, 2006-01-02T15:04:05Z, or a duration such as 15m, 24h or 7d", name, text)
		}
	}
	return f, nil
}

func parseTime(text string, now time.Time) (time.Time, error) {
	if age, err := ledgerconfig.ParseAge(text); err == nil {
		return now.Add(-age).UTC(), nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil // in UTC, as all times of the pages
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t.UTC(), err
}

// Values returns the filter as the query of an address. Empty members are left out.
func (f Filter) Values() url.Values { //nolint:gocritic // a value, as the zero Filter selects all
	values := url.Values{}
	for _, p := range f.params() {
		if *p.value != "" {
			values.Set(p.name, *p.value)
		}
	}
	for name, t := range map[string]time.Time{"since": f.Since, "until": f.Until} {
		if !t.IsZero() {
			values.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	return values
}

// Selects reports whether the filter selects a failure.
func (f *Filter) Selects(x *Failure) bool {
	return !x.Time.Before(f.Since) && (f.Until.IsZero() || x.Time.Before(f.Until)) &&
		is(f.Node, x.ID.Node()) && is(f.Server, x.Server) && is(f.Tool, x.Tool) && is(f.Code, x.Code) && is(f.Class, x.Class) && is(f.Verdict, x.Verdict) &&
		is(f.Origin, x.Origin) && is(f.Outcome, string(x.Outcome)) && (f.Session == "" || f.Session == x.Session) &&
		strings.HasPrefix(x.Ref, f.Ref) && (f.Text == "" || hasText(x, strings.ToLower(f.Text)))
}

// is reports whether a name is the wanted one, ignoring case as the commands do.
func is(wanted, name string) bool {
	return wanted == "" || strings.EqualFold(wanted, name) || name == "" && strings.EqualFold(wanted, None)
}

func hasText(x *Failure, lower string) bool {
	for _, s := range []string{x.Message, x.Code, x.Tool, x.Server} {
		if strings.Contains(strings.ToLower(s), lower) {
			return true
		}
	}
	return false
}
