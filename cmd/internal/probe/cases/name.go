package cases

import (
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// words cuts a name into its words: runQuery, run-query and HTTPRun all hold run.
func words(name string) string {
	name = acronyms.ReplaceAllString(name, "${1}_${2}")
	return strings.ToLower(humps.ReplaceAllString(name, "${1}_${2}"))
}

var (
	acronyms = lazyregexp.New(`([A-Z])([A-Z][a-z])`)
	humps    = lazyregexp.New(`([a-z0-9])([A-Z])|[^A-Za-z0-9]+`)
)

// smell are words in a tool's name after which a wrong guess would be expensive.
var smell = lazyregexp.New(`(^|_)(exec|execute|run|shell|bash|sh|powershell|ssh|cmd|command|eval|evaluate|repl|script|terminal|spawn|invoke|launch|kill|sudo|system|` +
	`reboot|restart|shutdown|install|deploy|process|python|code)(_|$)`)

// executes reports a name that says that the tool executes something.
func executes(name string) bool { return smell.MatchString(words(name)) }

var (
	changing = lazyregexp.New(`(^|_)(delete|remove|drop|destroy|purge|wipe|erase|truncate|reset|revoke|terminate|write|overwrite|create|insert|send|publish|` +
		`clear|cancel|stop|disable|archive|merge|update|set|add|post|submit|pay|transfer|flush|logout)(_|$)`)
	reading = lazyregexp.New(`(^|_)(get|list|read|search|find|fetch|show|describe|count|check)(_|$)`)
)

// changes reports a name that says that the tool changes something, as delete_list does and get_delete_marker does not: what comes first is
// what it does.
func changes(name string) bool {
	cut := words(name)
	does, looks := changing.Get().FindStringIndex(cut), reading.Get().FindStringIndex(cut)
	return does != nil && (looks == nil || does[0] < looks[0])
}

var identifying = lazyregexp.New(`(^|_)(id|uuid|guid)$`)

// namesID reports an argument whose name says that it holds an id, as parent_id and parentId do.
func namesID(name string) bool { return identifying.MatchString(words(name)) }
