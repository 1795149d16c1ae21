package main

// paint adds colour to words for a terminal. The zero paint adds none.
type paint struct{ on bool }

var colorWords = []string{"auto", "always", "never"}

func (p paint) with(code, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string  { return p.with("1", text) }
func (p paint) faint(text string) string { return p.with("2", text) }
func (p paint) bad(text string) string   { return p.with("31", text) }
func (p paint) good(text string) string  { return p.with("32", text) }
func (p paint) warn(text string) string  { return p.with("33", text) }
func (p paint) name(text string) string  { return p.with("36", text) }
