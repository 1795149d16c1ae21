package main

import "strings"

// paint adds colour to words for a terminal. The zero paint adds none.
type paint struct{ on bool }

// paint asks the flag first, then NO_COLOR (https://no-color.org), then whether somebody is watching.
func (w *world) paint() paint {
	switch w.color {
	case "always":
		return paint{on: true}
	case "never":
		return paint{}
	}
	return paint{on: w.terminal && w.getenv("NO_COLOR") == "" && w.getenv("TERM") != "dumb"}
}

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

// pad fills a text up to width with spaces, by its runes: colour codes have no width, so pad first and paint then.
func pad(text string, width int) string {
	if n := width - len([]rune(text)); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}
