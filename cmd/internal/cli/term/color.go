package term

// Colors adds colour to words for a terminal. The zero paint adds none.
type Colors struct{ On bool }

var ColorWords = []string{"auto", "always", "never"}

func (p Colors) with(code, text string) string {
	if !p.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p Colors) Bold(text string) string  { return p.with("1", text) }
func (p Colors) Faint(text string) string { return p.with("2", text) }
func (p Colors) Bad(text string) string   { return p.with("31", text) }
func (p Colors) Good(text string) string  { return p.with("32", text) }
func (p Colors) Warn(text string) string  { return p.with("33", text) }
func (p Colors) Name(text string) string  { return p.with("36", text) }
