package redact

import "strings"

// foreignWords are words for a password that are not ASCII. [meaningOf] reads only names of ASCII letters.
var foreignWords = buildForeignWords(
	"contraseña", "hasło", "lösenord", "şifre", "jelszó", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호",
	"mật khẩu", "κωδικός πρόσβασης", "סיסמה", "كلمة المرور", "كلمة السر", "รหัสผ่าน", "पासवर्ड")

// buildForeignWords returns the words in lower case, capitalized, and in upper case.
func buildForeignWords(words ...string) (list []string) {
	for _, w := range words {
		list = append(list, w)
		r := []rune(w)
		if capital := strings.ToUpper(string(r[:1])) + string(r[1:]); capital != w {
			list = append(list, capital, strings.ToUpper(w))
		}
	}
	return list
}

// foreignName returns where a foreign word for a password that ends at i begins, or i.
func foreignName(s string, i int) int {
	const furthest = 8 // bytes from the end of a word to its last letter that is not ASCII
	if asciiRun(s[max(0, i-furthest):i]) == min(i, furthest) {
		return i
	}
	for _, w := range foreignWords {
		if strings.HasSuffix(s[:i], w) {
			return i - len(w)
		}
	}
	return i
}

// fullWidth reports whether there is an East Asian colon or equals sign, ： or ＝, at i.
func fullWidth(s string, i int) bool {
	return strings.HasPrefix(s[i:], "：") || strings.HasPrefix(s[i:], "＝")
}

// foreignPair cuts the value after a foreign word for a password and its separator, which ends at to. The value must be ASCII,
// with or without quotes, because prose in the same language often follows.
func (x *scanner) foreignPair(to int) bool {
	s := x.s
	to = skipBlank(s, to)
	for _, q := range []string{"«", "“", "„", "「", "『"} {
		if strings.HasPrefix(s[to:], q) {
			to += len(q)
		}
	}
	v := valueAt(s, to, valueLimit)
	if !v.quoted {
		v.to = v.from + asciiRun(s[v.from:v.to])
	}
	text := s[v.from:v.to]
	if placeholderStart(s, v.from, v.to) >= 0 {
		x.i = v.to
		return true
	}
	if text == "" || harmless(text) || asciiRun(text) < len(text) || !v.quoted && talk(s, text, v.to) {
		return false
	}
	return x.redactValue(name{}, meaning{kindPassword, strong}, v)
}

// asciiRun returns the length of the ASCII prefix of s.
func asciiRun(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return i
		}
	}
	return len(s)
}
