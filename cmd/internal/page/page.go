// Package page has what the HTML pages of the program share: the style, the bars of charts, and text of peers made visible.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

var (
	// CSS is the style that all pages have: colours, type, tables, forms, bars. A page adds its own rules after it.
	//go:embed base.css
	CSS string
	// BarTemplate defines the template "bar", which draws a [Bar].
	//go:embed bar.html
	BarTemplate string
)

// SourceHash returns the hash of an inline script or style as a content security policy names it.
func SourceHash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Bar is one bar of a chart, a thousand units wide.
type Bar struct {
	Label  string
	Class  string
	Total  int
	Spoken string // text for screen readers
	Pieces []Piece
}

// Piece is a part of a bar.
type Piece struct {
	Class, Title string
	X, Width     int
}

const barWidth = 1000

// Add appends a piece of a bar whose full width is scale. Every piece is at least visible.
func (b *Bar) Add(class, title string, n, scale int) {
	if n <= 0 {
		return
	}
	x := 0
	if len(b.Pieces) > 0 {
		last := b.Pieces[len(b.Pieces)-1]
		x = last.X + last.Width
	}
	width := max(int(int64(n)*barWidth/int64(max(scale, 1))), 4)
	b.Pieces = append(b.Pieces, Piece{Class: class, Title: title, X: x, Width: max(min(width, barWidth-x), 0)})
	b.Total += n
}
