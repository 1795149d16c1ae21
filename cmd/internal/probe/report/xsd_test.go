package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// xsd implements the subset of XML Schema that testdata/junit.xsd uses: elements that refer to each other, in sequence,
// and attributes with patterns.
type xsd struct {
	Elements []struct {
		Name    string `xml:"name,attr"`
		Complex struct {
			Mixed    bool `xml:"mixed,attr"`
			Sequence []struct {
				Ref string `xml:"ref,attr"`
				Min int    `xml:"minOccurs,attr"`
				Max string `xml:"maxOccurs,attr"`
			} `xml:"sequence>element"`
			Attributes []struct {
				Name string `xml:"name,attr"`
				Type string `xml:"type,attr"`
				Use  string `xml:"use,attr"`
			} `xml:"attribute"`
		} `xml:"complexType"`
	} `xml:"element"`
	Types []struct {
		Name    string `xml:"name,attr"`
		Pattern struct {
			Value string `xml:"value,attr"`
		} `xml:"restriction>pattern"`
	} `xml:"simpleType"`
}

// node is an element of a document.
type node struct {
	name     string
	attrs    map[string]string
	text     string
	children []*node
}

func readXSD(t *testing.T, path string) *xsd {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out xsd
	if err := xml.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// validate returns an error if a document is invalid or its root does not have that name.
func (x *xsd) validate(document, root string) error {
	n, err := parse(document)
	if err != nil {
		return err
	}
	if n.name != root {
		return fmt.Errorf("the root is %s, not %s", n.name, root)
	}
	return x.check(n)
}

// parse parses a document strictly: one root, and nothing beside it.
func parse(document string) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader([]byte(document)))
	top := &node{}
	stack := []*node{top}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(top.children) != 1 || strings.TrimSpace(top.text) != "" {
				return nil, fmt.Errorf("%d roots, and %q beside them", len(top.children), top.text)
			}
			return top.children[0], nil
		}
		if err != nil {
			return nil, err
		}
		last := stack[len(stack)-1]
		switch v := token.(type) {
		case xml.StartElement:
			n := &node{name: v.Name.Local, attrs: map[string]string{}}
			for _, a := range v.Attr {
				if _, twice := n.attrs[a.Name.Local]; twice {
					return nil, fmt.Errorf("%s has %s twice", n.name, a.Name.Local)
				}
				n.attrs[a.Name.Local] = a.Value
			}
			last.children = append(last.children, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			last.text += string(v)
		}
	}
}

func (x *xsd) check(n *node) error {
	for _, e := range x.Elements {
		if e.Name != n.name {
			continue
		}
		if !e.Complex.Mixed && strings.TrimSpace(n.text) != "" {
			return fmt.Errorf("%s has text: %q", n.name, n.text)
		}
		known := map[string]bool{}
		for _, a := range e.Complex.Attributes {
			known[a.Name] = true
			value, found := n.attrs[a.Name]
			if !found && a.Use == "required" {
				return fmt.Errorf("%s has no %s", n.name, a.Name)
			}
			if found && !x.pattern(a.Type).MatchString(value) {
				return fmt.Errorf("%s %s=%q is no %s", n.name, a.Name, value, a.Type)
			}
		}
		for name := range n.attrs {
			if !known[name] {
				return fmt.Errorf("%s may have no %s", n.name, name)
			}
		}
		rest := n.children
		for _, s := range e.Complex.Sequence {
			count := 0
			for len(rest) > 0 && rest[0].name == s.Ref {
				if err := x.check(rest[0]); err != nil {
					return err
				}
				rest = rest[1:]
				count++
			}
			if most, err := strconv.Atoi(s.Max); count < s.Min || err == nil && count > most {
				return fmt.Errorf("%s has %d %s, not %d to %s", n.name, count, s.Ref, s.Min, s.Max)
			}
		}
		if len(rest) > 0 {
			return fmt.Errorf("%s may have no %s there", n.name, rest[0].name)
		}
		return nil
	}
	return fmt.Errorf("there is no element %s", n.name)
}

func (x *xsd) pattern(name string) *regexp.Regexp {
	for _, t := range x.Types {
		if t.Name == name {
			return regexp.MustCompile("^(?:" + t.Pattern.Value + ")$")
		}
	}
	return regexp.MustCompile("$^") // an unknown type matches nothing
}
