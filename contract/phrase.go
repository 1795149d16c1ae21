package contract

import "github.com/candor-mcp/candor/internal/phrase"

// phrasebook finds phrases in a line.
type phrasebook struct{ phrase.Book }

// at reports whether a phrase begins at word i.
func (b *phrasebook) at(l *line, i int) bool {
	t := l.text()
	return b.At(&t, i)
}

// rankAt returns the lowest rank below the given one of the phrases that begin at word i, see [phrase.Book.RankAt].
func (b *phrasebook) rankAt(l *line, i, below int, skip phrase.Ranks) int {
	t := l.text()
	return b.RankAt(&t, i, below, skip)
}

// begins reports whether the line begins with a phrase.
func (b *phrasebook) begins(l *line) bool { return l.n > 0 && b.at(l, 0) }

// within reports whether a phrase begins among the first words of the line.
func (b *phrasebook) within(l *line, words int) bool {
	t := l.text()
	return b.Within(&t, words)
}
