package dialect

import "testing"

func TestDottedPathsAndPointersAreOneToOne(t *testing.T) {
	for p, want := range map[string]string{
		"": "", "/a": "a", "/a/0/b": "a.0.b", "/": `[""]`, "//": `[""][""]`, "/a.b/c": `["a.b"].c`, "/x~1y/~0z": "x/y.~z",
		"/~1x": `["/x"]`, `/a/"q"`: `a["\"q\""]`, "/a[0]": `["a[0]"]`, "/日本/x": "日本.x", "/a]/b": `["a]"].b`, `/\/]"[`: `\["]\"["]`,
	} {
		if got := dotted(p); got != want {
			t.Errorf("dotted(%q) = %q, want %q", p, got, want)
		}
		if got := pointerOf(dotted(p)); got != p {
			t.Errorf("%q came back as %q by way of %q", p, got, dotted(p))
		}
	}
	for path, want := range map[string]string{
		"items[0].name": "/items/0/name", "a.b": "/a/b", "/a/b": "/a/b", "a..b": "/a//b", "a.": "/a/", "[": "/[", "a[b": "/a[b",
		"a[x]": "/a[x]", `a["b"]c`: "/a/b/c", "x y": "/x y", `["a"].b`: "/a/b", `a["b"].`: "/a/b/",
	} {
		if got := pointerOf(path); got != want {
			t.Errorf("pointerOf(%q) = %q, want %q", path, got, want)
		}
		if got := pointerOf(dotted(want)); got != want {
			t.Errorf("%q came back as %q", want, got)
		}
	}
}
