package clientconfig

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// cleaner removes secrets. Paths stay: the reader is their owner.
var cleaner = redactjson.Cleaner{Policy: redact.Policy{KeepPaths: true}}

// minOpaque is the length from which a word that looks random counts as a secret.
const minOpaque = 20

// packageWord matches the name of an npm package with a scope, which may have digits and look random.
var packageWord = regexp.MustCompile(`^@[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*(@[a-z0-9.^~*_-]+)?$`)

// CleanLine returns a command line without secrets. A flag such as --token hides the word after it.
func CleanLine(line []string) []string {
	hidden := make([]string, len(line))
	for i := range hidden {
		hidden[i] = redact.Placeholder
	}
	text, err := json.Marshal(line)
	if err != nil {
		return hidden
	}
	v, err := wire.ParseValue(text, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return hidden
	}
	text, _ = cleaner.Append(nil, v)
	var clean []string
	if err := json.Unmarshal(text, &clean); err != nil || len(clean) != len(line) {
		return hidden
	}
	for i, word := range clean {
		if words := strings.Split(word, " "); len(words) > 1 { // the command of a shell
			clean[i] = strings.Join(CleanLine(words), " ")
			continue
		}
		flag := flagHead.FindString(word)
		random := len(word) >= minOpaque && redact.Opaque(word) && !packageWord.MatchString(word)
		if value := word[len(flag):]; random || i > 0 && isPassword(value) {
			clean[i] = flag + redact.Placeholder
		}
	}
	return clean
}

// flagHead matches a flag before its value in the same word, such as -p or --pin=.
var flagHead = regexp.MustCompile(`^(-[A-Za-z]|--?[A-Za-z][\w-]*=)`)

// CleanText returns the name or the URL of a server without secrets.
func CleanText(text string) string {
	if clean := cleaner.Text(text); clean != text {
		return clean
	}
	return CleanLine([]string{"", text})[1]
}

// passwordWord matches words without the separators that paths, packages, versions and names of programs have.
var passwordWord = regexp.MustCompile(`^[A-Za-z0-9!@#$%^&*?+~]{8,}$`)

// isPassword reports whether a word looks like a password that a person has chosen: letters and digits alternate often, as in
// hunter2pw99, or less often with capitals or signs among them, as in Passw0rd!x. An argument has no name that would say what it is.
func isPassword(word string) bool {
	if !passwordWord.MatchString(word) {
		return false
	}
	changes := 0
	for i := 1; i < len(word); i++ {
		if a, b := rune(word[i-1]), rune(word[i]); unicode.IsDigit(a) != unicode.IsDigit(b) {
			changes++
		}
	}
	mixed := word != strings.ToLower(word) && word != strings.ToUpper(word) || strings.ContainsAny(word, "!#$%^&*?+~")
	return changes >= 3 || changes == 2 && mixed
}
