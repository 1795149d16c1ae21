// Package codetable lets the generated packages below codes name rows of the catalogue in package candor,
// and nothing else: a Row can only be made inside this module, so a user cannot make up a code.
package codetable

// Row is the position of a code in the generated catalogue. The zero Row is no code.
type Row struct{ n uint16 }

// At returns row n.
func At(n uint16) Row { return Row{n} }

// Index returns the position.
func (r Row) Index() uint16 { return r.n }
