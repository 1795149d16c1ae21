package redact

import "strings"

const (
	ellipsis = "…"
	// homeMark replaces the name of a user, which is removed even if it is the last element.
	homeMark = "~"
	// pathLimit bounds the length of a quoted path with blanks.
	pathLimit = 512
)

// roots are first elements that are sufficient to recognise an absolute path.
var roots = set("home", "root", "Users", "var", "tmp", "etc", "usr", "opt", "srv", "mnt", "media", "workspace", "workspaces", "app",
	"data", "private", "proc", "sys", "lib", "lib64", "bin", "sbin", "boot", "run", "Applications", "Library", "System", "Volumes",
	"nix", "snap", "builds", "build", "github", "runner", "code", "project", "projects", "repo", "repos", "src", "work", "volume1",
	"storage", "sdcard", "cygdrive", "wsl$", "layers", "function", "site-packages", "node_modules", "dev")

// routeRoots are the first elements of routes, which are not files.
var routeRoots = set("api", "rest", "graphql", "oauth", "oauth2", "auth", ".well-known", "rpc", "mcp", "sse", "messages", "users", "v")

// routeRootsToo are roots that are also common in routes: such a path needs further evidence.
var routeRootsToo = set("app", "data", "media", "run", "code", "project", "projects", "repo", "repos", "work", "storage", "function",
	"build", "builds", "runner", "github", "src", "dev", "System", "Library", "workspace", "workspaces", "layers")

// devices have the same names on all systems.
var devices = set("null", "stdin", "stdout", "stderr", "tty", "zero", "random", "urandom", "shm", "fd")

// fileVerbs are words before a path.
var fileVerbs = set("open", "stat", "lstat", "mkdir", "scandir", "rmdir", "unlink", "rename", "access", "spawn", "exec", "directory",
	"dir", "folder", "file", "cwd", "chdir", "readlink", "realpath", "copyfile", "opendir", "read", "write", "exists", "directories",
	"files", "folders", "workspace", "root", "workdir", "outside", "cd", "module", "script", "executable", "binary", "interpreter")

// methods are words before a route.
var methods = set("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "post", "put", "patch", "delete", "route", "Route",
	"endpoint", "Endpoint", "URL", "url", "HTTP")

// path shortens an absolute path with its first separator at i.
func (x *scanner) path(i int) bool {
	s := x.s
	if x.keepPaths || i < x.noPath || !pathBoundary(s, i) {
		return false
	}
	p := readPath(s, i)
	if !p.absolute(s) {
		x.noPath = p.end
		return false
	}
	x.shorten(i, p)
	return true
}

// shorten cuts all of a path except its last element, which is then scanned like any text: a file name may
// contain a secret.
func (x *scanner) shorten(from int, p pathSpan) {
	if p.user {
		x.cut(from, p.end, ellipsis+"/"+homeMark)
		return
	}
	x.cut(from, p.last, ellipsis+"/")
}

// pathSpan is the result of readPath.
type pathSpan struct {
	start, last, end int // start of the path, start of its last element, end of the path
	count            int // number of elements
	first            string
	user             bool // the last element is the name of a user
}

// pathBoundary reports whether an absolute path may begin at i: not inside a word, a relative
// path, a URL, base64, or the output of this rule.
func pathBoundary(s string, i int) bool {
	if i == 0 {
		return true
	}
	c, start := unitBefore(s, i)
	if c < 0x80 {
		return !(alnum | dash | under | dot | slash).in(c) && strings.IndexByte("~+%*}$)", c) < 0 &&
			(c != ']' || start == 0 || !strings.HasPrefix(s[:i], opening))
	}
	return !strings.HasSuffix(s[:i], ellipsis)
}

// readPath reads the path that begins with the separator at i. All its separators have the form
// of the first: / or \/ or %2F.
func readPath(s string, i int) pathSpan {
	_, n := unitAt(s, i)
	sep := s[i : i+n]
	stop, blanks := pathStop(s, i)
	p := pathSpan{start: i, end: i}
	for j := i; j < stop && strings.HasPrefix(s[j:stop], sep); {
		from := j + n
		j = elementEnd(s, from, stop, blanks, sep)
		p.end = j
		if j == from {
			if j < stop && strings.HasPrefix(s[j:], sep) {
				continue
			}
			break
		}
		p.last = from
		p.count++
		if p.count == 1 {
			p.first = s[from:j]
		}
	}
	p.user = p.count == 2 && (p.first == "home" || p.first == "Users")
	if p.count > 0 {
		p.end = trimDots(s, p.last, elementEnd(s, p.last, stop, blanks, sep))
	}
	return p
}

// pathStop returns the index where a path that begins at i must end, and whether the path may contain
// blanks: it may after a quote that is closed on the same line.
func pathStop(s string, i int) (stop int, blanks bool) {
	if i > 0 && quote.in(s[i-1]) {
		near := s[i:min(len(s), i+pathLimit)]
		end := strings.IndexByte(near, s[i-1])
		if end > 0 && strings.IndexByte(near[:end], '\n') < 0 && !strings.Contains(near[:end], " /") {
			return i + end, true
		}
	}
	return len(s), false
}

// pathEnds has the bytes that end an element of a path.
const pathEnds = "/<>|*?,;()[]{}:\\&!"

// elementEnd returns the end of the element that begins at i.
func elementEnd(s string, i, stop int, blanks bool, sep string) int {
	start := i
	for i < stop {
		c := s[i]
		if c == ' ' && !blanks && (sep == `\` || upper.in(s[start])) && goesOn(s, i, sep) {
			i++
			continue
		}
		if c == '\n' || c == '\t' || c == ' ' && !blanks || quote.in(c) || strings.IndexByte(pathEnds, c) >= 0 {
			break
		}
		if c == '%' && sep[0] == '%' {
			if u, n := unitAt(s, i); n > 1 && !(ident | space).in(u) {
				break
			}
		}
		i++
	}
	return i
}

// goesOn reports whether the blank at i belongs to a path, as in C:\Program Files\x and
// /Users/Ann Lee/x: a capital letter, digit or bracket follows, and a separator ends that word. If
// the separator is a slash, as also in TCP/IP, the element must begin with a capital too.
func goesOn(s string, i int, sep string) bool {
	if i+1 >= len(s) || !(upper|digit).in(s[i+1]) && s[i+1] != '(' {
		return false
	}
	for j := i + 1; j < min(len(s), i+32); j++ {
		switch c := s[j]; {
		case c == '\\':
			return sep[0] == c
		case c == '/':
			return j+1 < len(s) && s[j+1] != '/'
		case !(alnum | dash | under | dot).in(c) && c != '(' && c != ')':
			return false
		}
	}
	return false
}

// absolute reports whether a span is an absolute file path.
func (p pathSpan) absolute(s string) bool {
	if p.count < 2 {
		return false
	}
	before := wordBefore(s, p.start)
	switch {
	case methods[before]:
		return false
	case p.first == "dev" && devices[s[p.last:p.end]]:
		return false
	case roots[p.first] && !routeRootsToo[p.first]:
		return true
	case route(p.first):
		return false
	}
	return fileName(s[p.last:p.end], p.count) || fileVerbs[strings.ToLower(before)] || lineNumber(s, p.end) || roots[p.first] && p.count > 3
}

// route reports whether a first element begins a route: a known one, or a version such as v1.
func route(first string) bool {
	return routeRoots[first] || len(first) > 1 && first[0] == 'v' && digit.run(first, 1, all) == len(first)
}

// fileName reports whether an element ends in an extension: one to five letters and digits, with at least one
// letter. Two elements that end in .js are more often a library, such as /vercel/next.js.
func fileName(e string, count int) bool {
	at := strings.LastIndexByte(e, '.')
	if at < 0 {
		return false
	}
	ext := e[at+1:]
	return (count > 2 || ext != "js") && len(ext) >= 1 && len(ext) <= 5 && alnum.run(ext, 0, all) == len(ext) && digit.run(ext, 0, all) < len(ext)
}

// lineNumber reports whether :12 follows.
func lineNumber(s string, i int) bool {
	return i+1 < len(s) && s[i] == ':' && digit.in(s[i+1])
}

// wordBefore returns the word before a path, skipping a colon or bracket, a quote and a blank.
func wordBefore(s string, i int) string {
	for n := 0; i > 0 && n < 4; n++ {
		c, start := unitBefore(s, i)
		if !quote.in(c) && strings.IndexByte(" :=([,", c) < 0 {
			break
		}
		i = start
	}
	return s[(upper|lower).back(s, i, nameLimit):i]
}
