package console

import (
	"net/url"
)

// toolPath returns the page of a tool. Names that a path cannot hold lead to the list.
func toolPath(server, tool string) string {
	if !isSegment(server) || !isSegment(tool) {
		return listPath(url.Values{"server": {server}, "tool": {tool}})
	}
	return "/tool/" + url.PathEscape(server) + "/" + url.PathEscape(tool)
}

func sessionPath(session string) string {
	if !isSegment(session) {
		return listPath(url.Values{"session": {session}})
	}
	return "/session/" + url.PathEscape(session)
}

// isSegment reports whether a name can be a part of a path: browsers remove dots, and empty parts are lost.
func isSegment(name string) bool { return name != "" && name != "." && name != ".." }

func listPath(values url.Values) string {
	if len(values) == 0 {
		return "/"
	}
	return "/?" + values.Encode()
}
