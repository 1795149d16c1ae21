package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
	"github.com/candor-mcp/candor/internal/similar"
)

// maxBytes bounds a file. Its author is trusted, but a faulty script must not crash the gateway.
const maxBytes = 1 << 20

var form = yamlfile.Form{
	MaxBytes: maxBytes, Large: "split it into several gateways, or move rules into profiles", Quoted: "texts with : # [ or {",
}

// reader walks the tree of one file and collects problems.
type reader struct {
	*yamlfile.Report
	getenv func(string) string
	open   func(name string) ([]byte, error) // for files that this one refers to
}

func newReader(file string, data []byte, s Source) *reader {
	return &reader{Report: yamlfile.NewReport(file, data), getenv: s.Getenv, open: s.ReadFile}
}

// document reads the single mapping that a file consists of.
func (r *reader) document(data []byte, of string, keys []key) {
	root, ok := r.parse(data)
	if !ok {
		return
	}
	if root == nil {
		r.Whole(mistake("it begins with version: 1", "the file is empty"))
		return
	}
	mapping(of, func() []key { return keys }).read(r, root)
}

// parse returns the root of the tree, or nil for an empty file. If the file is not YAML, it reports the problem and ok is false.
func (r *reader) parse(data []byte) (root ast.Node, ok bool) {
	defer func() {
		if v := recover(); v != nil { // a file that makes the parser panic is invalid, and must not crash a running gateway
			r.Whole(mistake("simplify it, or write it as JSON", "the file cannot be read as YAML"))
			root, ok = nil, false
		}
	}()
	return r.Parse(data, form)
}

// fail reports a problem with a value.
func (r *reader) fail(n ast.Node, err error) { r.At(n.GetToken(), err) }

// hide reports a problem with a value that may be a secret. The line is not shown.
func (r *reader) hide(n ast.Node, err error) { r.Hide(n.GetToken(), err) }

// resolve returns the value, or nil with a problem for one with an anchor, an alias or a tag.
func (r *reader) resolve(n ast.Node) ast.Node {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		r.fail(n, mistake("write the value out", "anchors and aliases are not supported"))
		return nil
	case *ast.TagNode:
		r.fail(n, mistake("leave it out", "tags are not supported"))
		return nil
	default:
		return n
	}
}

// name returns the text of a key. If the key is not a plain word, it reports the problem and ok is false.
func (r *reader) name(k ast.MapKeyNode) (name string, ok bool) {
	switch k.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode, *ast.NullNode:
		return k.GetToken().Value, true
	case *ast.MergeKeyNode:
		r.fail(k, mistake("write the keys out", "merge keys (<<) are not supported"))
	default:
		r.fail(k, mistake("a key is a plain word", "this cannot be a key"))
	}
	return "", false
}

// describe returns a readable name for the kind of a value.
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	default:
		return "a text"
	}
}

// Problem is one error in a file, with its position and a hint. Place returns "candor.yaml:7:5"; String adds the text, the line
// with a mark below the position, and the hint.
type Problem = yamlfile.Problem

// Error is the error for an invalid file. It lists at most [MaxProblems] problems in the order of the file.
type Error = yamlfile.Error

// MaxProblems bounds the problems of a file that are reported together.
const MaxProblems = yamlfile.MaxProblems

// Mistake is the error for an invalid value without its position, which may be in a file or on a command line. It has a Text and
// a Hint.
type Mistake = yamlfile.Mistake

func mistake(hint, format string, args ...any) *Mistake {
	return yamlfile.NewMistake(hint, format, args...)
}

// unknown returns the mistake for a word that is not in a list.
func unknown(kind, got string, list []string) *Mistake {
	return mistake(nearby(got, list), "unknown %s %s", kind, quote(got))
}

// nearby returns the hint for a word that is not in a list: a similar word, or the list.
func nearby(got string, list []string) string {
	return similar.Hint(got, list, "one of "+strings.Join(list, ", "))
}

// quote returns a word of the file quoted for a message, with bounded length.
func quote(text string) string { return yamlfile.Quote(text) }
