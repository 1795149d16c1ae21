package cases

import (
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// words splits a name into lower-case words joined by underscores: runQuery, run-query and HTTPRun all contain run.
func words(name string) string {
	name = acronyms.ReplaceAllString(name, "${1}_${2}")
	return strings.ToLower(humps.ReplaceAllString(name, "${1}_${2}"))
}

var (
	acronyms = lazyregexp.New(`([A-Z])([A-Z][a-z])`)
	humps    = lazyregexp.New(`([a-z0-9])([A-Z])|[^A-Za-z0-9]+`)
)

// executing matches words in the name of a tool that executes something.
var executing = lazyregexp.New(`(^|_)(exec|execute|run|shell|bash|sh|powershell|ssh|cmd|command|eval|evaluate|repl|script|terminal|spawn|invoke|launch|kill|sudo|system|` +
	`reboot|restart|shutdown|install|deploy|process|python|code)(_|$)`)

// executes reports whether the name of a tool suggests that it executes something. Such tools are never called by
// default.
func executes(name string) bool { return executing.MatchString(words(name)) }

var (
	changing = lazyregexp.New(`(^|_)(delete|remove|drop|destroy|purge|wipe|erase|truncate|reset|revoke|terminate|write|overwrite|create|insert|send|publish|` +
		`clear|cancel|stop|disable|archive|merge|update|set|add|post|submit|pay|transfer|flush|logout)(_|$)`)
	reading = lazyregexp.New(`(^|_)(get|list|read|search|find|fetch|show|describe|count|check)(_|$)`)
)

// changes reports whether the name of a tool suggests that it changes something, as delete_list does and
// get_delete_marker does not: the first verb counts.
func changes(name string) bool {
	cut := words(name)
	does, looks := changing.Get().FindStringIndex(cut), reading.Get().FindStringIndex(cut)
	return does != nil && (looks == nil || does[0] < looks[0])
}

var identifying = lazyregexp.New(`(^|_)(id|uuid|guid)$`)

// namesID reports whether the name of an argument suggests an id, as parent_id and parentId do.
func namesID(name string) bool { return identifying.MatchString(words(name)) }
