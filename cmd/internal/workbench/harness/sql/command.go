package sql

import "strings"

// checkCommand refuses PostgreSQL statements that end the transaction of the call, or that move data outside of its
// result. COPY FROM STDIN would wait for data until the time limit, and COPY TO STDOUT would succeed without rows.
// Checking the first words is enough: PostgreSQL runs neither kind inside another statement, and refuses both in
// functions.
func checkCommand(text string) error {
	first, rest := nextWord(text)
	switch first {
	case "COPY":
		return rejected(rejection{Message: "COPY is not allowed here", Hint: "use SELECT to read rows and INSERT to add them"}, nil)
	case "PREPARE":
		if second, _ := nextWord(rest); second != "TRANSACTION" {
			return nil
		}
	case "ABORT", "BEGIN", "COMMIT", "END", "RELEASE", "ROLLBACK", "SAVEPOINT", "START":
	default:
		return nil
	}
	return rejected(rejection{Message: "transaction control is not allowed here", Hint: "every call has a transaction of its own"}, nil)
}

// nextWord returns the first word of a text in upper case and the text after it. It skips spaces, comments and empty
// statements. The word is empty if the text begins with anything else.
func nextWord(text string) (word, rest string) {
	text = skipBlank(text)
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(text)
	}
	// A letter of another alphabet, a digit or a dollar sign continues a name, which then is not a keyword.
	if next := text[end:]; next != "" && (next[0] >= 0x80 || next[0] == '$' || next[0] >= '0' && next[0] <= '9') {
		return "", text
	}
	return strings.ToUpper(text[:end]), text[end:]
}

// skipBlank removes spaces, comments and semicolons from the beginning of a text.
func skipBlank(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\n\r\f\v;")
		switch {
		case strings.HasPrefix(text, "--"):
			end := strings.IndexAny(text, "\n\r")
			if end < 0 {
				return ""
			}
			text = text[end:]
		case strings.HasPrefix(text, "/*"):
			text = skipComment(text)
		default:
			return text
		}
	}
}

// skipComment removes one comment, which may contain others. An unterminated comment extends to the end of the text.
func skipComment(text string) string {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return text[i+1:]
		}
	}
	return ""
}
